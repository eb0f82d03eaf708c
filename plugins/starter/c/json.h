/*
 * json.h: a JSON reader and writer for plugins.
 *
 * The reader checks a whole document once (RFC 8259, UTF-8, at most
 * JSON_DEPTH levels, nothing after the value) and builds no tree: a value is
 * the place of its first byte, and looking something up skips over the rest.
 * So a document costs no memory beyond its own bytes, however it is nested.
 * Of two members with one key the first counts. A lone surrogate escape reads
 * as U+FFFD, as in Go.
 *
 * The writer puts commas and escapes; text that is not UTF-8 is written with
 * U+FFFD in place of each bad byte, so an answer is always valid JSON.
 */
#ifndef SPEC_KITTY_JSON_H
#define SPEC_KITTY_JSON_H

#include <limits.h>

#include "text.h"

enum { JSON_DEPTH = 64 };

enum json_kind { JSON_NONE, JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* A value in a checked document; p is NULL where there is none. */
struct json {
	const char *p, *end; /* end of the document, not of the value */
};

struct json_fault {
	const char *why; /* NULL: none */
	size_t at;       /* byte offset */
};

/* --- checking ------------------------------------------------------- */

struct json_checker {
	const char *p, *end;
	const char *why;
};

static inline bool json_bad(struct json_checker *c, const char *why)
{
	if (!c->why)
		c->why = why;
	return false;
}

static inline void json_space(struct json_checker *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
		c->p++;
}

static inline int json_hex(const char *p, const char *end)
{
	int v = 0;
	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = lower(p[i]);
		if (is_digit(c))
			v = v * 16 + (c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v * 16 + (c - 'a' + 10);
		else
			return -1;
	}
	return v;
}

static inline bool json_check_escape(struct json_checker *c)
{
	if (c->p == c->end)
		return json_bad(c, "a string has no end");
	char e = *c->p;
	if (e == 'u') {
		if (json_hex(c->p + 1, c->end) < 0)
			return json_bad(c, "\\u wants four hexadecimal digits");
		c->p += 5;
		return true;
	}
	if (!e || !strchr("\"\\/bfnrt", e))
		return json_bad(c, "an unknown escape in a string");
	c->p++;
	return true;
}

static inline bool json_check_string(struct json_checker *c)
{
	if (c->p == c->end || *c->p != '"')
		return json_bad(c, "a string was expected");
	c->p++;
	while (c->p < c->end) {
		unsigned char b = (unsigned char)*c->p;
		if (b == '"') {
			c->p++;
			return true;
		}
		if (b < 0x20)
			return json_bad(c, "a control character in a string must be escaped");
		if (b == '\\') {
			c->p++;
			if (!json_check_escape(c))
				return false;
			continue;
		}
		size_t n = utf8_len(c->p, (size_t)(c->end - c->p));
		if (!n)
			return json_bad(c, "a string is not UTF-8");
		c->p += n;
	}
	return json_bad(c, "a string has no end");
}

static inline bool json_digits(struct json_checker *c)
{
	const char *first = c->p;
	while (c->p < c->end && is_digit(*c->p))
		c->p++;
	return c->p > first || json_bad(c, "a digit was expected");
}

static inline bool json_check_number(struct json_checker *c)
{
	if (*c->p == '-')
		c->p++;
	if (c->p < c->end && *c->p == '0')
		c->p++;
	else if (!json_digits(c))
		return false;
	if (c->p < c->end && *c->p == '.') {
		c->p++;
		if (!json_digits(c))
			return false;
	}
	if (c->p < c->end && lower(*c->p) == 'e') {
		c->p++;
		if (c->p < c->end && (*c->p == '+' || *c->p == '-'))
			c->p++;
		return json_digits(c);
	}
	return true;
}

static inline bool json_check_word(struct json_checker *c, const char *word)
{
	size_t n = strlen(word);
	if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
		return json_bad(c, "a value was expected");
	c->p += n;
	return true;
}

static inline bool json_check_value(struct json_checker *c, int depth);

static inline bool json_check_member(struct json_checker *c, int depth)
{
	json_space(c);
	if (!json_check_string(c))
		return false;
	json_space(c);
	if (c->p == c->end || *c->p != ':')
		return json_bad(c, "a colon was expected");
	c->p++;
	return json_check_value(c, depth);
}

/* The inside of an array or object, from behind its opening bracket. */
static inline bool json_check_items(struct json_checker *c, int depth, char close)
{
	json_space(c);
	if (c->p < c->end && *c->p == close) {
		c->p++;
		return true;
	}
	for (;;) {
		if (!(close == '}' ? json_check_member(c, depth) : json_check_value(c, depth)))
			return false;
		json_space(c);
		if (c->p == c->end)
			return json_bad(c, "the document is cut off");
		char b = *c->p;
		if (b != ',' && b != close)
			return json_bad(c, "a comma or a closing bracket was expected");
		c->p++;
		if (b == close)
			return true;
	}
}

static inline bool json_check_value(struct json_checker *c, int depth)
{
	json_space(c);
	if (c->p == c->end)
		return json_bad(c, "the document is cut off");
	char b = *c->p;
	if (b == '[' || b == '{') {
		if (depth == JSON_DEPTH)
			return json_bad(c, "nested too deeply");
		c->p++;
		return json_check_items(c, depth + 1, b == '[' ? ']' : '}');
	}
	if (b == '"')
		return json_check_string(c);
	if (b == '-' || is_digit(b))
		return json_check_number(c);
	return json_check_word(c, b == 't' ? "true" : b == 'f' ? "false" : "null");
}

/* Checks a document and gives its value; on a fault, fault says what and where. */
static inline struct json json_check(struct text t, struct json_fault *fault)
{
	struct json_checker c = {t.p, t.p + t.n, NULL};
	bool good = json_check_value(&c, 0);
	json_space(&c);
	if (good && c.p != c.end)
		good = json_bad(&c, "something follows the value");
	*fault = (struct json_fault){c.why, (size_t)(c.p - t.p)};
	if (!good)
		return (struct json){0};
	struct json_checker first = {t.p, c.end, NULL};
	json_space(&first);
	return (struct json){first.p, c.end};
}

/* --- reading a checked document -------------------------------------- */

static inline enum json_kind json_kind(struct json v)
{
	if (!v.p)
		return JSON_NONE;
	switch (*v.p) {
	case '{': return JSON_OBJECT;
	case '[': return JSON_ARRAY;
	case '"': return JSON_STRING;
	case 't': case 'f': return JSON_BOOL;
	case 'n': return JSON_NULL;
	default: return JSON_NUMBER;
	}
}

static inline const char *json_skip_string(const char *p)
{
	for (p++; *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p + 1;
}

/* The first byte after the value at p. */
static inline const char *json_skip(const char *p, const char *end)
{
	if (*p == '"')
		return json_skip_string(p);
	if (*p != '{' && *p != '[') {
		while (p < end && !strchr(",]} \t\r\n", *p))
			p++;
		return p;
	}
	int depth = 0;
	do {
		if (*p == '"') {
			p = json_skip_string(p);
			continue;
		}
		depth += *p == '{' || *p == '[';
		depth -= *p == '}' || *p == ']';
		p++;
	} while (depth > 0);
	return p;
}

static inline void json_put_rune(struct buf *b, uint32_t r)
{
	char s[4];
	if (r < 0x80) {
		put_char(b, (char)r);
	} else if (r < 0x800) {
		s[0] = (char)(0xC0 | r >> 6);
		s[1] = (char)(0x80 | (r & 0x3F));
		put(b, s, 2);
	} else if (r < 0x10000) {
		s[0] = (char)(0xE0 | r >> 12);
		s[1] = (char)(0x80 | (r >> 6 & 0x3F));
		s[2] = (char)(0x80 | (r & 0x3F));
		put(b, s, 3);
	} else {
		s[0] = (char)(0xF0 | r >> 18);
		s[1] = (char)(0x80 | (r >> 12 & 0x3F));
		s[2] = (char)(0x80 | (r >> 6 & 0x3F));
		s[3] = (char)(0x80 | (r & 0x3F));
		put(b, s, 4);
	}
}

/* One escape, from behind its backslash; gives the first byte after it. */
static inline const char *json_unescape(struct buf *b, const char *p, const char *end)
{
	static const char names[] = "bfnrt", bytes[] = "\b\f\n\r\t";
	if (*p != 'u') {
		const char *at = strchr(names, *p);
		put_char(b, at ? bytes[at - names] : *p);
		return p + 1;
	}
	uint32_t r = (uint32_t)json_hex(p + 1, end);
	p += 5;
	if (r >= 0xD800 && r <= 0xDBFF && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
		int low = json_hex(p + 2, end);
		if (low >= 0xDC00 && low <= 0xDFFF) {
			json_put_rune(b, 0x10000 + ((r - 0xD800) << 10) + ((uint32_t)low - 0xDC00));
			return p + 6;
		}
	}
	json_put_rune(b, r >= 0xD800 && r <= 0xDFFF ? 0xFFFD : r);
	return p;
}

/* The text of a string; false where v is none. Without escapes it is not copied. */
static inline bool json_text(struct json v, struct text *out)
{
	if (json_kind(v) != JSON_STRING)
		return false;
	const char *p = v.p + 1, *end = json_skip_string(v.p) - 1;
	if (!memchr(p, '\\', (size_t)(end - p))) {
		*out = (struct text){p, (size_t)(end - p)};
		return true;
	}
	struct buf b = {0};
	while (p < end) {
		if (*p == '\\') {
			p = json_unescape(&b, p + 1, end);
			continue;
		}
		put_char(&b, *p++);
	}
	*out = buf_text(&b);
	return true;
}

/* A whole number; false for anything else, also for 1.0 and 1e3. */
static inline bool json_int(struct json v, long *out)
{
	if (json_kind(v) != JSON_NUMBER)
		return false;
	const char *p = v.p, *end = json_skip(v.p, v.end);
	bool minus = *p == '-';
	long n = 0;
	for (p += minus; p < end; p++) {
		if (!is_digit(*p) || n > (LONG_MAX - 9) / 10)
			return false;
		n = n * 10 + (*p - '0');
	}
	*out = minus ? -n : n;
	return true;
}

static inline bool json_bool(struct json v, bool *out)
{
	*out = v.p && *v.p == 't';
	return json_kind(v) == JSON_BOOL;
}

/* Walks an array or an object; anything else has no items. */
struct json_iter {
	struct json_checker at;
	bool object, open;
};

static inline struct json_iter json_items(struct json v)
{
	enum json_kind kind = json_kind(v);
	struct json_iter it = {{v.p, v.end, NULL}, kind == JSON_OBJECT, kind == JSON_OBJECT || kind == JSON_ARRAY};
	return it;
}

static inline bool json_next(struct json_iter *it, struct text *key, struct json *value)
{
	if (!it->open)
		return false;
	it->at.p++; /* the opening bracket or a comma */
	json_space(&it->at);
	if (*it->at.p == ']' || *it->at.p == '}')
		return it->open = false;
	if (it->object) {
		struct json name = {it->at.p, it->at.end};
		struct text found;
		json_text(name, &found);
		if (key)
			*key = found;
		it->at.p = json_skip_string(it->at.p);
		json_space(&it->at);
		it->at.p++; /* the colon */
		json_space(&it->at);
	}
	*value = (struct json){it->at.p, it->at.end};
	it->at.p = json_skip(it->at.p, it->at.end);
	json_space(&it->at);
	if (*it->at.p != ',')
		it->open = false;
	return true;
}

/* A member of an object, or none. */
static inline struct json json_get(struct json object, const char *name)
{
	struct json_iter it = json_items(object);
	struct text key;
	struct json value;
	if (it.object)
		while (json_next(&it, &key, &value))
			if (is(key, name))
				return value;
	return (struct json){0};
}

/* --- writing ---------------------------------------------------------- */

struct json_out {
	struct buf b;
	bool comma;
};

static inline void json_value(struct json_out *o)
{
	if (o->comma)
		put_char(&o->b, ',');
	o->comma = true;
}

static inline void json_open(struct json_out *o, char bracket)
{
	json_value(o);
	put_char(&o->b, bracket);
	o->comma = false;
}

static inline void json_close(struct json_out *o, char bracket)
{
	put_char(&o->b, bracket);
	o->comma = true;
}

static inline void json_put_escaped(struct buf *b, struct text t)
{
	for (size_t at = 0, n; at < t.n; at += n) {
		unsigned char c = (unsigned char)t.p[at];
		n = utf8_len(t.p + at, t.n - at);
		if (!n) {
			put_str(b, "\xEF\xBF\xBD");
			n = 1;
		} else if (c == '"' || c == '\\') {
			put_char(b, '\\');
			put_char(b, (char)c);
		} else if (c == '\n') {
			put_str(b, "\\n");
		} else if (c < 0x20 || c == 0x7F) {
			char escape[8];
			snprintf(escape, sizeof escape, "\\u%04x", c);
			put_str(b, escape);
		} else {
			put(b, t.p + at, n);
		}
	}
}

static inline void json_put_text(struct json_out *o, struct text t)
{
	json_value(o);
	put_char(&o->b, '"');
	json_put_escaped(&o->b, t);
	put_char(&o->b, '"');
}

static inline void json_put_str(struct json_out *o, const char *s) { json_put_text(o, text_of(s)); }

static inline void json_put_int(struct json_out *o, long n)
{
	json_value(o);
	put_int(&o->b, n);
}

static inline void json_put_bool(struct json_out *o, bool v)
{
	json_value(o);
	put_str(&o->b, v ? "true" : "false");
}

static inline void json_key(struct json_out *o, struct text name)
{
	json_put_text(o, name);
	put_char(&o->b, ':');
	o->comma = false;
}

/* JSON that is known to be good, as it stands. */
static inline void json_put_raw(struct json_out *o, const char *json)
{
	json_value(o);
	put_str(&o->b, json);
}

static inline void json_member(struct json_out *o, const char *name, struct text value)
{
	json_key(o, text_of(name));
	json_put_text(o, value);
}

#endif
