/*
 * spec-lint: a guard that reads a specification in Markdown and refuses it
 * while something is missing or left open. It looks at one file and at nothing
 * else, and says for each fault where it is and what to do.
 *
 * It answers "error" where it cannot judge: an option that is wrong or
 * unknown, a folder that was not granted, a file that cannot be read.
 */
#include "../c/plugin.h"
#include "../c/reasons.h"
#include "markdown.h"

enum { MAX_NAMES = 32, MAX_STORIES = 1000 };

static const char *const option_names[] = {"file", "min_stories", "sections", "markers", NULL};

struct names {
	struct text list[MAX_NAMES];
	size_t n;
};

struct options {
	struct text file;      /* below the mission's folder */
	long min_stories;      /* 0: none are wanted */
	struct names sections; /* "A|B": either name will do */
	struct names markers;
};

struct lint {
	const struct options *opt;
	struct text path; /* as reasons name the file */
	struct document doc;
	struct reasons reasons;
	long stories;
	int story_head; /* heading of the story being read, or -1 */
};

/* --- options ------------------------------------------------------------- */

static void name_all(struct names *names, const char *const *list)
{
	for (names->n = 0; list[names->n]; names->n++)
		names->list[names->n] = text_of(list[names->n]);
}

static bool names_option(struct json with, const char *name, struct names *names, struct buf *why)
{
	struct json v = json_get(with, name), item;
	struct json_iter it = json_items(v);
	if (!v.p)
		return true;
	if (json_kind(v) != JSON_ARRAY)
		return wrong_option(why, name, "a list of texts");
	names->n = 0;
	while (json_next(&it, NULL, &item)) {
		struct text t;
		if (!json_text(item, &t) || !trim(t).n || utf8_fault(t) < t.n || names->n == MAX_NAMES)
			return wrong_option(why, name, "a list of at most 32 texts, none of them empty");
		names->list[names->n++] = trim(t);
	}
	return true;
}

static bool read_options(struct json with, struct options *o, struct buf *why)
{
	static const char *const sections[] = {"User scenarios|User stories", "Requirements", "Success criteria", NULL};
	static const char *const markers[] = {"TBD", "TODO", "FIXME", "NEEDS CLARIFICATION", NULL};
	*o = (struct options){.file = text_of("spec.md"), .min_stories = 1};
	name_all(&o->sections, sections);
	name_all(&o->markers, markers);
	return only_options(with, option_names, why) &&
	       path_option(with, "file", &o->file, why) &&
	       int_option(with, "min_stories", MAX_STORIES, &o->min_stories, why) &&
	       names_option(with, "sections", &o->sections, why) &&
	       names_option(with, "markers", &o->markers, why);
}

/* --- comparing ----------------------------------------------------------- */

/* Whether t begins with the word or words of name, in any letter case. */
static bool begins_with(struct text t, struct text name)
{
	if (t.n < name.n)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (lower(t.p[i]) != lower(name.p[i]))
			return false;
	return t.n == name.n || !is_word(t.p[name.n]) || !is_word(t.p[name.n - 1]);
}

static bool begins(struct text t, const char *name) { return begins_with(t, text_of(name)); }

/* "2. Requirements" and "2.1 Requirements" are found under "Requirements". */
static struct text without_number(struct text t)
{
	size_t n = 0;
	while (n < t.n && (is_digit(t.p[n]) || t.p[n] == '.' || t.p[n] == ')'))
		n++;
	return n && n < t.n && is_digit(t.p[0]) && is_blank(t.p[n]) ? trim(from(t, n)) : t;
}

static bool matches(struct text title, struct text wanted)
{
	title = without_number(title);
	while (wanted.n) {
		const char *bar = memchr(wanted.p, '|', wanted.n);
		struct text one = {wanted.p, bar ? (size_t)(bar - wanted.p) : wanted.n};
		if (trim(one).n && begins_with(title, trim(one)))
			return true;
		wanted = from(wanted, bar ? one.n + 1 : one.n);
	}
	return false;
}

/* --- stories --------------------------------------------------------------- */

static bool is_story_heading(struct text title)
{
	title = without_number(title);
	bool us = title.n > 3 && lower(title.p[0]) == 'u' && lower(title.p[1]) == 's';
	if (us && (is_digit(title.p[2]) || (!is_word(title.p[2]) && is_digit(title.p[3]))))
		return true;
	return begins(title, "User story") || begins(title, "Story");
}

/* "- As a reader, I want …", with or without a list mark and emphasis. */
static bool is_story_line(struct text line)
{
	struct text t = without_number(trim(line));
	while (t.n && strchr("-*+_> \t", t.p[0]))
		t = from(t, 1);
	size_t at;
	if (!begins(t, "As a") && !begins(t, "As an") && !begins(t, "As the"))
		return false;
	return find(t, "I want", &at) || find(t, "I need", &at) || find(t, "I can", &at);
}

static bool below(const struct document *d, int head)
{
	for (int i = d->count - 1; i >= 0; i = d->heads[i].parent)
		if (i == head)
			return true;
	return false;
}

/* A story's own "As a …" is not a second one: below its heading none is counted. */
static void count_story(struct lint *l, struct text line)
{
	if (l->story_head >= 0 && below(&l->doc, l->story_head))
		return;
	if (is_story_line(line))
		l->stories++;
}

/* --- markers ---------------------------------------------------------------- */

static bool has_word(struct text line, struct text word)
{
	for (size_t i = 0; i + word.n <= line.n; i++) {
		if (line.p[i] == '`') { /* a code span is a quotation */
			const char *close = memchr(line.p + i + 1, '`', line.n - i - 1);
			if (close) {
				i = (size_t)(close - line.p);
				continue;
			}
		}
		if (memcmp(line.p + i, word.p, word.n) != 0)
			continue;
		bool starts_word = i == 0 || !is_word(line.p[i - 1]) || !is_word(word.p[0]);
		bool ends_word = i + word.n == line.n || !is_word(line.p[i + word.n]) || !is_word(word.p[word.n - 1]);
		if (starts_word && ends_word)
			return true;
	}
	return false;
}

static void check_markers(struct lint *l, struct text line, long number)
{
	for (size_t i = 0; i < l->opt->markers.n; i++) {
		if (!has_word(line, l->opt->markers.list[i]))
			continue;
		struct buf b = at_line(number);
		put_text(&b, l->opt->markers.list[i]);
		put_str(&b, " is left open: ");
		put_quoted(&b, line);
		add_reason(&l->reasons, b, l->path, "decide it, or ask, and write the outcome in its place");
		return;
	}
}

/* --- headings ----------------------------------------------------------------- */

static void open_heading(struct lint *l, int level, struct text title, long line)
{
	add_heading(&l->doc, level, title, line);
	if (l->story_head >= 0 && !below(&l->doc, l->story_head))
		l->story_head = -1;
	if (level > 1 && l->story_head < 0 && is_story_heading(title)) {
		l->stories++;
		l->story_head = l->doc.count - 1;
	}
}

static void fault(struct lint *l, const struct heading *h, const char *what, const char *fix)
{
	struct buf b = at_line(h->line);
	put_str(&b, "the heading ");
	put_quoted(&b, h->title);
	put_char(&b, ' ');
	put_str(&b, what);
	add_reason(&l->reasons, b, l->path, fix);
}

static bool repeats(const struct document *d, int at)
{
	for (int i = 0; i < at; i++)
		if (d->heads[i].level == 2 && begins_with(d->heads[i].title, d->heads[at].title) && d->heads[i].title.n == d->heads[at].title.n)
			return true;
	return false;
}

static void check_headings(struct lint *l)
{
	const struct document *d = &l->doc;
	int titles = 0;
	for (int i = 0; i < d->count; i++) {
		const struct heading *h = &d->heads[i];
		titles += h->level == 1;
		if (!h->title.n)
			fault(l, h, "is empty", "give it a name or take it out");
		else if (h->level == 1 && titles > 1)
			fault(l, h, "is a second title", "make it a section (##)");
		else if (i > 0 && h->level > d->heads[i - 1].level + 1)
			fault(l, h, "skips a level", "use one # more than the heading above it");
		else if (h->level == 2 && repeats(d, i))
			fault(l, h, "stands here a second time", "join the two sections");
	}
	if (!titles) {
		struct buf b = {0};
		put_str(&b, "there is no title");
		add_reason(&l->reasons, b, l->path, "begin the file with `# ` and the name of the feature");
	}
}

static void missing_section(struct lint *l, struct text wanted)
{
	struct buf b = {0}, fix = {0};
	put_str(&b, "the section ");
	for (size_t i = 0; i < wanted.n; i++) {
		char c = wanted.p[i];
		put(&b, c == '|' ? " or " : &c, c == '|' ? 4 : 1);
	}
	put_str(&b, " is missing");
	const char *bar = memchr(wanted.p, '|', wanted.n);
	put_str(&fix, "add `## ");
	put(&fix, wanted.p, bar ? (size_t)(bar - wanted.p) : wanted.n);
	put_str(&fix, "` and write it");
	put_char(&fix, 0);
	add_reason(&l->reasons, b, l->path, fix.p);
}

static void check_sections(struct lint *l)
{
	for (size_t s = 0; s < l->opt->sections.n; s++) {
		const struct heading *found = NULL;
		for (int i = 0; i < l->doc.count && !(found && found->content); i++)
			if (l->doc.heads[i].level > 1 && matches(l->doc.heads[i].title, l->opt->sections.list[s]))
				found = &l->doc.heads[i];
		if (!found)
			missing_section(l, l->opt->sections.list[s]);
		else if (!found->content)
			fault(l, found, "has nothing below it", "write the section");
	}
}

static void check_stories(struct lint *l)
{
	if (l->stories >= l->opt->min_stories)
		return;
	struct buf b = {0};
	put_str(&b, "user stories: ");
	put_int(&b, l->stories);
	put_str(&b, " found, at least ");
	put_int(&b, l->opt->min_stories);
	put_str(&b, " wanted");
	add_reason(&l->reasons, b, l->path, "add a heading `### User story N: …` or a line `As a …, I want …` for each");
}

/* --- the file ------------------------------------------------------------------- */

/* Whether a line under this one could make it a heading: a plain paragraph. */
static bool may_be_title(struct text line)
{
	struct text t = trim(line);
	return t.n && indent_of(line) < 4 && !strchr("-*+>|", t.p[0]);
}

/*
 * A line counts as content only when the next one was seen, for an underline
 * makes it a heading after all.
 */
static void read_lines(struct lint *l, struct text content)
{
	struct reader r = read_markdown(content);
	struct text line, title, before = {0};
	bool hidden;
	while (next_prose(&r, &line, &hidden)) {
		int level = hidden ? 0 : heading_level(line, &title);
		int under = hidden || !may_be_title(before) ? 0 : underline_level(line);
		if (under)
			open_heading(l, under, plain_title(before), r.line - 1);
		else if (trim(before).n)
			add_content(&l->doc);
		if (level)
			open_heading(l, level, title, r.line);
		if (hidden)
			add_content(&l->doc);
		before = hidden || level || under ? (struct text){0} : line;
		if (hidden)
			continue;
		check_markers(l, line, r.line);
		count_story(l, line);
	}
	if (trim(before).n)
		add_content(&l->doc);
}

static void check_file(struct lint *l, struct text content)
{
	size_t bad = utf8_fault(content);
	struct buf b = {0};
	if (bad < content.n) {
		put_str(&b, "the file is not UTF-8 text (byte ");
		put_int(&b, (long)bad);
		put_char(&b, ')');
		add_reason(&l->reasons, b, l->path, "save it as UTF-8");
		return;
	}
	read_lines(l, content);
	check_headings(l);
	check_sections(l);
	check_stories(l);
}

/* --- answers ---------------------------------------------------------------------- */

static void answer_error(struct json_out *o, struct text message)
{
	json_open(o, '{');
	json_member(o, "verdict", text_of("error"));
	json_member(o, "message", message);
	json_close(o, '}');
}

static void answer_unreadable(struct json_out *o, struct text path, const char *why)
{
	struct buf b = {0};
	put_str(&b, "cannot judge ");
	put_text(&b, path);
	put_str(&b, ": ");
	put_str(&b, why);
	answer_error(o, buf_text(&b));
}

static void answer_verdict(struct json_out *o, const struct reasons *r)
{
	json_open(o, '{');
	json_member(o, "verdict", text_of(r->n ? "refuse" : "allow"));
	if (r->n)
		write_reasons(o, r);
	json_close(o, '}');
}

static void guard(const struct request *req, struct json_out *o)
{
	struct buf why = {0};
	struct options opt;
	struct text content;
	static struct lint l;
	if (!read_options(req->with, &opt, &why)) {
		answer_error(o, buf_text(&why));
		return;
	}
	l = (struct lint){.opt = &opt, .path = shown_path(req->folder, opt.file), .story_head = -1};
	struct text path = join(req->folder, opt.file);
	int err = read_file(path, FILE_LIMIT, &content);
	if (err == ENOENT && can_see(req->folder)) {
		struct buf b = {0};
		put_str(&b, "the specification is missing");
		add_reason(&l.reasons, b, l.path, "write it");
	} else if (err == ENOENT) {
		answer_unreadable(o, req->folder, "the folder cannot be seen; grant it: read = [\"{mission}\"]");
		return;
	} else if (err) {
		answer_unreadable(o, path, err == EFBIG ? "the file is larger than 4 MiB" : err == EISDIR ? "it is a folder" : strerror(err));
		return;
	} else {
		check_file(&l, content);
	}
	if (l.doc.too_many) {
		answer_unreadable(o, path, "it has more than 5000 headings");
		return;
	}
	answer_verdict(o, &l.reasons);
}

int main(int argc, char **argv)
{
	static const struct plugin spec_lint = {
		.name = "spec-lint",
		.version = "1.0.0",
		.description = "Refuses a specification in Markdown while a section, a story or a decision is missing",
		.with = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
			"\"file\":{\"type\":\"string\",\"default\":\"spec.md\"},"
			"\"min_stories\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":1000,\"default\":1},"
			"\"sections\":{\"type\":\"array\",\"maxItems\":32,\"items\":{\"type\":\"string\",\"minLength\":1},"
			"\"default\":[\"User scenarios|User stories\",\"Requirements\",\"Success criteria\"]},"
			"\"markers\":{\"type\":\"array\",\"maxItems\":32,\"items\":{\"type\":\"string\",\"minLength\":1},"
			"\"default\":[\"TBD\",\"TODO\",\"FIXME\",\"NEEDS CLARIFICATION\"]}}}",
		.guard = guard,
	};
	return plugin_main(&spec_lint, argc, argv);
}
