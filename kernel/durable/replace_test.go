package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

type write func(d durable.Disk, path string, data []byte, perm fs.FileMode) error

func read(t testing.TB, d durable.Disk, path string) []byte {
	t.Helper()
	data, err := durable.ReadFile(d, path, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func put(t testing.TB, d durable.Disk, path string, data string) {
	t.Helper()
	if err := durable.Replace(d, path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// disks runs a test on the real disk and on the one in memory.
func disks(t *testing.T, test func(t *testing.T, d durable.Disk, dir string)) {
	t.Run("os", func(t *testing.T) { test(t, durable.OS(), t.TempDir()) })
	t.Run("mem", func(t *testing.T) { test(t, durable.NewMem(), "/") })
}

func TestReplaceAndPublish(t *testing.T) {
	disks(t, func(t *testing.T, d durable.Disk, dir string) {
		for name, w := range map[string]write{"replace": durable.Replace, "publish": durable.Publish} {
			path := filepath.Join(dir, name)
			for _, data := range []string{"old, and longer", "new", ""} {
				if err := w(d, path, []byte(data), 0o640); err != nil {
					t.Fatal(err)
				}
				if got := read(t, d, path); string(got) != data {
					t.Errorf("%s: %q", name, got)
				}
			}
			if info, err := d.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
		noTemps(t, d, dir)
	})
}

func noTemps(t *testing.T, d durable.Disk, dir string) {
	t.Helper()
	entries, err := d.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if durable.IsTemp(e.Name()) {
			t.Errorf("left: %s", e.Name())
		}
	}
}

// FR-006, SC-003 (v): two writers to one folder. The second writes its whole
// file between the first one's write and rename; with one temporary name for
// both, the first would publish the second's bytes or fail.
func TestTwoWritersOneFolder(t *testing.T) {
	disks(t, func(t *testing.T, d durable.Disk, dir string) {
		path := filepath.Join(dir, "state.json")
		var once sync.Once
		first := &durable.Faulty{Disk: d, Before: func(_ int, op durable.Op) {
			if op.Kind == "rename" {
				once.Do(func() {
					if err := durable.Publish(d, path, []byte("second"), 0o644); err != nil {
						t.Errorf("second: %v", err)
					}
					if got := read(t, d, path); string(got) != "second" {
						t.Errorf("second published %q", got)
					}
				})
			}
		}}
		if err := durable.Publish(first, path, []byte("first writer's content"), 0o644); err != nil {
			t.Errorf("first: %v", err)
		}
		if got := read(t, d, path); string(got) != "first writer's content" {
			t.Errorf("first published %q", got)
		}
		noTemps(t, d, dir)
	})
}

// FR-006 from a barrier: whatever is read is whole.
func TestManyWriters(t *testing.T) {
	d, path := durable.OS(), filepath.Join(t.TempDir(), "state.json")
	put(t, d, path, strings.Repeat("x", 100))
	var all sync.WaitGroup
	gate := make(chan struct{})
	for w := range 8 {
		all.Go(func() {
			<-gate
			for range 20 {
				if err := durable.Publish(d, path, bytes.Repeat([]byte{byte('a' + w)}, 1000*(w+1)), 0o644); err != nil {
					t.Error(err)
				}
				got, err := durable.ReadFile(d, path, 1<<20)
				if err != nil || len(got) == 0 || bytes.Count(got, got[:1]) != len(got) || len(got) != 1000*int(got[0]-'a'+1) && len(got) != 100 {
					t.Errorf("read %d bytes, %v", len(got), err)
				}
			}
		})
	}
	close(gate)
	all.Wait()
}

// A repair may take a live writer's temporary file for a dead one's.
func TestTempRemovedUnderWriter(t *testing.T) {
	disks(t, func(t *testing.T, d durable.Disk, dir string) {
		removed := false
		w := &durable.Faulty{Disk: d, Before: func(_ int, op durable.Op) {
			if op.Kind == "rename" && !removed {
				removed = true
				if err := durable.RemoveTemps(d, dir); err != nil {
					t.Error(err)
				}
			}
		}}
		if err := durable.Publish(w, filepath.Join(dir, "p.md"), []byte("text"), 0o644); err != nil || !removed {
			t.Errorf("%v, %v", removed, err)
		}
		if got := read(t, d, filepath.Join(dir, "p.md")); string(got) != "text" {
			t.Errorf("published %q", got)
		}
	})
}

func TestRemoveTempsKeepsTheRest(t *testing.T) {
	d := durable.OS()
	dir := t.TempDir()
	keep := []string{"state.json", ".gitignore", ".tmp-0123456789abcdef", "x.tmp-0123456789abcdef", ".x.tmp-12", ".notes.tmp-2026-11-30-final"}
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	for _, name := range append(keep, ".state.json.tmp-0123456789abcdef", "sub/.p.md.tmp-0123456789abcdef") {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := durable.RemoveTemps(d, dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(keep)+1 {
		t.Errorf("left %v, %v", entries, err)
	}
	noTemps(t, d, filepath.Join(dir, "sub"))
}

// Fail each operation of a Replace: the old content or the new, never another,
// no temporary file unless its removal failed, and the next one works.
func TestSweepErrors(t *testing.T) {
	for n := 0; ; n++ {
		mem := durable.NewMem()
		put(t, mem, "/f", "old")
		faulty := &durable.Faulty{Disk: mem, Fail: durable.FailAt(n), Short: 2}
		err := durable.Replace(faulty, "/f", []byte("new"), 0o644)
		if got := string(read(t, mem, "/f")); got != "old" && got != "new" || err == nil && got != "new" {
			t.Errorf("operation %d: %q, %v", n, got, err)
		}
		noTemps(t, mem, "/")
		put(t, mem, "/f", "newer")
		if faulty.Count() <= n {
			if n < 5 {
				t.Errorf("only %d operations", n)
			}
			return
		}
		if !errors.Is(err, durable.ErrInjected) {
			t.Errorf("operation %d: %v", n, err)
		}
	}
}

// Take the power before each operation of a Replace.
func TestSweepCrashes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, choose := range map[string]durable.Chooser{"nothing": durable.Nothing, "everything": durable.Everything, "some": rng.IntN} {
		for n := 0; ; n++ {
			mem := durable.NewMem()
			put(t, mem, "/f", "old content")
			var left *durable.Mem
			faulty := &durable.Faulty{Disk: mem, Before: func(i int, _ durable.Op) {
				if i == n {
					left = mem.Crash(4, choose)
				}
			}}
			if err := durable.Replace(faulty, "/f", []byte("new content"), 0o644); err != nil {
				t.Fatal(err)
			}
			ended := left == nil
			if ended {
				left = mem.Crash(4, choose)
			}
			got := string(read(t, left, "/f"))
			if got != "old content" && got != "new content" || ended && got != "new content" {
				t.Errorf("%s survived of operation %d: %q", name, n, got)
			}
			if ended {
				break
			}
		}
	}
}

func TestReadFileIsBounded(t *testing.T) {
	disks(t, func(t *testing.T, d durable.Disk, dir string) {
		path := filepath.Join(dir, "f")
		put(t, d, path, "12345")
		if _, err := durable.ReadFile(d, path, 4); err == nil {
			t.Error("a file over the limit passed")
		}
		if _, err := durable.ReadFile(d, filepath.Join(dir, "none"), 4); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing file: %v", err)
		}
	})
}

func TestMkdirAllIsDurable(t *testing.T) {
	mem := durable.NewMem()
	if err := durable.MkdirAll(mem, "/a/b/c", 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := mem.Crash(512, durable.Nothing).Stat("/a/b/c"); err != nil {
		t.Error(err)
	}
	put(t, mem, "/a/f", "x")
	if err := durable.MkdirAll(mem, "/a/f/d", 0o755); err == nil {
		t.Error("made a folder in a file")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := durable.MkdirAll(durable.OS(), link, 0o755); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in the place of a link that leads nowhere: %v", err)
	}
}

func TestFaultyCounts(t *testing.T) {
	f := &durable.Faulty{Disk: durable.NewMem()}
	put(t, f, "/f", "x")
	put(t, f, "/f", "y")
	if got := fmt.Sprint(f.Kind("sync"), f.Kind("syncdir"), f.Kind("rename"), f.Kind("open"), f.Kind("write")); got != "2 2 2 2 2" {
		t.Errorf("counts %s of %d", got, f.Count())
	}
	f.Reset()
	if f.Count() != 0 || f.Kind("sync") != 0 {
		t.Error("not reset")
	}
}
