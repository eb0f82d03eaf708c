package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An author sees the whole log of a call that failed, and may send any verb.
func TestWatchTellsOfFailures(t *testing.T) {
	h := newHost(t)
	c := guardCall()
	c.Verb = "no-such-verb"
	seen, err := h.Watch(context.Background(), prepared(t, h, plugin(t, "exit3")), c)
	if err != nil {
		t.Fatal(err)
	}
	if seen.Failure == nil || seen.Failure.Code != Exited || seen.Failure.Exit != 3 || seen.Elapsed <= 0 {
		t.Errorf("%+v", seen)
	}
	seen, err = h.Watch(context.Background(), prepared(t, h, plugin(t, "allow")), c)
	if err != nil || seen.Failure != nil || !strings.Contains(string(seen.Stdout), "allow") {
		t.Errorf("%+v, %v", seen, err)
	}
	_, err = h.Call(context.Background(), plugin(t, "allow"), c)
	mustFail(t, err, ChildFailed)
}

// To look whether code is cached makes no folder.
func TestCachedOnlyLooks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	p := plugin(t, "allow")
	if New(Options{CacheDir: dir}).Cached(p.SHA256) {
		t.Error("cached in a folder that is not there")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("looking made the folder")
	}
	h := newHost(t)
	if h.Cached(p.SHA256) {
		t.Error("cached before it was prepared")
	}
	prepared(t, h, p)
	if !h.Cached(p.SHA256) {
		t.Error("not cached after it was prepared")
	}
}

func TestInspect(t *testing.T) {
	m := Inspect(plugin(t, "allow").Wasm)
	want := Item{Module: wasiModule, Name: "fd_write", Kind: "function"}
	if m.Problem != "" || m.Memory != wasmPage || len(m.Imports) != 1 || m.Imports[0] != want || len(m.Exports) != 2 {
		t.Errorf("%+v", m)
	}
	if m := Inspect(plugin(t, "unknown").Wasm); m.Problem == "" || len(m.Imports) == 0 {
		t.Errorf("unknown imports: %+v", m)
	}
	if m := Inspect([]byte("no module\x1b[2J")); m.Problem == "" || m.Imports != nil {
		t.Errorf("no module: %+v", m)
	}
}
