/*
 * changelog: an executor that writes what a step changed into a changelog. The
 * text is the report's reason; a report without one is asked for it. The new
 * section stands above the older ones, below the file's title.
 *
 * The plugin writes nothing: it returns the whole file as an artifact, which
 * the host puts in its place after the step is committed. What it read is
 * compared then, so that nobody's entry is lost.
 */
#include "../c/plugin.h"

enum { ENTRY_LIMIT = 64 << 10 }; /* bytes */

static const char *const option_names[] = {"file", "title", NULL};

static const char question_key[] = "changelog";

struct options {
	struct text file;  /* below the mission's folder */
	struct text title; /* of the section; empty: the step's */
};

static bool line_option(struct json with, const char *name, struct text *value, struct buf *why)
{
	struct json v = json_get(with, name);
	struct text t;
	if (!v.p)
		return true;
	if (!json_text(v, &t) || !trim(t).n || t.n > 200 || memchr(t.p, '\n', t.n) || utf8_fault(t) < t.n)
		return wrong_option(why, name, "one line of text, at most 200 bytes");
	*value = trim(t);
	return true;
}

static struct options read_options(struct json with)
{
	struct options o = {.file = text_of("CHANGELOG.md")};
	struct buf why = {0};
	if (!only_options(with, option_names, &why) || !path_option(with, "file", &o.file, &why) ||
	    !line_option(with, "title", &o.title, &why))
		give_up(1, "%.*s", (int)why.n, why.p);
	return o;
}

/* Without blanks and empty lines around it. */
static struct text strip(struct text t)
{
	while (t.n && (is_blank(t.p[0]) || t.p[0] == '\n'))
		t = from(t, 1);
	while (t.n && (is_blank(t.p[t.n - 1]) || t.p[t.n - 1] == '\n'))
		t.n--;
	return t;
}

/* What is written of the change: the answer to our question, else the reason. */
static struct text entry(const struct request *req)
{
	struct text t = {0};
	if (!json_text(json_get(json_get(req->root, "answers"), question_key), &t))
		json_text(json_get(req->root, "reason"), &t);
	return strip(excerpt(t, ENTRY_LIMIT));
}

static void ask(struct json_out *out)
{
	json_open(out, '{');
	json_member(out, "outcome", text_of("question"));
	json_key(out, text_of("question"));
	json_open(out, '{');
	json_member(out, "key", text_of(question_key));
	json_member(out, "question", text_of("What changed, for the changelog?"));
	json_close(out, '}');
	json_close(out, '}');
}

/* The date in the request's now, which is RFC 3339. */
static struct text today(const struct request *req)
{
	struct text now = {0};
	if (!json_text(json_get(req->root, "now"), &now) || now.n < 10)
		give_up(2, "the request has no now, a time as in RFC 3339");
	now.n = 10;
	return now;
}

/* Each line of the entry is a point of the list, unless it is one already. */
static void put_section(struct buf *b, const struct request *req, const struct options *o, struct text what)
{
	struct text title = o->title, line;
	if (!title.n)
		json_text(json_get(json_get(req->root, "step"), "title"), &title);
	put_str(b, "## ");
	put_text(b, today(req));
	if (trim(title).n) {
		put_char(b, ' ');
		put_text(b, excerpt(trim(title), 200));
	}
	put_str(b, "\n\n");
	while (next_line(&what, &line)) {
		line = trim(line);
		if (!line.n)
			continue;
		if (!starts(line, "- ") && !starts(line, "* "))
			put_str(b, "- ");
		put_text(b, line);
		put_char(b, '\n');
	}
	put_char(b, '\n');
}

/* Where the newest section goes: before the first heading of level 2, else at
   the end. */
static size_t newest(struct text file)
{
	struct text rest = file, line;
	for (;;) {
		size_t at = file.n - rest.n;
		if (!next_line(&rest, &line))
			return file.n;
		if (starts(line, "## "))
			return at;
	}
}

static struct text read_changelog(const struct request *req, const struct options *o)
{
	struct text file;
	int err = read_file(join(req->folder, o->file), FILE_LIMIT, &file);
	if (err == ENOENT && can_see(req->folder))
		return text_of("# Changelog\n\n");
	if (err == ENOENT)
		give_up(1, "%.*s cannot be seen; grant it: read = [\"{mission}\"]", (int)req->folder.n, req->folder.p);
	if (err)
		give_up(1, "%.*s cannot be read: %s", (int)o->file.n, o->file.p, strerror(err));
	if (utf8_fault(file) < file.n)
		give_up(1, "%.*s is not UTF-8: save it as UTF-8", (int)o->file.n, o->file.p);
	return file;
}

static struct text updated(const struct request *req, const struct options *o, struct text what)
{
	struct buf b = {0};
	struct text file = read_changelog(req, o);
	size_t at = newest(file);
	put(&b, file.p, at);
	if (b.n && b.p[b.n - 1] != '\n')
		put_char(&b, '\n');
	if (b.n > 1 && b.p[b.n - 2] != '\n')
		put_char(&b, '\n');
	put_section(&b, req, o, what);
	put_text(&b, from(file, at));
	if (at == file.n)
		b.n--; /* no empty line at the end */
	return buf_text(&b);
}

static void write_artifact(struct json_out *out, struct text file, struct text content)
{
	struct buf path = {0}, note = {0};
	put_str(&path, "{mission}/");
	put_text(&path, file);
	put_str(&note, "added a section to ");
	put_text(&note, file);
	json_key(out, text_of("notes"));
	json_open(out, '[');
	json_put_text(out, buf_text(&note));
	json_close(out, ']');
	json_key(out, text_of("artifacts"));
	json_open(out, '[');
	json_open(out, '{');
	json_member(out, "path", buf_text(&path));
	json_member(out, "content", content);
	json_close(out, '}');
	json_close(out, ']');
}

static void execute(const struct request *req, struct json_out *out)
{
	struct options o = read_options(req->with);
	struct text what = entry(req);
	if (!what.n) {
		ask(out);
		return;
	}
	struct text content = updated(req, &o, what);
	json_open(out, '{');
	json_member(out, "outcome", text_of("success"));
	write_artifact(out, o.file, content);
	json_close(out, '}');
}

int main(int argc, char **argv)
{
	static const struct plugin changelog = {
		.name = "changelog",
		.version = "1.0.0",
		.description = "Adds a section with the report's reason to a changelog",
		.with = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
			"\"file\":{\"type\":\"string\",\"default\":\"CHANGELOG.md\"},"
			"\"title\":{\"type\":\"string\",\"maxLength\":200}}}",
		.execute = execute,
	};
	return plugin_main(&changelog, argc, argv);
}
