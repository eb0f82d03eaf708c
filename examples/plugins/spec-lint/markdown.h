/*
 * markdown.h: the lines of a Markdown text that a linter may judge, and its
 * headings. Front matter, fenced code and HTML comments are not prose: what
 * stands there is neither a heading nor an unresolved marker.
 */
#ifndef SPEC_LINT_MARKDOWN_H
#define SPEC_LINT_MARKDOWN_H

#include "../c/text.h"

enum { MAX_HEADINGS = 5000 };

struct heading {
	struct text title; /* without marks */
	long line;
	int level;    /* 1 to 6 */
	int parent;   /* index of the heading above it, or -1 */
	bool content; /* some text stands below it, or below one of its own */
};

struct document {
	struct heading *heads;
	int count, room;
	bool too_many;
};

struct reader {
	struct text rest;
	long line;
	char fence; /* ` or ~ inside fenced code, else 0 */
	size_t fence_len;
	bool comment; /* inside <!-- --> */
};

static inline size_t indent_of(struct text line)
{
	size_t n = 0;
	while (n < line.n && line.p[n] == ' ')
		n++;
	return n;
}

/* The run of one character at the start of t. */
static inline size_t run_of(struct text t, char c)
{
	size_t n = 0;
	while (n < t.n && t.p[n] == c)
		n++;
	return n;
}

/* Passes over a block of front matter at the very start. */
static inline void skip_front_matter(struct reader *r)
{
	struct text rest = r->rest, line;
	long lines = 1;
	if (!next_line(&rest, &line) || !is(trim(line), "---"))
		return;
	while (next_line(&rest, &line)) {
		lines++;
		if (is(trim(line), "---")) {
			r->rest = rest;
			r->line = lines;
			return;
		}
	}
}

static inline struct reader read_markdown(struct text t)
{
	struct reader r = {.rest = starts(t, "\xEF\xBB\xBF") ? from(t, 3) : t};
	skip_front_matter(&r);
	return r;
}

/* Opens or closes fenced code; true where the line belongs to some. */
static inline bool in_fence(struct reader *r, struct text line)
{
	struct text t = from(line, indent_of(line));
	char c = t.n ? t.p[0] : 0;
	size_t n = c == '`' || c == '~' ? run_of(t, c) : 0;
	bool marks = n >= 3 && indent_of(line) < 4;
	if (r->fence) {
		if (marks && c == r->fence && n >= r->fence_len && !trim(from(t, n)).n)
			r->fence = 0;
		return true;
	}
	if (!marks || (c == '`' && memchr(t.p + n, '`', t.n - n)))
		return false;
	r->fence = c;
	r->fence_len = n;
	return true;
}

static inline bool find(struct text t, const char *what, size_t *at)
{
	for (size_t i = 0; i < t.n; i++)
		if (starts(from(t, i), what)) {
			*at = i;
			return true;
		}
	return false;
}

/* The line without what HTML comments hide. */
static inline struct text uncomment(struct reader *r, struct text line)
{
	struct buf seen = {0};
	size_t at;
	if (!r->comment && !find(line, "<!--", &at))
		return line;
	while (line.n) {
		bool found = find(line, r->comment ? "-->" : "<!--", &at);
		if (!r->comment)
			put(&seen, line.p, found ? at : line.n);
		if (!found)
			break;
		line = from(line, at + (r->comment ? 3 : 4));
		r->comment = !r->comment;
	}
	return buf_text(&seen);
}

/*
 * The next line; hidden says that it is code, which is content but nothing to
 * judge. What a comment hides is cut out. False at the end.
 */
static inline bool next_prose(struct reader *r, struct text *line, bool *hidden)
{
	if (!next_line(&r->rest, line))
		return false;
	r->line++;
	*hidden = !r->comment && in_fence(r, *line);
	if (!*hidden)
		*line = uncomment(r, *line);
	return true;
}

/* Strips the marks around a title: emphasis, code, a closing run of #. */
static inline struct text plain_title(struct text t)
{
	t = trim(t);
	size_t closing = 0;
	while (closing < t.n && t.p[t.n - 1 - closing] == '#')
		closing++;
	if (closing == t.n || (closing && is_blank(t.p[t.n - 1 - closing])))
		t.n -= closing;
	t = trim(t);
	while (t.n && strchr("*_`", t.p[0]))
		t = from(t, 1);
	return trim(t);
}

/* An ATX heading (# to ######); the level, or 0. */
static inline int heading_level(struct text line, struct text *title)
{
	if (indent_of(line) > 3)
		return 0;
	struct text t = from(line, indent_of(line));
	size_t n = run_of(t, '#');
	if (n < 1 || n > 6 || (n < t.n && !is_blank(t.p[n])))
		return 0;
	*title = plain_title(from(t, n));
	return (int)n;
}

/* An underline that makes the line before it a heading; the level, or 0. */
static inline int underline_level(struct text line)
{
	struct text t = trim(line);
	char c = t.n ? t.p[0] : 0;
	if (indent_of(line) > 3 || (c != '=' && c != '-') || run_of(t, c) != t.n)
		return 0;
	return c == '=' ? 1 : 2;
}

static inline void add_heading(struct document *d, int level, struct text title, long line)
{
	if (d->count == MAX_HEADINGS) {
		d->too_many = true;
		return;
	}
	if (d->count == d->room) {
		d->room = d->room * 2 + 32;
		d->heads = must_alloc(d->heads, (size_t)d->room, sizeof *d->heads);
	}
	int parent = d->count - 1;
	while (parent >= 0 && d->heads[parent].level >= level)
		parent = d->heads[parent].parent;
	d->heads[d->count++] = (struct heading){title, line, level, parent, false};
}

/* Notes that text stands below the last heading, and so below those above it. */
static inline void add_content(struct document *d)
{
	for (int i = d->count - 1; i >= 0 && !d->heads[i].content; i = d->heads[i].parent)
		d->heads[i].content = true;
}

#endif
