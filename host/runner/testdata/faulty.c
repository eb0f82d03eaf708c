/*
 * faulty: a guard with one fault, chosen by its first argument, for the tests of
 * the conformance checks. Built with
 *
 *   clang --target=wasm32-wasi -D_GNU_SOURCE -Os -Wall -Wextra -Wl,--strip-all -Wl,--stack-first \
 *         -Wl,-z,stack-size=65536 -o faulty.wasm faulty.c
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char request[2 << 20];
static size_t length;

static void leave(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(2);
}

static void read_request(size_t most)
{
	ssize_t n;
	while (length < most && (n = read(0, request + length, most - length)) > 0)
		length += (size_t)n;
}

static int deepest(void)
{
	int depth = 0, most = 0;
	for (size_t i = 0; i < length; i++) {
		depth += request[i] == '[' || request[i] == '{';
		depth -= request[i] == ']' || request[i] == '}';
		most = depth > most ? depth : most;
	}
	return most;
}

static int has(const char *what) { return memmem(request, length, what, strlen(what)) != NULL; }

static int beyond_ascii(void)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)request[i] >= 0x80)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	const char *fault = argc == 3 ? argv[1] : "", *verb = argv[argc - 1];
	int is_guard = !strcmp(verb, "guard");
#define FAULT(name) (!strcmp(fault, name))
	if (!strcmp(verb, "describe")) {
		if (FAULT("describe-reads")) {
			read_request(sizeof request);
			if (!length)
				leave("describe wants a request");
		}
		puts(FAULT("describe-abi") ? "{\"abi\":2,\"name\":\"faulty\",\"verbs\":[\"guard\"]}" : "{\"abi\":1,\"name\":\"faulty\",\"verbs\":[\"guard\"]}");
		return 0;
	}
	if (!is_guard && !FAULT("any-verb") && !(FAULT("other-verb") && !strcmp(verb, "execute")))
		leave("no such verb");
	read_request(FAULT("short") ? 64 << 10 : sizeof request);
	if (FAULT("newline") && length && request[length - 1] != '}')
		leave("no white space, please");
	while (length && strchr(" \r\n", request[length - 1]))
		length--;
	if (!FAULT("lenient") && (!length || request[0] != '{' || request[length - 1] != '}'))
		leave("no JSON");
	if (FAULT("unknown") && has("x_new"))
		leave("unknown key");
	if (FAULT("unknown-answer") && has("x_new"))
		puts(" ");
	if (FAULT("depth") && deepest() > 32)
		leave("too deep");
	if (FAULT("ascii") && beyond_ascii())
		exit(2); /* and says nothing */
	if (FAULT("escapes") && has("\\u"))
		leave("no escapes, please");
	if (FAULT("trap"))
		__builtin_trap();
	if (FAULT("silent"))
		exit(1);
	if (FAULT("stray"))
		puts("checking");
	if (FAULT("two"))
		puts("{\"verdict\":\"allow\"}");
	if (FAULT("grants") && !opendir("/project/kitty-specs/001-check"))
		__builtin_trap();
	puts("{\"verdict\":\"allow\"}");
	return 0;
}
