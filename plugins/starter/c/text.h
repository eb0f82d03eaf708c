/*
 * text.h: slices of text, a growing buffer, and one way to give up.
 *
 * A plugin lives for one call, so nothing here is ever freed. Every size is
 * bounded: a buffer that would pass its limit ends the plugin with a message
 * and exit 3, which the host reports as a fault of the plugin, never as an
 * answer.
 */
#ifndef SPEC_KITTY_TEXT_H
#define SPEC_KITTY_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that live elsewhere; not ended by a zero, and may hold one. */
struct text {
	const char *p;
	size_t n;
};

struct buf {
	char *p;
	size_t n, room;
};

enum { BUF_LIMIT = 16 << 20 }; /* bytes in one buffer */

/* The message goes to stderr, which the host shows; the code ends the plugin. */
__attribute__((noreturn, format(printf, 2, 3)))
static void give_up(int code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(code);
}

static inline void *must_alloc(void *old, size_t count, size_t size)
{
	if (size && count > BUF_LIMIT * (size_t)4 / size)
		give_up(3, "more than %d MiB of memory wanted", BUF_LIMIT * 4 >> 20);
	size_t bytes = count * size;
	void *p = realloc(old, bytes > 0 ? bytes : 1);
	if (!p)
		give_up(3, "out of memory");
	return p;
}

static inline void put(struct buf *b, const char *p, size_t n)
{
	if (n > BUF_LIMIT - b->n)
		give_up(3, "a text passed %d MiB", BUF_LIMIT >> 20);
	if (b->n + n > b->room) {
		b->room = (b->n + n) * 2 + 64;
		b->p = must_alloc(b->p, b->room, 1);
	}
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
}

static inline void put_char(struct buf *b, char c) { put(b, &c, 1); }
static inline void put_str(struct buf *b, const char *s) { put(b, s, strlen(s)); }
static inline void put_text(struct buf *b, struct text t) { put(b, t.p, t.n); }

static inline void put_int(struct buf *b, long n)
{
	char digits[24];
	snprintf(digits, sizeof digits, "%ld", n);
	put_str(b, digits);
}

static inline struct text text_of(const char *s) { return (struct text){s, strlen(s)}; }
static inline struct text buf_text(const struct buf *b) { return (struct text){b->p ? b->p : "", b->n}; }

/* A zero-ended copy, for calls of the C library. */
static inline char *text_string(struct text t)
{
	struct buf b = {0};
	put_text(&b, t);
	put_char(&b, 0);
	return b.p;
}

static inline bool same(struct text a, struct text b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool is(struct text a, const char *s) { return same(a, text_of(s)); }

static inline bool starts(struct text t, const char *s)
{
	size_t n = strlen(s);
	return t.n >= n && memcmp(t.p, s, n) == 0;
}

static inline struct text from(struct text t, size_t at)
{
	return at > t.n ? (struct text){t.p + t.n, 0} : (struct text){t.p + at, t.n - at};
}

static inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
static inline char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c; }
static inline bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
/* Bytes above ASCII count as letters, so that no word ends inside a character. */
static inline bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_' || (unsigned char)c >= 0x80; }

static inline struct text trim(struct text t)
{
	while (t.n && is_blank(t.p[0]))
		t = from(t, 1);
	while (t.n && is_blank(t.p[t.n - 1]))
		t.n--;
	return t;
}

/* The next line without its LF or CRLF; false at the end. */
static inline bool next_line(struct text *rest, struct text *line)
{
	if (!rest->n)
		return false;
	const char *lf = memchr(rest->p, '\n', rest->n);
	size_t n = lf ? (size_t)(lf - rest->p) : rest->n;
	*line = (struct text){rest->p, n};
	*rest = from(*rest, lf ? n + 1 : n);
	if (line->n && line->p[line->n - 1] == '\r')
		line->n--;
	return true;
}

/*
 * The length of the UTF-8 character at p, or 0 where there is none: cut off,
 * overlong, a surrogate, above U+10FFFF.
 */
static inline size_t utf8_len(const char *p, size_t n)
{
	const unsigned char *s = (const unsigned char *)p;
	if (!n)
		return 0;
	if (s[0] < 0x80)
		return 1;
	size_t want = s[0] >= 0xC2 && s[0] <= 0xDF ? 2 : s[0] >= 0xE0 && s[0] <= 0xEF ? 3 : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4 : 0;
	if (!want || want > n)
		return 0;
	for (size_t i = 1; i < want; i++)
		if ((s[i] & 0xC0) != 0x80)
			return 0;
	if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
	    (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
		return 0;
	return want;
}

/* The first byte that is not UTF-8 text (a zero is none either), or t.n. */
static inline size_t utf8_fault(struct text t)
{
	for (size_t at = 0, n; at < t.n; at += n)
		if (!(n = utf8_len(t.p + at, t.n - at)) || !t.p[at])
			return at;
	return t.n;
}

/* At most max bytes of t, cut between characters, with "..." where cut. */
static inline struct text excerpt(struct text t, size_t max)
{
	if (t.n <= max)
		return t;
	while (max && ((unsigned char)t.p[max] & 0xC0) == 0x80)
		max--;
	struct buf b = {0};
	put(&b, t.p, max);
	put_str(&b, "...");
	return buf_text(&b);
}

#endif
