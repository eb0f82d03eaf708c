package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// codeFile is the cache's one file for a plugin.
func codeFile(t *testing.T, h *Host, p Plugin) string {
	t.Helper()
	e := h.cache().entry(p.SHA256)
	files, err := os.ReadDir(e.codeDir())
	if err != nil || len(files) != 1 {
		t.Fatalf("the cache holds %v (%v) in %s, want one file", files, err, e.codeDir())
	}
	return filepath.Join(e.codeDir(), files[0].Name())
}

// A bad entry is found out, answered for all the same, and made anew.
func TestDamagedEntryHeals(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"empty":     func(b []byte) []byte { return nil },
		"truncated": func(b []byte) []byte { return b[:len(b)/2] },
		"garbage":   func(b []byte) []byte { return []byte(strings.Repeat("x", len(b))) },
		"code":      func(b []byte) []byte { b[len(b)/2] ^= 0xff; return b },
		"offset": func(b []byte) []byte { // not under the checksum: the child crashes
			at := len("WAZEVO") + 1 + len(wazeroVersion()) + 4
			for i := range 8 {
				b[at+i] = 0x7f
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			p := prepared(t, h, plugin(t, "allow"))
			file := codeFile(t, h, p)
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			a, err := h.Call(context.Background(), p, guardCall())
			if err != nil || !a.Interpreted {
				t.Fatalf("with a damaged entry: %q, interpreted %v, %v", a.Stdout, a.Interpreted, err)
			}
			h.reap(true)
			a, err = h.Call(context.Background(), p, guardCall())
			if err != nil || a.Interpreted {
				t.Errorf("after it was made anew: interpreted %v, %v", a.Interpreted, err)
			}
		})
	}
}

// An entry made for another processor is a miss, and stays.
func TestForeignEntryIsAMiss(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere the child compiles it into the cache by itself")
	}
	h := newHost(t)
	p := prepared(t, h, plugin(t, "allow"))
	file := codeFile(t, h, p)
	other := filepath.Join(filepath.Dir(file), strings.Repeat("a", 64))
	if err := os.Rename(file, other); err != nil {
		t.Fatal(err)
	}
	if a, err := h.Call(context.Background(), p, guardCall()); err != nil || !a.Interpreted {
		t.Fatalf("interpreted %v, %v", a.Interpreted, err)
	}
	h.reap(true)
	if a, err := h.Call(context.Background(), p, guardCall()); err != nil || a.Interpreted {
		t.Errorf("interpreted %v, %v", a.Interpreted, err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error("the other entry is gone: ", err)
	}
}

// No trouble with the cache fails a call; a cache that others can write to, or
// that lies in the project, is not used.
func TestUnusableCache(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and links")
	}
	for name, setUp := range map[string]func(dir string) Options{
		"none": func(string) Options { return Options{CacheDir: "-"} },
		"open": func(dir string) Options { must(t, os.Chmod(dir, 0o755)); return Options{CacheDir: dir} },
		"in project": func(dir string) Options {
			must(t, os.Chmod(dir, 0o700))
			return Options{CacheDir: dir, Project: filepath.Dir(dir)}
		},
		"link": func(dir string) Options {
			must(t, os.Chmod(dir, 0o700))
			must(t, os.Symlink(dir, dir+"-link"))
			return Options{CacheDir: dir + "-link"}
		},
		"file": func(dir string) Options {
			must(t, os.WriteFile(dir+"/file", nil, 0o600))
			return Options{CacheDir: dir + "/file/cache"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			h := New(setUp(dir))
			p := plugin(t, "allow")
			must(t, h.Prepare(context.Background(), p))
			if a, err := h.Call(context.Background(), p, guardCall()); err != nil || !a.Interpreted {
				t.Errorf("interpreted %v, %v", a.Interpreted, err)
			}
			h.reap(true)
			left, err := filepath.Glob(filepath.Join(dir, "abi*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left in the folder: %v, %v", left, err)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTwoFillOneCache(t *testing.T) {
	h := newHost(t)
	other := New(h.opts)
	p := plugin(t, "files")
	var all sync.WaitGroup
	for _, host := range []*Host{h, other, h, other} {
		all.Go(func() {
			if err := host.Prepare(context.Background(), p); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	codeFile(t, h, p) // one, and nothing half-written beside it
}

// Time that runs out in the interpreter is not the plugin's: it is called once
// more, compiled.
func TestSlowInterpreterIsNotATimeout(t *testing.T) {
	t.Parallel()
	h := New(Options{CacheDir: "-"})
	p := plugin(t, "compute")
	p.Limits.Timeout = 2 * time.Second
	a, err := h.Call(context.Background(), p, guardCall())
	if err != nil {
		t.Fatal(err)
	}
	if a.Interpreted {
		t.Skip("this machine's interpreter was quick enough")
	}
}

// A filler that gave nothing is not started again with each call.
func TestFillerStepsBackAfterFailure(t *testing.T) {
	h := newHost(t)
	e := h.cache().entry(strings.Repeat("0", 64))
	now := time.Now()
	if !e.claim(now) {
		t.Fatal("the first claim is refused")
	}
	if e.claim(now) {
		t.Error("a second filler would be started")
	}
	if !e.claim(now.Add(retryFill + time.Minute)) {
		t.Error("no filler would ever be started again")
	}
}

// A filler has the compile limit and its own end: nobody waits for it to stop it.
func TestFillerEndsInTime(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	p := Plugin{Name: "bomb", Wasm: bomb(20_000), Limits: Limits{CompileTime: 200 * time.Millisecond}}
	p.SHA256 = hexSum(p.Wasm)
	if a, err := h.Call(bounded(t), p, guardCall()); err != nil || !a.Interpreted {
		t.Fatalf("interpreted %v, %v", a.Interpreted, err)
	}
	begun := time.Now()
	h.reap(true)
	if took := time.Since(begun); took > 10*time.Second || h.Cached(p.SHA256) {
		t.Errorf("it took %v more, and the code is there: %v", took, h.Cached(p.SHA256))
	}
}

// A disk that takes no code fails no call, neither where a folder cannot be made nor
// where there is no room for the code.
func TestCacheThatTakesNothing(t *testing.T) {
	p := plugin(t, "files")
	for name, spoil := range map[string]func(t *testing.T, h *Host){
		"a file in the build's place":  func(t *testing.T, h *Host) { must(t, os.WriteFile(h.cache().dir, nil, 0o600)) },
		"a file in the module's place": func(t *testing.T, h *Host) { takenBy(t, h.cache().entry(p.SHA256).dir) },
		"a file in the code's place":   func(t *testing.T, h *Host) { takenBy(t, h.cache().entry(p.SHA256).codeDir()) },
		"no room":                      noRoom,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			spoil(t, h)
			for range 2 {
				must(t, h.Prepare(context.Background(), p))
				if a, err := h.Call(context.Background(), p, filesCall(t.TempDir())); err != nil || !a.Interpreted {
					t.Fatalf("interpreted %v, %v", a.Interpreted, err)
				}
				h.reap(true)
			}
		})
	}
}

// takenBy puts a file where a folder is to be.
func takenBy(t *testing.T, path string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, nil, 0o600))
}

// noRoom lets children write files of a kilobyte at most.
func noRoom(t *testing.T, h *Host) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no such limits")
	}
	self, err := os.Executable()
	must(t, err)
	h.opts.Exe = filepath.Join(t.TempDir(), "limited")
	must(t, os.WriteFile(h.opts.Exe, []byte("#!/bin/sh\nulimit -f 2\nexec '"+self+"' \"$@\"\n"), 0o700))
}

func TestFillerLeavesNothing(t *testing.T) {
	h := newHost(t)
	p := plugin(t, "allow")
	if _, err := h.Call(context.Background(), p, guardCall()); err != nil {
		t.Fatal(err)
	}
	h.reap(true)
	codeFile(t, h, p)
	left, err := os.ReadDir(h.cache().dir)
	if err != nil || len(left) != 1 || left[0].Name() != p.SHA256 {
		t.Errorf("left in the cache: %v, %v", left, err)
	}
}

// The build's name in the path is what keeps stale machine code from running.
func TestCacheNamesItsBuild(t *testing.T) {
	name := buildName()
	for _, part := range []string{"abi1", "wazero-", strings.ReplaceAll(runtime.Version(), " ", "_"), runtime.GOOS, runtime.GOARCH} {
		if !strings.Contains(name, part) {
			t.Errorf("%q does not hold %q", name, part)
		}
	}
}
