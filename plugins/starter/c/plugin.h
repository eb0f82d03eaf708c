/*
 * plugin.h: what every plugin of ABI v1 does before and after its own work.
 *
 * Called as NAME VERB with the request on stdin; puts exactly one JSON value
 * on stdout and exits 0. Whatever keeps it from answering goes to stderr with
 * another exit: 2 for a call it does not understand, 3 for a limit, 1 for a
 * step that is set up wrongly where the verb has no answer for that.
 */
#ifndef SPEC_KITTY_PLUGIN_H
#define SPEC_KITTY_PLUGIN_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json.h"

enum { REQUEST_LIMIT = 8 << 20, FILE_LIMIT = 4 << 20 }; /* bytes */

static const char project[] = "/project/";

/* The parts of a request that more than one plugin looks at. */
struct request {
	struct json root;
	struct json with;   /* step.with, or none */
	struct text folder; /* mission.dir, absolute */
};

struct plugin {
	const char *name, *version, *description;
	const char *with; /* JSON Schema of step.with */
	void (*guard)(const struct request *, struct json_out *);   /* NULL: no such verb */
	void (*execute)(const struct request *, struct json_out *); /* NULL: no such verb */
};

/* --- options (step.with) ---------------------------------------------- */

/* Says in why what is wrong with an option; false. */
static inline bool wrong_option(struct buf *why, const char *name, const char *wants)
{
	put_str(why, "the option \"");
	put_str(why, name);
	put_str(why, "\" in `with` must be ");
	put_str(why, wants);
	return false;
}

/* Refuses options that the plugin does not know: they would have no effect. */
static inline bool only_options(struct json with, const char *const *known, struct buf *why)
{
	struct json_iter it = json_items(with);
	struct text key;
	struct json value;
	while (json_next(&it, &key, &value)) {
		bool found = false;
		for (size_t i = 0; known[i]; i++)
			found = found || is(key, known[i]);
		if (found)
			continue;
		put_str(why, "`with` has no option \"");
		put_text(why, excerpt(key, 60));
		put_str(why, "\"; known:");
		for (size_t i = 0; known[i]; i++) {
			put_str(why, i ? ", " : " ");
			put_str(why, known[i]);
		}
		return false;
	}
	return true;
}

static inline bool int_option(struct json with, const char *name, long max, long *value, struct buf *why)
{
	struct json v = json_get(with, name);
	long n;
	if (!v.p)
		return true;
	if (!json_int(v, &n) || n < 0 || n > max) {
		char wants[64];
		snprintf(wants, sizeof wants, "a whole number from 0 to %ld", max);
		return wrong_option(why, name, wants);
	}
	*value = n;
	return true;
}

/* A relative path that stays where it starts: no empty, "." or ".." element. */
static inline bool inside(struct text path)
{
	if (!path.n || path.n > 500 || memchr(path.p, '\\', path.n) || utf8_fault(path) < path.n)
		return false;
	for (size_t at = 0; at <= path.n;) {
		struct text rest = from(path, at);
		const char *slash = memchr(rest.p, '/', rest.n);
		struct text part = {rest.p, slash ? (size_t)(slash - rest.p) : rest.n};
		if (!part.n || is(part, ".") || is(part, ".."))
			return false;
		at += part.n + 1;
	}
	return true;
}

static inline bool path_option(struct json with, const char *name, struct text *value, struct buf *why)
{
	struct json v = json_get(with, name);
	struct text t;
	if (!v.p)
		return true;
	if (!json_text(v, &t) || !inside(t))
		return wrong_option(why, name, "a relative path inside the mission's folder, without \"..\"");
	*value = t;
	return true;
}

/* --- files -------------------------------------------------------------- */

static inline struct text join(struct text folder, struct text name)
{
	struct buf b = {0};
	put_text(&b, folder);
	if (!folder.n || folder.p[folder.n - 1] != '/')
		put_char(&b, '/');
	put_text(&b, name);
	return buf_text(&b);
}

/* How a reason names a file: relative to the project, where it lies in it. */
static inline struct text shown_path(struct text folder, struct text name)
{
	struct text path = join(folder, name);
	return starts(path, project) ? from(path, sizeof project - 1) : path;
}

static inline int read_fd(int fd, size_t limit, struct buf *b)
{
	char chunk[16384];
	for (;;) {
		ssize_t n = read(fd, chunk, sizeof chunk);
		if (n < 0 && errno != EINTR)
			return errno;
		if (n == 0)
			return 0;
		if (n > 0 && b->n + (size_t)n > limit)
			return EFBIG;
		if (n > 0)
			put(b, chunk, (size_t)n);
	}
}

/* Reads a regular file; 0 or the errno that says why not (EFBIG: too large). */
static inline int read_file(struct text path, size_t limit, struct text *out)
{
	struct stat st;
	struct buf b = {0};
	int fd = open(text_string(path), O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return errno;
	int err = fstat(fd, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : S_ISREG(st.st_mode) ? 0 : ENOTSUP;
	if (!err)
		err = read_fd(fd, limit, &b);
	close(fd);
	*out = buf_text(&b);
	return err;
}

/* Tells whether a folder can be looked into; not so where it was not granted. */
static inline bool can_see(struct text folder)
{
	DIR *d = opendir(text_string(folder));
	if (d)
		closedir(d);
	return d != NULL;
}

/* --- the call ------------------------------------------------------------ */

static inline struct request read_request(void)
{
	struct buf b = {0};
	struct json_fault fault;
	struct request r = {0};
	if (read_fd(STDIN_FILENO, REQUEST_LIMIT, &b))
		give_up(2, "the request on stdin cannot be read, or is larger than %d MiB", REQUEST_LIMIT >> 20);
	r.root = json_check(buf_text(&b), &fault);
	if (fault.why)
		give_up(2, "the request is not JSON: %s (byte %zu)", fault.why, fault.at);
	if (json_kind(r.root) != JSON_OBJECT)
		give_up(2, "the request must be a JSON object");
	struct json abi = json_get(r.root, "abi");
	long version;
	if (abi.p && (!json_int(abi, &version) || version != 1))
		give_up(2, "this plugin speaks abi 1, the request another one");
	if (!json_text(json_get(json_get(r.root, "mission"), "dir"), &r.folder) || !r.folder.n || r.folder.p[0] != '/')
		give_up(2, "the request has no mission.dir, an absolute path");
	r.with = json_get(json_get(r.root, "step"), "with");
	if (r.with.p && json_kind(r.with) != JSON_OBJECT && json_kind(r.with) != JSON_NULL)
		give_up(2, "step.with must be an object");
	return r;
}

static inline void write_answer(struct json_out *o)
{
	put_char(&o->b, '\n');
	if (fwrite(o->b.p, 1, o->b.n, stdout) != o->b.n || fflush(stdout) != 0)
		give_up(3, "the answer could not be written");
}

static inline void describe(const struct plugin *p, struct json_out *o)
{
	json_open(o, '{');
	json_key(o, text_of("abi"));
	json_put_int(o, 1);
	json_member(o, "name", text_of(p->name));
	json_member(o, "version", text_of(p->version));
	json_member(o, "description", text_of(p->description));
	json_key(o, text_of("verbs"));
	json_open(o, '[');
	if (p->guard)
		json_put_str(o, "guard");
	if (p->execute)
		json_put_str(o, "execute");
	json_close(o, ']');
	json_key(o, text_of("with"));
	json_put_raw(o, p->with);
	json_close(o, '}');
}

/* The whole of main. */
static inline int plugin_main(const struct plugin *p, int argc, char **argv)
{
	struct json_out out = {0};
	struct text verb = argc == 2 ? text_of(argv[1]) : (struct text){0};
	void (*work)(const struct request *, struct json_out *) =
		is(verb, "guard") ? p->guard : is(verb, "execute") ? p->execute : NULL;
	if (is(verb, "describe")) {
		describe(p, &out);
	} else if (work) {
		struct request r = read_request();
		work(&r, &out);
	} else {
		give_up(2, "usage: %s describe%s%s < request.json", p->name, p->guard ? "|guard" : "", p->execute ? "|execute" : "");
	}
	write_answer(&out);
	return 0;
}

#endif
