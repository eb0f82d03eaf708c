package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// The JSON readers and writers of the SDKs are held to encoding/json: they take
// what it takes, and what they write back it reads the same. (That of Go is fuzzed
// in its own package.)
func TestJSON(t *testing.T) {
	if testing.Short() {
		t.Skip("two compilers run")
	}
	for lang, build := range map[string]func(*testing.T) func(*testing.T, []byte) []byte{"rust": rustEcho, "assemblyscript": assemblyScriptEcho} {
		t.Run(lang, func(t *testing.T) {
			echo := build(t)
			docs := documents(lang != "assemblyscript") // it has UTF-16 inside, and mends what is not UTF-8 as it decodes
			var in bytes.Buffer
			for _, doc := range docs {
				fmt.Fprintf(&in, "%d\n%s", len(doc), doc)
			}
			lines := strings.Split(strings.TrimSuffix(string(echo(t, in.Bytes())), "\n"), "\n")
			if len(lines) != len(docs) {
				t.Fatalf("%d answers for %d documents", len(lines), len(docs))
			}
			for i, doc := range docs {
				compare(t, doc, lines[i])
			}
		})
	}
}

func compare(t *testing.T, doc, got string) {
	t.Helper()
	valid := json.Valid([]byte(doc)) && utf8.ValidString(doc) && !strings.Contains(doc, strings.Repeat("[", 65)) && !strings.Contains(doc, strings.Repeat(`{"a":`, 65))
	if valid == (got == "!") {
		t.Errorf("%.200q: valid is %v, read as %.200s", doc, valid, got)
	}
	if !valid || got == "!" {
		return
	}
	if want, have := values(t, doc), values(t, got); !reflect.DeepEqual(want, have) {
		t.Errorf("%.200q: encoding/json reads %.200v, the SDK %.200v", doc, want, have)
	}
}

func values(t *testing.T, doc string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Errorf("%.200q: %v", doc, err)
	}
	return v
}

// documents are some at the edges of JSON, and more put together at random from a
// fixed seed, half of them with a byte changed.
func documents(anyBytes bool) []string {
	docs := []string{
		` `, `null`, ` true `, `nul`, `truex`, `"`, `"a`, `"\`, `"\u12`, `"\u123g"`, `"\u+123"`, `"\x"`, "\"\x00\"", "\"\n\"", "\"\x7f\"", "\x00", "[\x00]", `nullx`,
		`"\u0000\b\f\n\r\t\/\\\""`, `"\ud83d\ude00"`, `"\uD83D\uDE00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`, `"\ud83d\n"`, `"\ud83d\\"`,
		"\"\xf0\x9f\x98\x80 é\"", "\xef\xbb\xbf1", `0`, `-0`, `-`, `+1`, `01`, `1.`, `.5`, `1.5`, `1e`, `1E+5`, `1e-05`, `1 2`, `1,`, `NaN`, `00`, `-01`,
		`[]`, `[ ]`, `[1,]`, `[,1]`, `[1 2]`, `[[],{},""]`, `[`, `]`, `[1}`, `{}`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":{"b":["}",{"c":null}]}}`, `{1:2}`, `{`, `{"a":1`, `{"\u0061":1}`,
		strings.Repeat("[", 64) + strings.Repeat("]", 64), strings.Repeat("[", 65) + strings.Repeat("]", 65), strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65),
	}
	if anyBytes {
		docs = append(docs, "\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf0\x9f\x98\"")
	}
	r := rand.New(rand.NewPCG(3, 5))
	for i := range 3000 {
		doc := []byte(value(r, 5))
		if i%2 == 1 {
			doc[r.IntN(len(doc))] = `{}[]",:\u0e1- x`[r.IntN(15)]
		}
		if anyBytes || utf8.Valid(doc) {
			docs = append(docs, string(doc))
		}
	}
	return docs
}

func value(r *rand.Rand, depth int) string {
	scalars := []string{`null`, `true`, `-12`, `0.5e3`, `"a\"b"`, `"\ud83d\ude00é"`, `""`, `"\\"`, `"]},"`, ` 7 `, `"日本"`}
	if depth == 0 || r.IntN(3) == 0 {
		return scalars[r.IntN(len(scalars))]
	}
	items := make([]string, r.IntN(4))
	object := r.IntN(2) == 0
	for i := range items {
		items[i] = value(r, depth-1)
		if object {
			items[i] = fmt.Sprintf("\"k\\u00%02x\" :%s", 0x41+i, items[i])
		}
	}
	if object {
		return "{" + strings.Join(items, " ,") + "}"
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// lay puts the SDK of a language and a program beside it into a folder.
func lay(t *testing.T, lang, program string) string {
	t.Helper()
	dir := t.TempDir()
	all := Files(lang)
	text, err := os.ReadFile(filepath.Join("testdata", program))
	if err != nil {
		t.Fatal(err)
	}
	all[program] = text
	for name, data := range all {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// missing skips the test, or fails it where all tools must be there.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("SPEC_KITTY_TEST_TOOLS") == "all" {
		t.Fatal("there is no " + what)
	}
	t.Skip("there is no " + what)
}

// rustEcho runs the reader as a program of this machine.
func rustEcho(t *testing.T) func(*testing.T, []byte) []byte {
	if _, err := exec.LookPath("rustc"); err != nil {
		missing(t, "rustc")
	}
	dir := lay(t, "rust", "echo.rs")
	program := filepath.Join(dir, "echo")
	if out, err := exec.Command("rustc", "--edition", "2021", "-O", "-o", program, filepath.Join(dir, "echo.rs")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(t *testing.T, in []byte) []byte {
		cmd := exec.Command(program)
		cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// assemblyScriptEcho runs it as a guest: the language has no other way.
func assemblyScriptEcho(t *testing.T) func(*testing.T, []byte) []byte {
	modules := os.Getenv("NODE_MODULES")
	if modules == "" {
		missing(t, "folder NODE_MODULES with assemblyscript")
	}
	dir := lay(t, "assemblyscript", "echo.ts")
	build := exec.Command("node", filepath.Join(modules, "assemblyscript/bin/asc.js"), "echo.ts", "--outFile", "echo.wasm",
		"--runtime", "stub", "-O", "--exportStart", "_start", "--use", "abort=wasi/abort")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wasm, err := os.ReadFile(filepath.Join(dir, "echo.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, in []byte) []byte {
		ctx := context.Background()
		runtime := wazero.NewRuntime(ctx)
		defer runtime.Close(ctx)
		wasi_snapshot_preview1.MustInstantiate(ctx, runtime)
		var out bytes.Buffer
		_, err := runtime.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig().WithStdin(bytes.NewReader(in)).WithStdout(&out).WithStderr(os.Stderr))
		if err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
}
