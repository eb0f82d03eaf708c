/*
 * launcher.c: a plugin of ABI v1 that runs a JavaScript module with QuickJS.
 *
 * Called as NAME [SCRIPT [ARGUMENT...]] VERB; the script is /plugin/main.js if
 * none is named. The module exports guard, execute or both: functions that are
 * given the request and return the answer; and describe, an object, if it wants
 * to say more of itself than its name. Answers go to stdout in one piece, when
 * all is well; whatever the script prints goes to stderr, so that it cannot
 * spoil an answer. Exit 1 is a script that failed, 2 a call it does not
 * understand.
 *
 * Code comes from /plugin alone: that folder is pinned, the project is not.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quickjs.h"

enum {
	REQUEST_LIMIT = 8 << 20,	/* bytes */
	FILE_LIMIT = 32 << 20,		/* bytes; a call may read no more in all */
	STACK_LIMIT = 768 << 10,	/* of the megabyte that the linker gives */
};

static const char pinned[] = "/plugin/";

static _Noreturn void die(int code, const char *what, const char *detail)
{
	fprintf(stderr, "%s%s%s\n", what, *detail ? ": " : "", detail);
	exit(code);
}

/* --- bytes ------------------------------------------------------------- */

struct bytes {
	char *p; /* ends with a zero that is not counted */
	size_t len;
};

/* Reads to the end; false with errno. */
static bool read_all(int fd, size_t limit, struct bytes *out)
{
	size_t cap = 4096;
	*out = (struct bytes){malloc(cap), 0};
	while (out->p) {
		ssize_t n = read(fd, out->p + out->len, cap - out->len - 1);
		if (n < 0)
			return false;
		out->len += n;
		out->p[out->len] = 0;
		if (!n)
			return true;
		if (out->len > limit) {
			errno = EFBIG;
			return false;
		}
		if (cap - out->len < 2)
			out->p = realloc(out->p, cap *= 2);
	}
	errno = ENOMEM;
	return false;
}

static bool read_path(const char *path, struct bytes *out)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		errno = EISDIR;
		return false;
	}
	bool ok = read_all(fd, FILE_LIMIT, out);
	int why = errno;
	close(fd);
	if (!ok)
		free(out->p);
	errno = why;
	return ok;
}

/* The least code point of a sequence with n bytes behind its first. */
static const unsigned least[] = {0, 0x80, 0x800, 0x10000};

static bool is_utf8(const struct bytes *b)
{
	const unsigned char *p = (const unsigned char *)b->p, *end = p + b->len;
	while (p < end) {
		unsigned c = *p++;
		int more = c < 0x80 ? 0 : c >> 5 == 6 ? 1 : c >> 4 == 14 ? 2 : c >> 3 == 30 ? 3 : -1;
		if (more < 0 || end - p < more)
			return false;
		c &= more ? 0x3f >> more : 0x7f;
		for (int i = 0; i < more; i++, p++) {
			if (*p >> 6 != 2)
				return false;
			c = c << 6 | (*p & 0x3f);
		}
		if (c < least[more] || c > 0x10ffff || c >> 11 == 27)
			return false;
	}
	return true;
}

/* --- what a script can call -------------------------------------------- */

static const char *error_name(int code)
{
	switch (code) {
	case EACCES: return "EACCES";
	case EAGAIN: return "EAGAIN"; /* too many open files */
	case EFBIG: return "EFBIG";
	case EILSEQ: return "EILSEQ";
	case EISDIR: return "EISDIR";
	case ELOOP: return "ELOOP";
	case ENAMETOOLONG: return "ENAMETOOLONG";
	case ENOTDIR: return "ENOTDIR";
	case ENOTCAPABLE: /* a path outside of every folder that is shown */
	case EPERM: return "EPERM";
	default: return "EIO";
	}
}

static JSValue file_error(JSContext *ctx, const char *path, int code)
{
	JSValue error = JS_NewError(ctx);
	char message[4352];
	snprintf(message, sizeof message, "%.4096s cannot be read: %s", path,
		code == EILSEQ ? "it is no UTF-8; readBytes reads it" : strerror(code));
	JS_DefinePropertyValueStr(ctx, error, "message", JS_NewString(ctx, message), JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
	JS_DefinePropertyValueStr(ctx, error, "code", JS_NewString(ctx, error_name(code)), JS_PROP_C_W_E);
	return JS_Throw(ctx, error);
}

static bool is_missing(int code) { return code == ENOENT || code == ENOTDIR; }

/* The path that a function was given; no number, object or zero byte. NULL: it threw. */
static const char *path_of(JSContext *ctx, int argc, JSValueConst *argv)
{
	size_t len;
	if (argc < 1 || !JS_IsString(argv[0])) {
		JS_ThrowTypeError(ctx, "a path was expected, a string such as request.mission.dir + \"/spec.md\"");
		return NULL;
	}
	const char *path = JS_ToCStringLen(ctx, &len, argv[0]);
	if (path && strlen(path) != len) {
		JS_FreeCString(ctx, path);
		JS_ThrowTypeError(ctx, "the path holds a zero byte");
		return NULL;
	}
	return path;
}

enum { AS_TEXT, AS_BYTES };

static JSValue js_read(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv, int how)
{
	(void)self;
	struct bytes b;
	const char *path = path_of(ctx, argc, argv);
	if (!path)
		return JS_EXCEPTION;
	JSValue result = JS_NULL;
	if (!read_path(path, &b)) {
		if (!is_missing(errno))
			result = file_error(ctx, path, errno);
	} else {
		if (how == AS_BYTES)
			result = JS_NewUint8ArrayCopy(ctx, (uint8_t *)b.p, b.len);
		else if (!is_utf8(&b))
			result = file_error(ctx, path, EILSEQ);
		else
			result = JS_NewStringLen(ctx, b.p, b.len);
		free(b.p);
	}
	JS_FreeCString(ctx, path);
	return result;
}

static JSValue entry_of(JSContext *ctx, const struct dirent *e)
{
	JSValue entry = JS_NewObject(ctx);
	const char *kind = e->d_type == DT_DIR ? "folder" : e->d_type == DT_LNK ? "link" : "file";
	JS_SetPropertyStr(ctx, entry, "name", JS_NewString(ctx, e->d_name));
	JS_SetPropertyStr(ctx, entry, "kind", JS_NewString(ctx, kind));
	return entry;
}

static JSValue js_list(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
	(void)self;
	const char *path = path_of(ctx, argc, argv);
	if (!path)
		return JS_EXCEPTION;
	JSValue list = JS_NULL;
	uint32_t n = 0;
	DIR *dir = opendir(path);
	if (dir) {
		list = JS_NewArray(ctx);
		struct dirent *e;
		errno = 0;
		while ((e = readdir(dir)))
			if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
				JS_SetPropertyUint32(ctx, list, n++, entry_of(ctx, e));
		int why = errno;
		closedir(dir);
		if (why) {
			JS_FreeValue(ctx, list);
			list = file_error(ctx, path, why);
		}
	} else if (errno != ENOENT) {
		list = file_error(ctx, path, errno);
	}
	JS_FreeCString(ctx, path);
	return list;
}

static JSValue js_log(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
	(void)self;
	for (int i = 0; i < argc; i++) {
		JSValue json = JS_UNDEFINED;
		if (JS_IsObject(argv[i]) && !JS_IsError(argv[i]) && !JS_IsFunction(ctx, argv[i]))
			json = JS_JSONStringify(ctx, argv[i], JS_UNDEFINED, JS_UNDEFINED);
		if (JS_IsException(json))
			return json;
		const char *text = JS_ToCString(ctx, JS_IsString(json) ? json : argv[i]);
		JS_FreeValue(ctx, json);
		if (!text)
			return JS_EXCEPTION;
		fprintf(stderr, "%s%s", i ? " " : "", text);
		JS_FreeCString(ctx, text);
	}
	fputc('\n', stderr);
	return JS_UNDEFINED;
}

static void add_globals(JSContext *ctx, int argc, char **argv)
{
	JSValue global = JS_GetGlobalObject(ctx), console = JS_NewObject(ctx), args = JS_NewArray(ctx);
	JS_SetPropertyStr(ctx, global, "readFile", JS_NewCFunctionMagic(ctx, js_read, "readFile", 1, JS_CFUNC_generic_magic, AS_TEXT));
	JS_SetPropertyStr(ctx, global, "readBytes", JS_NewCFunctionMagic(ctx, js_read, "readBytes", 1, JS_CFUNC_generic_magic, AS_BYTES));
	JS_SetPropertyStr(ctx, global, "listFolder", JS_NewCFunction(ctx, js_list, "listFolder", 1));
	static const char *const names[] = {"debug", "error", "info", "log", "warn"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		JS_SetPropertyStr(ctx, console, names[i], JS_NewCFunction(ctx, js_log, names[i], 1));
	for (int i = 0; i < argc; i++)
		JS_SetPropertyUint32(ctx, args, i, JS_NewString(ctx, argv[i]));
	JS_SetPropertyStr(ctx, global, "console", console);
	JS_SetPropertyStr(ctx, global, "args", args);
	JS_FreeValue(ctx, global);
}

/* --- running a module -------------------------------------------------- */

/* Ends with what was thrown. */
static _Noreturn void die_thrown(JSContext *ctx, JSValue thrown)
{
	JSValue stack = JS_UNDEFINED;
	const char *text = JS_ToCString(ctx, thrown), *trace = NULL;
	if (JS_IsError(thrown))
		stack = JS_GetPropertyStr(ctx, thrown, "stack");
	if (JS_IsString(stack))
		trace = JS_ToCString(ctx, stack);
	fprintf(stderr, "%s\n%s", text ? text : "something was thrown that cannot be shown", trace ? trace : "");
	exit(1);
}

/* Runs what is waiting, then gives the value of a promise, or the value itself. */
static JSValue settled(JSContext *ctx, JSValue v, const char *what)
{
	JSContext *at;
	int more;
	if (JS_IsException(v))
		die_thrown(ctx, JS_GetException(ctx));
	while ((more = JS_ExecutePendingJob(JS_GetRuntime(ctx), &at)) > 0)
		;
	if (more < 0)
		die_thrown(at, JS_GetException(at));
	switch (JS_PromiseState(ctx, v)) {
	case JS_PROMISE_FULFILLED:
		return JS_PromiseResult(ctx, v);
	case JS_PROMISE_REJECTED:
		die_thrown(ctx, JS_PromiseResult(ctx, v));
	case JS_PROMISE_PENDING:
		die(1, what, "it waits for something that never happens");
	default:
		return v; /* no promise */
	}
}

static JSModuleDef *load_module(JSContext *ctx, const char *name, void *opaque)
{
	(void)opaque;
	struct bytes b;
	if (strncmp(name, pinned, strlen(pinned))) {
		JS_ThrowReferenceError(ctx, "%s cannot be imported: code comes from %s alone; import it as \"./file.js\"", name, pinned);
		return NULL;
	}
	if (!read_path(name, &b)) {
		JS_ThrowReferenceError(ctx, "%s cannot be read: %s", name, strerror(errno));
		return NULL;
	}
	JSValue code = JS_Eval(ctx, b.p, b.len, name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
	free(b.p);
	if (JS_IsException(code))
		return NULL;
	JSModuleDef *module = JS_VALUE_GET_PTR(code);
	JS_FreeValue(ctx, code);
	return module;
}

/* Runs the script and gives what it exports. */
static JSValue exports_of(JSContext *ctx, const char *script)
{
	JSModuleDef *module = load_module(ctx, script, NULL);
	if (!module)
		die_thrown(ctx, JS_GetException(ctx));
	JSValue code = JS_DupValue(ctx, JS_MKPTR(JS_TAG_MODULE, module));
	if (JS_ResolveModule(ctx, code) < 0)
		die_thrown(ctx, JS_GetException(ctx));
	settled(ctx, JS_EvalFunction(ctx, code), script);
	return JS_GetModuleNamespace(ctx, module);
}

/* --- verbs ------------------------------------------------------------- */

static bool has_function(JSContext *ctx, JSValue exports, const char *name)
{
	JSValue f = JS_GetPropertyStr(ctx, exports, name);
	return JS_IsFunction(ctx, f);
}

/* What the engine knows of the plugin, and then what the script says of itself. */
static JSValue describe(JSContext *ctx, JSValue exports, const char *name)
{
	static const char *const verbs[] = {"guard", "execute"};
	JSValue d = JS_NewObject(ctx), list = JS_NewArray(ctx), global = JS_GetGlobalObject(ctx);
	uint32_t n = 0;
	for (size_t i = 0; i < 2; i++)
		if (has_function(ctx, exports, verbs[i]))
			JS_SetPropertyUint32(ctx, list, n++, JS_NewString(ctx, verbs[i]));
	if (!n)
		die(1, "the script exports no function guard or execute", "");
	JS_SetPropertyStr(ctx, d, "abi", JS_NewInt32(ctx, 1));
	JS_SetPropertyStr(ctx, d, "name", JS_NewString(ctx, name));
	JS_SetPropertyStr(ctx, d, "version", JS_NewString(ctx, "0.0.0"));
	JS_SetPropertyStr(ctx, d, "verbs", list);
	JSValue own = JS_GetPropertyStr(ctx, exports, "describe");
	if (JS_IsUndefined(own))
		return d;
	if (!JS_IsObject(own) || JS_IsFunction(ctx, own))
		die(1, "the script's describe must be an object, such as {version: \"1.0.0\"}", "");
	JSValue object = JS_GetPropertyStr(ctx, global, "Object");
	JSValue assign = JS_GetPropertyStr(ctx, object, "assign");
	JSValue both[] = {d, own};
	return settled(ctx, JS_Call(ctx, assign, object, 2, both), "describe");
}

static JSValue answer_of(JSContext *ctx, JSValue exports, const char *verb)
{
	struct bytes b;
	if (strcmp(verb, "guard") && strcmp(verb, "execute"))
		die(2, "there is no such verb", verb);
	if (!has_function(ctx, exports, verb))
		die(2, "the script exports no function of this name", verb);
	if (!read_all(STDIN_FILENO, REQUEST_LIMIT, &b))
		die(2, "the request cannot be read", strerror(errno));
	if (!is_utf8(&b))
		die(2, "the request is no UTF-8", "");
	JSValue request = JS_ParseJSON(ctx, b.p, b.len, "request");
	if (JS_IsException(request))
		die_thrown(ctx, JS_GetException(ctx));
	if (!JS_IsObject(request))
		die(2, "the request is no object", "");
	JSValue f = JS_GetPropertyStr(ctx, exports, verb);
	return settled(ctx, JS_Call(ctx, f, JS_UNDEFINED, 1, &request), verb);
}

static void put_answer(JSContext *ctx, JSValue answer, const char *verb)
{
	size_t len;
	if (!JS_IsObject(answer))
		die(1, verb, "it must return an object, such as {verdict: \"allow\"} or {outcome: \"success\"}");
	JSValue json = JS_JSONStringify(ctx, answer, JS_UNDEFINED, JS_UNDEFINED);
	if (JS_IsException(json))
		die_thrown(ctx, JS_GetException(ctx));
	const char *text = JS_ToCStringLen(ctx, &len, json);
	if (!JS_IsString(json) || !text)
		die(1, verb, "its answer cannot be written as JSON");
	if (fwrite(text, 1, len, stdout) != len || fputc('\n', stdout) == EOF || fflush(stdout))
		die(1, "the answer cannot be written", strerror(errno));
}

int main(int argc, char **argv)
{
	if (argc < 2)
		die(2, "usage: NAME [SCRIPT [ARGUMENT...]] VERB", "");
	const char *verb = argv[argc - 1], *script = argc > 2 ? argv[1] : "/plugin/main.js";
	JSRuntime *rt = JS_NewRuntime();
	JSContext *ctx = rt ? JS_NewContext(rt) : NULL;
	if (!ctx)
		die(1, "there is too little memory for the engine", "");
	JS_SetMaxStackSize(rt, STACK_LIMIT);
	JS_SetModuleLoaderFunc(rt, NULL, load_module, NULL);
	add_globals(ctx, argc > 3 ? argc - 3 : 0, argv + 2);
	JSValue exports = exports_of(ctx, script);
	JSValue answer = strcmp(verb, "describe") ? answer_of(ctx, exports, verb) : describe(ctx, exports, argv[0]);
	put_answer(ctx, answer, verb);
	return 0; /* the end of the process frees all */
}
