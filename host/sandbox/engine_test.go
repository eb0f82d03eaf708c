package sandbox

import (
	"context"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/bundle"
	"github.com/spec-kitty/step-runner/plugins/engines"
)

// The JavaScript engine: what its page promises to whoever writes a script.
func TestJavaScript(t *testing.T) {
	if testing.Short() {
		t.Skip("a process for each script, which the race detector makes slow")
	}
	root, _ := project(t)
	h := newHost(t)
	wasm := engines.QuickJS()[engines.QuickJSFile]
	engine := Plugin{Name: "js", Wasm: wasm, SHA256: hexSum(wasm)}
	prepared(t, h, engine)
	for _, c := range []struct {
		name, script string
		code         Code // "" is an answer
		says         string
	}{
		{"allow", `export function guard() { return {verdict: "allow"} }`, "", `{"verdict":"allow"}`},
		{"async", `export async function guard(r) { await null; return {verdict: r.verdict} }`, "", `{"verdict":"allow"}`},
		{"a print spoils nothing", `export function guard() { console.log("x", {a: 1}); return {verdict: "allow"} }`, "", `{"verdict":"allow"}`},
		{"import", `import {v} from "./lib/v.js"; export function guard() { return {verdict: v} }`, "", `{"verdict":"allow"}`},
		{"import from outside", `import {v} from "/project/docs/a.md"; export function guard() { return {verdict: v} }`, Exited, "code comes from /plugin/ alone"},
		{"import that climbs", `import {v} from "../project/docs/a.md"; export function guard() { return {verdict: v} }`, Exited, "code comes from /plugin/ alone"},
		{"files", `export function guard() { return {
			a: readFile("/project/docs/a.md"), none: readFile("/project/none"), bytes: readBytes("/project/docs/a.md").length,
			list: listFolder("/project/docs/sub").map(e => e.kind + " " + e.name), gone: listFolder("/project/none") } }`,
			"", `{"a":"a","none":null,"bytes":1,"list":["file b.md"],"gone":null}`},
		{"what is not granted is not there", `export function guard() { return {a: readFile("/project/secret.md")} }`, "", `{"a":null}`},
		{"a path outside", `export function guard() { try { return {a: readFile("/etc/passwd")} } catch (e) { return {code: e.code} } }`, "", `{"code":"EPERM"}`},
		{"a link out", `export function guard() { try { return {a: readFile("/project/docs/relative")} } catch (e) { return {code: e.code} } }`, "", `{"code":"EPERM"}`},
		{"arguments", `export function guard() { return {args} }`, "", `{"args":["x"]}`},
		{"throws", `export function guard() { throw new Error("no such luck") }`, Exited, "no such luck"},
		{"rejects", `export async function guard() { throw new Error("no such luck") }`, Exited, "no such luck"},
		{"never settles", `export function guard() { return new Promise(() => {}) }`, Exited, "never happens"},
		{"returns nothing", `export function guard() {}`, Exited, "must return an object"},
		{"no such verb", `export function execute() { return {outcome: "success"} }`, Exited, "exports no function"},
		{"syntax", `export function guard( {`, Exited, "SyntaxError"},
		{"recursion", `export function guard() { return guard() + 1 }`, Exited, "stack"},
		{"memory", `export function guard() { const a = []; for (;;) a.push(new Uint8Array(1 << 20)) }`, MemoryLimit, "64 MiB"},
		{"no host", `export function guard() { return {a: typeof process, b: typeof require, c: typeof fetch, d: typeof setTimeout} }`, "", `{"a":"undefined","b":"undefined","c":"undefined","d":"undefined"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := engine
			p.Args = []string{"/plugin/main.js", "x"}
			p.Bundle = packed(t, bundle.File{Name: "main.js", Data: []byte(c.script)}, bundle.File{Name: "lib/v.js", Data: []byte(`export const v = "allow"`)})
			call := filesCall(root)
			call.Request = []byte(`{"verdict":"allow"}`)
			a, err := h.Call(context.Background(), p, call)
			if c.code == "" {
				if err != nil || strings.TrimSpace(string(a.Stdout)) != c.says {
					t.Errorf("%s, %v; want %s", a.Stdout, err, c.says)
				}
				return
			}
			if f := mustFail(t, err, c.code); !strings.Contains(f.Error(), c.says) {
				t.Errorf("%v does not say %q", f, c.says)
			}
		})
	}
}

// The same call of a script gives the same bytes: its clock and its dice are the
// call's.
func TestJavaScriptIsRepeatable(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector makes compiling the engine slow")
	}
	h := newHost(t)
	wasm := engines.QuickJS()[engines.QuickJSFile]
	p := Plugin{Name: "js", Wasm: wasm, SHA256: hexSum(wasm), Bundle: packed(t, bundle.File{Name: "main.js",
		Data: []byte(`export function guard() { return {now: Date.now(), dice: [Math.random(), Math.random()], day: new Date().toISOString().slice(0, 10)} }`)})}
	first, err := h.Call(context.Background(), prepared(t, h, p), guardCall())
	if err != nil || !strings.Contains(string(first.Stdout), `"day":"2026-03-01"`) {
		t.Fatalf("%s, %v", first.Stdout, err)
	}
	for range 3 {
		again, err := h.Call(context.Background(), p, guardCall())
		if err != nil || string(again.Stdout) != string(first.Stdout) {
			t.Errorf("%s, then %s, %v", first.Stdout, again.Stdout, err)
		}
	}
}
