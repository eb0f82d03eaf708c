/*
 * Reads documents, each as its length, a newline and its bytes, and writes for
 * each one line: what the reader and the writer of json.h make of it, or "!"
 * and the fault. The Go test compares that with encoding/json.
 */
#include "../json.h"

static void echo(struct json_out *o, struct json v)
{
	enum json_kind kind = json_kind(v);
	struct json_iter it = json_items(v);
	struct text key, t;
	struct json item;
	if (kind == JSON_STRING && json_text(v, &t)) {
		json_put_text(o, t);
	} else if (kind == JSON_OBJECT || kind == JSON_ARRAY) {
		json_open(o, it.object ? '{' : '[');
		while (json_next(&it, &key, &item)) {
			if (it.object)
				json_key(o, key);
			echo(o, item);
		}
		json_close(o, kind == JSON_OBJECT ? '}' : ']');
	} else {
		struct text raw = {v.p, (size_t)(json_skip(v.p, v.end) - v.p)};
		json_put_raw(o, text_string(raw));
	}
}

int main(void)
{
	size_t n;
	while (scanf("%zu", &n) == 1 && getchar() == '\n') {
		struct json_fault fault;
		struct json_out o = {0};
		char *doc = must_alloc(NULL, n, 1); /* exact, so that a read past the end is seen */
		if (fread(doc, 1, n, stdin) != n)
			give_up(1, "input cut off");
		struct json v = json_check((struct text){doc, n}, &fault);
		if (v.p)
			echo(&o, v);
		else
			printf("!%s", fault.why);
		printf("%.*s\n", (int)o.b.n, o.b.p ? o.b.p : "");
	}
	return 0;
}
