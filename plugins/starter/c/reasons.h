/*
 * reasons.h: the list of reasons in a refusal: what is wrong, in which file,
 * and what to do. At most REASONS_SHOWN are written; the last one then says
 * how many more there are, so that a long list is never taken for a whole one.
 */
#ifndef SPEC_KITTY_REASONS_H
#define SPEC_KITTY_REASONS_H

#include "json.h"

enum { REASONS_SHOWN = 40, MESSAGE_LIMIT = 1000 };

struct reason {
	struct text message, path, fix;
};

struct reasons {
	struct reason list[REASONS_SHOWN];
	size_t n; /* also those that are not kept */
};

static inline void add_reason(struct reasons *r, struct buf message, struct text path, const char *fix)
{
	if (r->n < REASONS_SHOWN)
		r->list[r->n] = (struct reason){excerpt(buf_text(&message), MESSAGE_LIMIT), path, text_of(fix)};
	r->n++;
}

/* "line N: " in front of a message. */
static inline struct buf at_line(long line)
{
	struct buf b = {0};
	put_str(&b, "line ");
	put_int(&b, line);
	put_str(&b, ": ");
	return b;
}

static inline void put_quoted(struct buf *b, struct text t)
{
	put_char(b, '"');
	put_text(b, excerpt(trim(t), 80));
	put_char(b, '"');
}

static inline void write_reason(struct json_out *o, const struct reason *r)
{
	json_open(o, '{');
	json_member(o, "message", r->message);
	if (r->path.n)
		json_member(o, "path", r->path);
	if (r->fix.n)
		json_member(o, "fix", r->fix);
	json_close(o, '}');
}

static inline void write_reasons(struct json_out *o, const struct reasons *r)
{
	json_key(o, text_of("reasons"));
	json_open(o, '[');
	size_t shown = r->n > REASONS_SHOWN ? REASONS_SHOWN - 1 : r->n;
	for (size_t i = 0; i < shown; i++)
		write_reason(o, &r->list[i]);
	if (shown < r->n) {
		struct buf more = {0};
		put_str(&more, "and ");
		put_int(&more, (long)(r->n - shown));
		put_str(&more, " more");
		write_reason(o, &(struct reason){.message = buf_text(&more)});
	}
	json_close(o, ']');
}

#endif
