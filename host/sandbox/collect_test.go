package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stocked is a cache with the code of modules 0, 1, 2… of so many bytes, each
// used an hour after the one before.
func stocked(t *testing.T, h *Host, build string, sizes ...int) {
	t.Helper()
	for i, size := range sizes {
		dir := filepath.Join(cacheRoot(h.opts), build, moduleName(i))
		must(t, os.MkdirAll(filepath.Join(dir, "wazero-x"), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, "wazero-x", moduleName(i)), make([]byte, size), 0o600))
		must(t, os.Chtimes(dir, time.Time{}, time.Date(2026, 3, 1, i, 0, 0, 0, time.UTC)))
	}
}

func moduleName(i int) string { return strings.Repeat(fmt.Sprintf("%02x", i), 32) }

// shown are the modules of a part, as "0/new 2/old".
func shownCodes(codes []Compiled) string {
	var all []string
	for _, c := range codes {
		build := "old"
		if c.Build == buildName() {
			build = "new"
		}
		all = append(all, fmt.Sprintf("%d/%s", c.SHA256[1]-'0', build))
	}
	return strings.Join(all, " ")
}

// Row F6: what was not used for longest goes first; what is pinned stays, but
// only for the build that can use it; a dry call tells the same and drops nothing.
func TestCollect(t *testing.T) {
	const old = "abi1-wazero-v1.0.0-go1.20-linux-amd64"
	for _, c := range []struct {
		name, keep    string
		bytes         int64
		kept, dropped string
	}{
		{"all fit", "", 1000, "3/new 2/new 1/new 0/new 0/old", ""},
		{"none fit", "", 0, "", "3/new 2/new 1/new 0/new 0/old"},
		{"the least used go", "", 30, "3/new 2/new", "1/new 0/new 0/old"},
		{"a smaller one behind does not slip in", "", 25, "3/new", "2/new 1/new 0/new 0/old"},
		{"pinned stays and does not count", "0", 30, "3/new 2/new 0/new", "1/new 0/old"},
		{"pinned alone", "01", 0, "1/new 0/new", "3/new 2/new 0/old"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			stocked(t, h, buildName(), 10, 5, 15, 15)
			stocked(t, h, old, 7)
			keep := map[string]bool{}
			for _, digit := range c.keep {
				keep[moduleName(int(digit-'0'))] = true
			}
			for _, dry := range []bool{true, false} {
				got, err := h.Collect(keep, c.bytes, dry)
				if err != nil || shownCodes(got.Kept) != c.kept || shownCodes(got.Dropped) != c.dropped {
					t.Fatalf("dry %v: kept %q, dropped %q, %v", dry, shownCodes(got.Kept), shownCodes(got.Dropped), err)
				}
			}
			if left, err := h.Collect(keep, c.bytes, true); err != nil || shownCodes(left.Kept) != c.kept || len(left.Dropped) != 0 {
				t.Errorf("left: %+v, %v", left, err)
			}
			if _, err := os.Stat(filepath.Join(cacheRoot(h.opts), old)); strings.Contains(c.dropped, "old") != os.IsNotExist(err) {
				t.Errorf("the folder of the old build: %v", err)
			}
		})
	}
}

// What is not ours is not touched; what dead fillers left goes once it is old.
func TestCollectTouchesOnlyItsOwn(t *testing.T) {
	h := newHost(t)
	root := cacheRoot(h.opts)
	stocked(t, h, buildName(), 10, 10)
	build := filepath.Join(root, buildName())
	outside := t.TempDir()
	must(t, os.Symlink(outside, filepath.Join(build, moduleName(9))))
	must(t, os.WriteFile(filepath.Join(outside, "mine"), nil, 0o600))
	must(t, os.MkdirAll(filepath.Join(root, "notes", moduleName(1)), 0o700))
	filled := moduleName(1) // a filler is at it
	for _, name := range []string{"old.filling", filled + hintMark, "module-1.tmp", "README"} {
		must(t, os.WriteFile(filepath.Join(build, name), nil, 0o600))
	}
	for _, name := range []string{"old.filling", "module-1.tmp", "README"} {
		must(t, os.Chtimes(filepath.Join(build, name), time.Time{}, time.Now().Add(-2*retryFill)))
	}
	if got, err := h.Collect(nil, 0, false); err != nil || shownCodes(got.Dropped) != "0/new" {
		t.Fatalf("%+v, %v", got, err)
	}
	for name, want := range map[string]bool{
		filepath.Join(outside, "mine"): true, filepath.Join(root, "notes", moduleName(1)): true, filepath.Join(build, "README"): true,
		filepath.Join(build, filled): true, filepath.Join(build, filled+hintMark): true, filepath.Join(build, "old.filling"): false, filepath.Join(build, "module-1.tmp"): false,
		filepath.Join(build, moduleName(9)): true, filepath.Join(build, moduleName(0)): false,
	} {
		if _, err := os.Lstat(name); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
}

// A cache that cannot be used is left alone and named; one that is not there yet
// is empty and stays so.
func TestCollectOfNoCache(t *testing.T) {
	h := newHost(t)
	must(t, os.Chmod(h.opts.CacheDir, 0o755))
	if got, err := h.Collect(nil, 0, false); err == nil || !strings.Contains(err.Error(), h.opts.CacheDir) || !strings.Contains(err.Error(), "0700") {
		t.Errorf("%+v, %v", got, err)
	}
	must(t, os.Chmod(h.opts.CacheDir, 0o700))
	for _, dir := range []string{"-", filepath.Join(h.opts.CacheDir, "none")} {
		if got, err := New(Options{CacheDir: dir}).Collect(nil, 0, false); err != nil || got.Dir != "" {
			t.Errorf("%s: %+v, %v", dir, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(h.opts.CacheDir, "none")); err == nil {
		t.Error("the folder was made")
	}
}

// A call tells the cache that its code is of use, and after its code was dropped
// the next call goes on without it.
func TestCallNotesUse(t *testing.T) {
	h := newHost(t)
	p := prepared(t, h, plugin(t, "allow"))
	e := h.cache().entry(p.SHA256)
	long := time.Now().Add(-48 * time.Hour)
	must(t, os.Chtimes(e.dir, time.Time{}, long))
	if _, err := h.Call(context.Background(), p, guardCall()); err != nil {
		t.Fatal(err)
	}
	got, err := h.Collect(nil, 1<<30, true)
	if err != nil || len(got.Kept) != 1 || got.Kept[0].Bytes == 0 || time.Since(got.Kept[0].Used) > useGrain {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := h.Collect(nil, 0, false); err != nil || e.warm() {
		t.Fatalf("still there, %v", err)
	}
	if a, err := h.Call(context.Background(), p, guardCall()); err != nil || !a.Interpreted {
		t.Errorf("%q, interpreted %v, %v", a.Stdout, a.Interpreted, err)
	}
}
