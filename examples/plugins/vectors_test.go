package plugins

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tetratelabs/wazero"

	"github.com/spec-kitty/step-runner/plugins/abi"
)

var update = flag.Bool("update", false, "write what the guests answer into the test data")

// Every archive in NAME/testdata is one call: "call" holds the verb and the
// settings of the step, "packages" (optional) the request's packages, "request"
// (optional) further keys of it, "project/…" the files that the plugin sees, and
// "want" the answer, or "exit N: TEXT" where it has none and TEXT is what it says
// on stderr.
func TestVectors(t *testing.T) {
	engines := map[string]func(*testing.T) engine{
		"guest":  func(t *testing.T) engine { return newGuest(t, wazero.NewRuntimeConfig()) },
		"native": func(t *testing.T) engine { return newNative(t) },
	}
	for kind, build := range engines {
		t.Run(kind, func(t *testing.T) {
			e := build(t)
			plugins := names()
			if kind == "guest" {
				plugins = guests()
			}
			for _, name := range plugins {
				for _, file := range vectors(t, name) {
					t.Run(name+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
						runVector(t, e, name, file)
					})
				}
			}
		})
	}
}

func vectors(t *testing.T, plugin string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(plugin, "testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data for %s: %v", plugin, err)
	}
	return files
}

func runVector(t *testing.T, e engine, plugin, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v := unpack(t, archive)
	verb, with, _ := strings.Cut(v.call, " ")
	got := e.run(t, plugin, []string{verb}, request(t, verb, with, v, e.dir(v.folder)), v.folder)
	answer := shown(t, verb, got)
	if *update && e.dir("") == "/project" {
		save(t, file, archive, answer)
		return
	}
	// A native program has no /project, so it cannot take it off paths.
	answer = strings.ReplaceAll(answer, e.dir(v.folder)+"/", "")
	want := strings.ReplaceAll(v.want, "/project/", "")
	if diff := cmp.Diff(want, answer); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

type vector struct{ call, packages, request, want, folder string }

func unpack(t *testing.T, archive *txtar.Archive) vector {
	v := vector{folder: t.TempDir(), packages: "[]", request: "{}"}
	for _, f := range archive.Files {
		switch f.Name {
		case "call":
			v.call = strings.TrimSpace(string(f.Data))
		case "packages":
			v.packages = string(f.Data)
		case "request":
			v.request = string(f.Data)
		case "want":
			v.want = string(f.Data)
		default:
			path := filepath.Join(v.folder, strings.TrimPrefix(f.Name, "project/"))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return v
}

func request(t *testing.T, verb, with string, v vector, project string) []byte {
	r := abi.Request{
		Verb:    verb,
		Run:     abi.Run{ID: "01KQEJZK00000000000000000A", Mission: "001-demo", Type: "software-dev", Revision: 3},
		Mission: abi.Mission{Dir: project + "/kitty-specs/001-demo"},
		Step:    abi.Step{ID: "specify", Title: "Specification", Attempt: 1},
		Agent:   "a", Result: "success", Now: "2026-11-29T12:00:00Z",
	}
	if err := errors.Join(json.Unmarshal([]byte(v.packages), &r.Packages), json.Unmarshal([]byte(v.request), &r)); err != nil {
		t.Fatal(err)
	}
	if with = strings.TrimSpace(with); with != "" {
		if err := json.Unmarshal([]byte(with), &r.Step.With); err != nil {
			t.Fatal(err)
		}
	}
	data, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// shown is the answer as test data has it. An answer must pass the host's own
// check of answers first.
func shown(t *testing.T, verb string, r result) string {
	t.Helper()
	if r.exit != 0 {
		if len(r.stdout) > 0 {
			t.Errorf("exit %d, and yet an answer: %s", r.exit, r.stdout)
		}
		return "exit " + string(rune('0'+r.exit%10)) + ": " + string(r.stderr)
	}
	if err := decode(verb, r.stdout); err != nil {
		t.Fatalf("the host would not take this answer: %v\n%s", err, r.stdout)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, r.stdout, "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func decode(verb string, stdout []byte) error {
	var err error
	switch verb {
	case abi.Guard:
		_, err = abi.DecodeGuard(stdout)
	case abi.Execute:
		_, err = abi.DecodeExecute(stdout)
	default:
		_, err = abi.DecodeDescribe(stdout)
	}
	return err
}

func save(t *testing.T, file string, archive *txtar.Archive, answer string) {
	for i := range archive.Files {
		if archive.Files[i].Name == "want" {
			archive.Files[i].Data = []byte(answer)
		}
	}
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
