/*
 * test-gate: an executor that lets a step pass when a command of the project
 * does, such as its tests. It runs nothing: it names the command, the host runs
 * it and calls again with what came of it.
 */
#include "../c/plugin.h"
#include "../c/reasons.h"

enum { TAIL_LINES = 12, TAIL_BYTES = 2000 };

static const char *const option_names[] = {"command", NULL};

static struct text command_option(struct json with)
{
	struct buf why = {0};
	struct text name = {0};
	if (!only_options(with, option_names, &why))
		give_up(1, "%.*s", (int)why.n, why.p);
	if (!json_text(json_get(with, "command"), &name) || !name.n || name.n > 100)
		give_up(1, "the option \"command\" in `with` must be the name of a command that the project declares");
	return name;
}

/* The result of the command in the request; false: it did not run yet. */
static bool result_of(const struct request *req, struct text command, struct json *result)
{
	struct json_iter it = json_items(json_get(req->root, "commands"));
	struct json item;
	struct text name;
	bool found = false;
	while (!it.object && json_next(&it, NULL, &item))
		if (json_text(json_get(item, "command"), &name) && same(name, command)) {
			*result = item;
			found = true;
		}
	return found;
}

static void write_need(struct json_out *out, struct text command)
{
	json_key(out, text_of("needs"));
	json_open(out, '[');
	json_open(out, '{');
	json_member(out, "command", command);
	json_close(out, '}');
	json_close(out, ']');
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

/* The last lines of an output, which is where programs say what is wrong. */
static struct text last_lines(struct text t)
{
	t = strip(t);
	size_t at = t.n;
	for (int lines = 0; at > 0; at--)
		if (t.p[at - 1] == '\n' && (++lines == TAIL_LINES || t.n - at > TAIL_BYTES))
			break;
	return excerpt(from(t, at), TAIL_BYTES);
}

static struct text said(struct json result)
{
	struct text t = {0};
	json_text(json_get(result, "stderr"), &t);
	if (!strip(t).n)
		json_text(json_get(result, "stdout"), &t);
	return last_lines(t);
}

static struct buf verdict(struct text command, struct json result, long exit)
{
	struct buf b = {0};
	bool late = false;
	struct text tail = said(result);
	put_text(&b, command);
	json_bool(json_get(result, "timed_out"), &late);
	if (late) {
		put_str(&b, " ran out of time");
	} else if (exit < 0) {
		put_str(&b, " could not be run, or was stopped");
	} else {
		put_str(&b, " ended with exit code ");
		put_int(&b, exit);
	}
	if (tail.n) {
		put_str(&b, ":\n");
		put_text(&b, tail);
	}
	return b;
}

static void write_verdict(struct json_out *out, struct text command, struct json result, long exit)
{
	static struct reasons reasons;
	if (exit == 0) {
		struct buf note = {0};
		put_text(&note, command);
		put_str(&note, " passed");
		json_member(out, "outcome", text_of("success"));
		json_key(out, text_of("notes"));
		json_open(out, '[');
		json_put_text(out, buf_text(&note));
		json_close(out, ']');
		return;
	}
	json_member(out, "outcome", text_of(exit < 0 ? "blocked" : "failed"));
	add_reason(&reasons, verdict(command, result, exit), (struct text){0}, "mend what it says, then report again");
	write_reasons(out, &reasons);
}

static void execute(const struct request *req, struct json_out *out)
{
	struct text command = command_option(req->with);
	struct json result;
	long exit;
	bool ran = result_of(req, command, &result);
	if (ran && !json_int(json_get(result, "exit"), &exit))
		give_up(2, "the result of %.*s has no exit, a number", (int)command.n, command.p);
	json_open(out, '{');
	if (ran)
		write_verdict(out, command, result, exit);
	else
		write_need(out, command);
	json_close(out, '}');
}

int main(int argc, char **argv)
{
	static const struct plugin gate = {
		.name = "test-gate",
		.version = "1.0.0",
		.description = "Lets a step pass when a command of the project does",
		.with = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"command\"],\"properties\":{"
			"\"command\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":100}}}",
		.execute = execute,
	};
	return plugin_main(&gate, argc, argv);
}
