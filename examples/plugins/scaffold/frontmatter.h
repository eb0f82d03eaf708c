/*
 * frontmatter.h: the small part of YAML that the front matter of work packages
 * uses: `key: value` at the left edge, plain and quoted texts, lists in
 * brackets (over several lines too) and lists of dashes, comments. Anything
 * else under a key that is not asked for is passed over; under one that is, it
 * is a fault that names the line.
 */
#ifndef SCAFFOLD_FRONTMATTER_H
#define SCAFFOLD_FRONTMATTER_H

#include "../c/text.h"

enum { MAX_ITEMS = 200 };

struct items {
	struct text list[MAX_ITEMS];
	size_t n;
};

struct frontmatter {
	struct text yaml; /* between the two lines of dashes */
	struct text body; /* below */
};

/* Splits a file; false where it does not begin with a block of front matter. */
static inline bool split_frontmatter(struct text file, struct frontmatter *f)
{
	struct text rest = starts(file, "\xEF\xBB\xBF") ? from(file, 3) : file, line;
	if (!next_line(&rest, &line) || !is(trim(line), "---"))
		return false;
	const char *first = rest.p, *end = rest.p;
	while (next_line(&rest, &line)) {
		if (is(line, "---") || is(trim(line), "---")) {
			*f = (struct frontmatter){{first, (size_t)(end - first)}, rest};
			return true;
		}
		end = rest.p;
	}
	return false;
}

/* A plain or quoted text without its comment. */
static inline struct text scalar(struct text t)
{
	t = trim(t);
	char quote = t.n ? t.p[0] : 0;
	struct buf b = {0};
	if (quote != '"' && quote != '\'') {
		for (size_t i = 0; i < t.n; i++)
			if (t.p[i] == '#' && (i == 0 || is_blank(t.p[i - 1])))
				t.n = i;
		return trim(t);
	}
	for (size_t i = 1; i < t.n; i++) {
		if (quote == '\'' && t.p[i] == '\'' && i + 1 < t.n && t.p[i + 1] == '\'')
			i++;
		else if (quote == '"' && t.p[i] == '\\' && i + 1 < t.n && strchr("\"\\/", t.p[i + 1]))
			i++;
		else if (t.p[i] == quote)
			break;
		put_char(&b, t.p[i]);
	}
	return buf_text(&b);
}

/* Finds `key:` at the left edge; value is the rest of its line, rest what follows. */
static inline bool find_key(struct text yaml, const char *key, struct text *value, struct text *rest)
{
	size_t n = strlen(key);
	struct text line;
	while (next_line(&yaml, &line)) {
		if (!starts(line, key) || line.n <= n || line.p[n] != ':')
			continue;
		if (line.n > n + 1 && !is_blank(line.p[n + 1]))
			continue;
		*value = trim(from(line, n + 1));
		*rest = yaml;
		return true;
	}
	return false;
}

static inline bool add_item(struct items *items, struct text t)
{
	t = scalar(t);
	if (!t.n || items->n == MAX_ITEMS)
		return !t.n;
	items->list[items->n++] = t;
	return true;
}

/* [A, "B"], from behind the bracket; it may go on over the next lines. */
static inline bool bracket_list(struct text first, struct text rest, struct items *items)
{
	struct buf all = {0};
	struct text line = first;
	size_t from_here = 0;
	for (;;) {
		put_text(&all, line);
		if (memchr(line.p, ']', line.n))
			break;
		if (!next_line(&rest, &line))
			return false;
		put_char(&all, ' ');
	}
	for (size_t i = 0; i < all.n; i++) {
		if (all.p[i] != ',' && all.p[i] != ']')
			continue;
		if (!add_item(items, (struct text){all.p + from_here, i - from_here}))
			return false;
		if (all.p[i] == ']')
			return true;
		from_here = i + 1;
	}
	return false;
}

/* Lines of "- ITEM" until a line that is none; comments and blanks between. */
static inline bool dash_list(struct text rest, struct items *items)
{
	struct text line;
	while (next_line(&rest, &line)) {
		struct text t = trim(line);
		if (!t.n || t.p[0] == '#')
			continue;
		if (t.p[0] != '-')
			return is_word(line.p[0]) || line.p[0] == '"' || line.p[0] == '\'';
		if (t.n > 1 && !is_blank(t.p[1]))
			return false;
		if (!add_item(items, from(t, 1)))
			return false;
	}
	return true;
}

/* The text under a key; false where there is none or it is no text. */
static inline bool text_under(struct text yaml, const char *key, struct text *out)
{
	struct text value, rest;
	if (!find_key(yaml, key, &value, &rest))
		return false;
	*out = scalar(value);
	return out->n > 0 && out->n <= 1000 && value.p[0] != '[' && value.p[0] != '{';
}

/*
 * The list under a key; a missing key, nothing, null and the text "[]" are an
 * empty one. False where something else stands there.
 */
static inline bool list_under(struct text yaml, const char *key, struct items *items)
{
	struct text value, rest;
	items->n = 0;
	if (!find_key(yaml, key, &value, &rest))
		return true;
	struct text plain = scalar(value);
	if (!plain.n)
		return dash_list(rest, items);
	if (is(plain, "[]") || is(plain, "null") || is(plain, "~"))
		return true;
	return value.p[0] == '[' && bracket_list(from(value, 1), rest, items);
}

#endif
