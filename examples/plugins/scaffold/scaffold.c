/*
 * scaffold: an executor that looks at the work packages a mission was cut
 * into. Where the plan cannot be worked on (no packages, a dependency that
 * does not exist, packages that wait for each other) it blocks with reasons;
 * else it succeeds with notes and with a prompt that says in which order the
 * packages can be done and what can be done side by side.
 *
 * The same folder and request give the same answer. A wrong option or a folder
 * that was not granted is no answer at all (exit 1): the step then stays open,
 * and no attempt is used up.
 */
#include "packages.h"

enum { PROMPT_LIMIT = 128 << 10 }; /* bytes */

static const char *const option_names[] = {"folder", "min_packages", "layout", "order_input", NULL};

struct options {
	struct text folder; /* below the mission's folder */
	long min_packages;
	struct text layout;      /* free text for the prompt */
	struct text order_input; /* input key that gets the order; empty: none */
};

static bool text_option(struct json with, const char *name, size_t max, struct text *value, struct buf *why)
{
	struct json v = json_get(with, name);
	struct text t;
	if (!v.p)
		return true;
	if (!json_text(v, &t) || !trim(t).n || t.n > max || utf8_fault(t) < t.n)
		return wrong_option(why, name, "a short text");
	*value = trim(t);
	return true;
}

static bool is_key(struct text t)
{
	for (size_t i = 0; i < t.n; i++)
		if (!is_letter(t.p[i]) && !is_digit(t.p[i]) && t.p[i] != '_')
			return false;
	return true;
}

static struct options read_options(struct json with)
{
	struct options o = {.folder = text_of("tasks"), .min_packages = 1};
	struct buf why = {0};
	bool good = only_options(with, option_names, &why) &&
	            path_option(with, "folder", &o.folder, &why) &&
	            int_option(with, "min_packages", MAX_PACKAGES, &o.min_packages, &why) &&
	            text_option(with, "layout", 200, &o.layout, &why) &&
	            text_option(with, "order_input", 100, &o.order_input, &why);
	if (good && !is_key(o.order_input))
		good = wrong_option(&why, "order_input", "an input key: letters, digits, _");
	if (!good)
		give_up(1, "%.*s", (int)why.n, why.p);
	return o;
}

/* --- reading --------------------------------------------------------------- */

static void load(const struct request *req, const struct options *o, struct packages *all, struct reasons *r)
{
	static char *names[MAX_PACKAGES];
	struct text folder = join(req->folder, o->folder);
	int n = package_names(folder, names);
	if (n < 0)
		give_up(1, "%.*s cannot be read: %s", (int)folder.n, folder.p, strerror(errno));
	if (n == 0 && !can_see(req->folder))
		give_up(1, "%.*s cannot be seen; grant it: read = [\"{mission}\"]", (int)req->folder.n, req->folder.p);
	for (int i = 0; i < n; i++) {
		struct text file, name = text_of(names[i]);
		struct package *p = must_alloc(NULL, 1, sizeof *p);
		memset(p, 0, sizeof *p);
		p->path = shown_path(folder, name);
		int err = read_file(join(folder, name), FILE_LIMIT, &file);
		if (err)
			complain(r, p->path, err == EFBIG ? "the file is larger than 4 MiB" : strerror(err), "make it a plain, readable file");
		else
			read_package(p, file, r);
		all->list[all->n++] = p;
	}
}

static void check_count(const struct packages *all, const struct request *req, const struct options *o, struct reasons *r)
{
	struct buf b = {0};
	if ((long)all->n >= o->min_packages)
		return;
	put_str(&b, "work packages: ");
	put_int(&b, (long)all->n);
	put_str(&b, " found, at least ");
	put_int(&b, o->min_packages);
	put_str(&b, " wanted");
	add_reason(r, b, shown_path(req->folder, o->folder), "write one file WP*.md for each, with work_package_id, title and dependencies");
}

/* --- the answer --------------------------------------------------------------- */

static int last_wave(const struct packages *all)
{
	int last = 0;
	for (size_t i = 0; i < all->n; i++)
		last = all->list[i]->wave > last ? all->list[i]->wave : last;
	return last;
}

static void put_wave(struct buf *b, const struct packages *all, int wave, const char *between)
{
	bool first = true;
	for (size_t i = 0; i < all->n; i++) {
		if (all->list[i]->wave != wave)
			continue;
		put_str(b, first ? "" : between);
		put_text(b, all->list[i]->id);
		first = false;
	}
}

static void put_count(struct buf *b, long n, const char *one)
{
	put_int(b, n);
	put_char(b, ' ');
	put_str(b, one);
	put_str(b, n == 1 ? "" : "s");
}

static void put_summary(struct buf *b, const struct packages *all)
{
	size_t subtasks = 0;
	for (size_t i = 0; i < all->n; i++)
		subtasks += all->list[i]->subtasks;
	put_count(b, (long)all->n, "work package");
	if (subtasks) {
		put_str(b, " with ");
		put_count(b, (long)subtasks, "subtask");
	}
	put_str(b, " in ");
	put_count(b, last_wave(all), "wave");
}

static void write_notes(struct json_out *o, const struct packages *all)
{
	struct buf b = {0};
	json_key(o, text_of("notes"));
	json_open(o, '[');
	put_summary(&b, all);
	json_put_text(o, buf_text(&b));
	for (int wave = 1; wave <= last_wave(all) && wave <= 20; wave++) {
		struct buf line = {0};
		put_str(&line, "wave ");
		put_int(&line, wave);
		put_str(&line, ": ");
		put_wave(&line, all, wave, ", ");
		json_put_text(o, excerpt(buf_text(&line), 400));
	}
	json_close(o, ']');
}

/* The package's lane as the request has it, or nothing. */
static struct text lane_of(const struct request *req, struct text id)
{
	struct json_iter it = json_items(json_get(req->root, "packages"));
	struct json item;
	struct text found, lane = {0};
	while (!it.object && json_next(&it, NULL, &item))
		if (json_text(json_get(item, "id"), &found) && same(found, id))
			json_text(json_get(item, "lane"), &lane);
	return lane;
}

static void put_package(struct buf *b, const struct request *req, const struct package *p)
{
	struct text lane = lane_of(req, p->id);
	put_str(b, "- **");
	put_text(b, p->id);
	put_str(b, "** ");
	put_text(b, excerpt(p->title, 200));
	put_str(b, " (`");
	put_text(b, p->path);
	put_str(b, "`");
	for (size_t i = 0; i < p->needs.n && i < 20; i++) {
		put_str(b, i ? ", " : "; after ");
		put_text(b, p->needs.list[i]);
	}
	if (p->needs.n > 20)
		put_str(b, ", …");
	if (p->subtasks) {
		put_str(b, "; ");
		put_count(b, (long)p->subtasks, "subtask");
	}
	if (lane.n) {
		put_str(b, "; now ");
		put_text(b, lane);
	}
	put_str(b, ")\n");
}

static void put_prompt(struct buf *b, const struct request *req, const struct options *o, const struct packages *all)
{
	put_str(b, "## Work packages\n\n");
	put_summary(b, all);
	put_str(b, ". Packages of one wave do not need each other and can be done side by side;\na wave can start when what its packages need is approved.\n");
	if (o->layout.n) {
		put_str(b, "\nLayout: ");
		put_text(b, o->layout);
		put_str(b, ". Keep every package to it.\n");
	}
	for (int wave = 1; wave <= last_wave(all); wave++) {
		put_str(b, "\n### Wave ");
		put_int(b, wave);
		put_str(b, "\n\n");
		for (size_t i = 0; i < all->n; i++)
			if (all->list[i]->wave == wave)
				put_package(b, req, all->list[i]);
	}
}

static void write_order(struct json_out *o, struct text key, const struct packages *all)
{
	struct buf order = {0};
	for (int wave = 1; wave <= last_wave(all); wave++) {
		put_str(&order, wave > 1 ? " " : "");
		put_wave(&order, all, wave, " ");
	}
	json_key(o, text_of("inputs"));
	json_open(o, '{');
	json_key(o, key);
	json_put_text(o, buf_text(&order));
	json_close(o, '}');
}

static void write_success(struct json_out *out, const struct request *req, const struct options *o, const struct packages *all)
{
	struct buf prompt = {0};
	json_member(out, "outcome", text_of("success"));
	write_notes(out, all);
	if (o->order_input.n)
		write_order(out, o->order_input, all);
	put_prompt(&prompt, req, o, all);
	json_member(out, "prompt", excerpt(buf_text(&prompt), PROMPT_LIMIT));
}

static void execute(const struct request *req, struct json_out *out)
{
	static struct packages all;
	static struct reasons reasons;
	struct options o = read_options(req->with);
	load(req, &o, &all, &reasons);
	check_count(&all, req, &o, &reasons);
	check_packages(&all, &reasons);
	json_open(out, '{');
	if (reasons.n) {
		json_member(out, "outcome", text_of("blocked"));
		write_reasons(out, &reasons);
	} else {
		write_success(out, req, &o, &all);
	}
	json_close(out, '}');
}

int main(int argc, char **argv)
{
	static const struct plugin scaffold = {
		.name = "scaffold",
		.version = "1.0.0",
		.description = "Checks the work packages of a mission and says in which order they can be done",
		.with = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
			"\"folder\":{\"type\":\"string\",\"default\":\"tasks\"},"
			"\"min_packages\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":500,\"default\":1},"
			"\"layout\":{\"type\":\"string\",\"maxLength\":200},"
			"\"order_input\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_]{1,100}$\"}}}",
		.execute = execute,
	};
	return plugin_main(&scaffold, argc, argv);
}
