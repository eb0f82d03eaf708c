package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// newHost is a Host with an empty cache of its own; its fillers are waited for
// at the end.
func newHost(t *testing.T) *Host {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h := New(Options{CacheDir: dir})
	t.Cleanup(func() { h.reap(true) })
	return h
}

// plugin is a guest of testdata.
func plugin(t *testing.T, name string, args ...string) Plugin {
	t.Helper()
	wasm, err := os.ReadFile(filepath.Join("testdata", name+".wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return Plugin{Name: name, Wasm: wasm, SHA256: hexSum(wasm), Args: args}
}

func prepared(t *testing.T, h *Host, p Plugin) Plugin {
	t.Helper()
	if err := h.Prepare(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	return p
}

func guardCall() Call {
	return Call{Verb: "guard", Request: []byte("{}"), Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

func mustFail(t *testing.T, err error, code Code) *Failure {
	t.Helper()
	var f *Failure
	if !errors.As(err, &f) || f.Code != code {
		t.Fatalf("got %v, want a failure of code %s", err, code)
	}
	return f
}

// bounded ends a call that nothing else ends, so that a test of a missing
// deadline is red in time.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	t.Cleanup(cancel)
	return ctx
}
