package plugins

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tetratelabs/wazero"
	"go.uber.org/goleak"

	"github.com/spec-kitty/step-runner/host/bundle"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// TestMain lets this binary be the sandbox's child, as a program's main does.
func TestMain(m *testing.M) {
	sandbox.ChildMain()
	goleak.VerifyTestMain(m)
}

var hostTimes = flag.Int("times", 8, "how often the host is asked for the same answer")

// repeated is the vector that is asked for again and again.
func repeated(t *testing.T) map[string]string {
	calls := map[string]string{
		"changelog": "adds", "clarify": "settled", "links": "broken", "scaffold": "ring", "spec-lint": "sections",
		"test-gate": "failed", "trace": "gaps", "wp-graph": "sections",
	}
	if len(calls) != len(guests()) {
		t.Errorf("%d plugins, calls of %d", len(guests()), len(calls))
	}
	return calls
}

// The same request and files give the same answer, a hundred times compiled, a
// hundred times interpreted, and from the host with its child processes (P6).
func TestSameAnswer100Times_P6(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of calls")
	}
	compiled, interpreted := newGuest(t, wazero.NewRuntimeConfigCompiler()), newGuest(t, wazero.NewRuntimeConfigInterpreter())
	for name, file := range repeated(t) {
		t.Run(name, func(t *testing.T) {
			plugin, call := calling(t, name, name+"/testdata/"+file+".txtar")
			folder := call.Mounts[0].Host
			want := compiled.run(t, name, []string{call.Verb}, call.Request, folder).stdout
			for i := range 100 {
				mustSay(t, want, compiled.run(t, name, []string{call.Verb}, call.Request, folder).stdout)
				if (name == "links" || name == script) && i >= 5 {
					continue // a guest in Go, or an engine, is slow to interpret
				}
				mustSay(t, want, interpreted.run(t, name, []string{call.Verb}, call.Request, folder).stdout)
			}
			compiling := sandbox.New(sandbox.Options{CacheDir: privateFolder(t)})
			if err := compiling.Prepare(context.Background(), plugin); err != nil {
				t.Fatal(err)
			}
			for range *hostTimes {
				mustSay(t, want, answerOf(t, compiling, plugin, call, false))
			}
			interpreting := sandbox.New(sandbox.Options{CacheDir: "-"})
			mustSay(t, want, answerOf(t, interpreting, plugin, call, true))
		})
	}
}

// calling is the call of a vector.
func calling(t *testing.T, name, file string) (sandbox.Plugin, sandbox.Call) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v := unpack(t, archive)
	verb, with, _ := strings.Cut(v.call, " ")
	wasm := wasmOf(t, name)
	sum := sha256.Sum256(wasm)
	return sandbox.Plugin{Name: name, Wasm: wasm, SHA256: hex.EncodeToString(sum[:]), Bundle: bundleOf(t, name), Limits: sandbox.Limits{Timeout: time.Minute}},
		sandbox.Call{
			Verb: verb, Request: request(t, verb, with, v, abi.ProjectDir),
			Mounts: []sandbox.Mount{{Guest: abi.ProjectDir, Host: v.folder}},
			Reads:  []string{abi.ProjectDir}, Now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC),
		}
}

// bundleOf is a plugin's own folder, packed; nil where it has none.
func bundleOf(t *testing.T, name string) []byte {
	t.Helper()
	if name != script {
		return nil
	}
	packed, err := bundle.PackFolder(filepath.Join(name, "src"))
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func answerOf(t *testing.T, h *sandbox.Host, p sandbox.Plugin, c sandbox.Call, interpreted bool) []byte {
	t.Helper()
	a, err := h.Call(context.Background(), p, c)
	if err != nil || len(a.Stdout) == 0 || a.Interpreted != interpreted {
		t.Fatalf("%q, interpreted %v, %v", a.Stdout, a.Interpreted, err)
	}
	return a.Stdout
}

func mustSay(t *testing.T, want, got []byte) {
	t.Helper()
	if len(want) == 0 || !bytes.Equal(want, got) {
		t.Fatalf("once %s, now %s", want, got)
	}
}

func privateFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
