package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var torture = flag.Bool("torture", false, "run the whole hostile suite, each guest many times, with and without a cache")

// hostile is one attempt of a guest, and how it must end: by a code, or with the
// answer that says what the attempt came to.
type hostile struct {
	row     string // of the table of hazards: A time, B bytes, C memory, D output, E files, G form
	name    string
	guest   string // of testdata
	wasm    []byte // or the bytes
	args    []string
	request string
	limits  Limits
	reads   bool // the call sees a project with links out of it
	code    Code
	says    string // in the failure's words, or as the answer
}

const hostileLimit = 250 * time.Millisecond

// hostiles are the whole suite but for the cache's part (cache_test.go).
func hostiles() []hostile {
	quick := Limits{Timeout: hostileLimit, CompileTime: hostileLimit}
	nan := `{"verdict":"allow","n":NaN}`
	all := []hostile{
		{row: "A1", name: "endless loop", guest: "loop", limits: quick, code: TimeLimit},
		{row: "A2", name: "exponential recursion, no loop", guest: "fib", limits: quick, code: TimeLimit},
		{row: "A2", name: "exponential call chain", wasm: chain(60), limits: quick, code: TimeLimit},
		{row: "A2", name: "fill storm", guest: "storm", args: []string{"f"}, limits: quick, code: TimeLimit},
		{row: "A2", name: "copy storm", guest: "storm", args: []string{"c"}, limits: quick, code: TimeLimit},
		{row: "A2", name: "random storm", guest: "storm", args: []string{"r"}, limits: quick, code: TimeLimit},
		{row: "A4", name: "reads stdin for ever", guest: "waits", args: []string{"r"}, limits: quick, code: TimeLimit},
		{row: "A4", name: "polls stdin for ever", guest: "waits", args: []string{"p"}, limits: quick, code: TimeLimit},
		{row: "A5", name: "sleeps for ever", guest: "waits", args: []string{"s"}, limits: quick, code: TimeLimit},
		{row: "A5", name: "yields for ever", guest: "waits", args: []string{"y"}, limits: quick, code: TimeLimit},
		{row: "A5", name: "sleeps a day, which costs nothing", guest: "sleep", says: "24"},
		{row: "A6", name: "exit code of a time-out", guest: "faketimeout", code: Exited, says: "4026531839"},
		{row: "A7", name: "straight-line compile bomb", wasm: bomb(20_000), limits: Limits{CompileTime: hostileLimit}},
		{row: "B2", name: "nested loops compile bomb", wasm: nest(2000, 256), limits: Limits{CompileTime: hostileLimit}},
		{row: "B4", name: "table growth at once", guest: "tables", args: []string{"l"}, code: MemoryLimit, says: "its tables"},
		{row: "B4", name: "table growth beyond the data", guest: "tables", args: []string{"m"}, code: MemoryLimit, says: "its tables"},
		{row: "B4", name: "table growth by steps", guest: "tables", args: []string{"s"}, code: MemoryLimit, says: "its tables"},
		{row: "B5", name: "start section", guest: "startsection", code: BadModule, says: "start section"},
		{row: "B6", name: "renumber to the sky", guest: "files", args: []string{"h", "docs/a.md"}, reads: true, says: notSupp},
		{row: "B7", name: "opens all, reads all at once", guest: "opens", reads: true, says: "06"},
		{row: "B8", name: "escapes in the log", guest: "ansi", code: Trapped, says: "unreachable"},
		{row: "C1", name: "memory growth", guest: "grow", limits: Limits{Memory: 16 << 20}, code: MemoryLimit, says: "16 MiB"},
		{row: "C4", name: "endless recursion", guest: "recurse", code: StackOverflow, says: "too deep"},
		{row: "C4", name: "recursion on a stack of its own, unchecked", guest: "shadow", code: Trapped, says: "out of bounds memory"},
		{row: "D1", name: "output flood", guest: "flood", code: OutputLimit, says: "1048576 bytes"},
		{row: "D1", name: "log flood", guest: "logflood", code: LogLimit, says: "262144 bytes"},
		{row: "D2", name: "exit code", guest: "exit3", code: Exited, says: "exit code 3"},
		{row: "D2", name: "crash", guest: "trap", code: Trapped, says: "unreachable"},
		{row: "D2", name: "silence", guest: "silent", code: BadAnswer},
		{row: "D3", name: "a stray print", guest: "stray", code: BadAnswer},
		{row: "D3", name: "two documents", guest: "two", code: BadAnswer},
		{row: "E1", name: "link out", guest: "files", args: []string{"r", "docs/relative"}, reads: true, says: notPerm},
		{row: "E1", name: "absolute link out", guest: "files", args: []string{"r", "docs/absolute"}, reads: true, says: notPerm},
		{row: "E1", name: "linked folder out", guest: "files", args: []string{"r", "docs/folder/secret.md"}, reads: true, says: notPerm},
		{row: "E2", name: "dots out", guest: "files", args: []string{"r", "docs/../../outside/secret.md"}, reads: true, says: notPerm},
		{row: "E2", name: "absolute path", guest: "files", args: []string{"r", "/etc/passwd"}, reads: true, says: notPerm},
		{row: "E3", name: "writing", guest: "files", args: []string{"w", "docs/a.md"}, reads: true, says: readOnlyE},
		{row: "E3", name: "creating", guest: "files", args: []string{"c", "docs/new.md"}, reads: true, says: readOnlyE},
		{row: "E3", name: "cutting through a link", guest: "files", args: []string{"t", "docs/relative"}, reads: true, says: readOnlyE},
		{row: "E3", name: "removing", guest: "files", args: []string{"u", "docs/a.md"}, reads: true, says: readOnlyE},
		{row: "E8", name: "listing the project", guest: "files", args: []string{"l", "."}, reads: true, says: ".\n..\ndocs\nkitty-specs\n"},
		{row: "G", name: "not WebAssembly", wasm: []byte("#!/bin/sh\n"), code: BadModule, says: "not WebAssembly"},
		{row: "G", name: "component", wasm: []byte("\x00asm\x0d\x00\x01\x00"), code: BadModule, says: "component"},
		{row: "G", name: "threads", wasm: []byte(magic + section(5, "\x01\x03\x01\x01")), code: BadModule, says: "threads"},
		{row: "G", name: "unknown import", guest: "unknown", code: BadModule, says: "env.abort"},
		{row: "G", name: "no _start", guest: "nostart", code: BadModule, says: "_start"},
		{row: "G", name: "no memory", guest: "nomemory", code: BadModule, says: "memory"},
		{row: "B1", name: "import count", wasm: []byte(magic + section(2, huge)), code: BadModule, says: "more items"},
		{row: "B1", name: "locals", wasm: []byte(magic + section(10, "\x01\x08\x01"+huge+"\x7f\x0b")), code: BadModule, says: "local variables"},
		{row: "C3", name: "begins above the limit", wasm: bomb(1, 2000), limits: Limits{Memory: 16 << 20}, code: MemoryLimit, says: "begins with"},
	}
	for name, answer := range map[string]string{
		"garbage": "\x7fELF", "no object": "[]", "NaN": nan, "huge number": `{"verdict":1e999}`, "doubled key": `{"verdict":"allow","verdict":"refuse"}`,
		"invalid UTF-8": "{\"verdict\":\"error\",\"message\":\"\xff\"}", "unknown key": `{"verdict":"allow","also":1}`, "null": `{"verdict":null}`,
		"deep nesting": strings.Repeat("[", 100_000), "deep object": strings.Repeat(`{"a":`, 100_000), "key in other letters": `{"Verdict":"allow"}`,
		"cut off": `{"verdict":"allow"`, "a mark": "\ufeff" + `{"verdict":"allow"}`,
	} {
		all = append(all, hostile{row: "D3", name: name, guest: "cat", request: answer, code: BadAnswer})
	}
	return all
}

// chain is a module in which each function calls the one before it twice.
func chain(n int) []byte {
	body := func(code string) string {
		return string(binary.AppendUvarint(nil, uint64(len(code)+2))) + "\x00" + code + "\x0b"
	}
	funcs, code := "", body("")
	for i := range n {
		funcs += "\x00"
		call := "\x10" + string(binary.AppendUvarint(nil, uint64(i)))
		code += body(call + call)
	}
	count := string(binary.AppendUvarint(nil, uint64(n+1)))
	last := string(binary.AppendUvarint(nil, uint64(n)))
	return []byte(magic + section(1, "\x01\x60\x00\x00") + section(3, count+"\x00"+funcs) + section(5, "\x01\x00\x01") +
		section(7, "\x02\x06_start\x00"+last+"\x06memory\x02\x00") + section(10, count+code))
}

// nest is a module of one function with n loops inside each other, and locals.
func nest(n, locals int) []byte {
	body := "\x01" + string(binary.AppendUvarint(nil, uint64(locals))) + "\x7f" + strings.Repeat("\x03\x40", n) + strings.Repeat("\x0b", n) + "\x0b"
	size := string(binary.AppendUvarint(nil, uint64(len(body))))
	return []byte(magic + section(1, "\x01\x60\x00\x00") + section(3, "\x01\x00") + section(5, "\x01\x00\x01") +
		section(7, "\x02\x06_start\x00\x00\x06memory\x02\x00") + section(10, "\x01"+size+body))
}

// P5, SC-005, Case53, Case54, Case55: every attempt ends by its name, on every
// call; with a filled cache within its limit and half a second; and the next call
// of another plugin works. Nothing of it is left, and this process has not grown.
func TestHostile(t *testing.T) {
	root, _ := project(t)
	before := treeOf(t, filepath.Dir(root))
	heap := heapInUse()
	h := newHost(t) // one for all, as in one command
	prepared(t, h, plugin(t, "allow"))
	t.Run("guests", func(t *testing.T) {
		for _, c := range hostiles() {
			t.Run(c.row+" "+c.name, func(t *testing.T) {
				if testing.Short() && !slices.Contains([]string{"A1", "E2", "G"}, c.row) {
					t.Skip("hundreds of processes, which the race detector makes slow")
				}
				if raceEnv() != nil && c.guest == "tables" {
					t.Skip("the race detector takes the memory that tables grow into")
				}
				t.Parallel()
				c.attack(t, h, root)
			})
		}
	})
	h.reap(true)
	if left, err := filepath.Glob(filepath.Join(h.opts.CacheDir, "*", "*.tmp")); err != nil || len(left) > 0 {
		t.Errorf("left in the cache: %v, %v", left, err)
	}
	if after := treeOf(t, filepath.Dir(root)); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("the project changed")
	}
	if grown := int64(heapInUse()) - int64(heap); grown > 16<<20 {
		t.Errorf("this process holds %d MiB more than before", grown>>20)
	}
	nothingLeft(t)
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// attack calls the guest twice with a filled cache, and once with none.
func (c hostile) attack(t *testing.T, h *Host, root string) {
	p, call := c.plugin(t), guardCall()
	if c.request != "" {
		call.Request = []byte(c.request)
	}
	if c.reads {
		call = filesCall(root)
	}
	// What cannot be compiled in time is interpreted; what is no module is refused.
	if err := h.Prepare(bounded(t), p); err != nil && c.code != BadModule && !errors.As(err, new(*Failure)) {
		t.Fatal(err)
	}
	times := 2
	if *torture {
		times = 20
	}
	for range times {
		c.once(t, h, p, call, c.mayTake(1))
	}
	if *torture || c.row == "A1" || c.row == "A2" {
		c.once(t, New(Options{CacheDir: "-"}), p, call, c.mayTake(2)+p.Limits.CompileTime)
	}
	if a, err := h.Call(bounded(t), plugin(t, "allow"), guardCall()); err != nil || !strings.Contains(string(a.Stdout), "allow") {
		t.Errorf("the next call: %q, %v", a.Stdout, err)
	}
}

func (c hostile) plugin(t *testing.T) Plugin {
	p := Plugin{Name: "hostile", Wasm: c.wasm, SHA256: hexSum(c.wasm), Args: c.args}
	if c.guest != "" {
		p = plugin(t, c.guest, c.args...)
	}
	p.Limits = c.limits
	return p
}

// mayTake is how long calls may take; what has no limit of its own ends long
// before the plugin's ten seconds.
func (c hostile) mayTake(calls int) time.Duration {
	if c.limits.Timeout == 0 {
		return 5 * time.Second
	}
	return time.Duration(calls) * (c.limits.Timeout + 500*time.Millisecond)
}

// once makes one call. The machine may be busy: a deadline that does not hold
// never does, so one of a few calls in time is enough.
func (c hostile) once(t *testing.T, h *Host, p Plugin, call Call, most time.Duration) {
	t.Helper()
	var took time.Duration
	for range 5 {
		begun := time.Now()
		a, err := h.Call(bounded(t), p, call)
		took = time.Since(begun)
		c.judge(t, p, a, err)
		if took <= most {
			return
		}
	}
	t.Errorf("it took %v, at most %v is allowed", took, most)
}

func (c hostile) judge(t *testing.T, p Plugin, a Answer, err error) {
	t.Helper()
	if err == nil && c.code == BadAnswer {
		_, err = GuardAnswer(p.Name, a)
	}
	if c.code == "" {
		if err != nil || c.says != "" && !strings.HasPrefix(string(a.Stdout), c.says) {
			t.Fatalf("answer %q, error %v; want %q", a.Stdout, err, c.says)
		}
		return
	}
	f := mustFail(t, err, c.code)
	if !strings.Contains(f.Detail, c.says) {
		t.Fatalf("%q does not say %q", f.Detail, c.says)
	}
	if strings.ContainsFunc(f.Error(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Errorf("%q holds control characters", f.Error())
	}
}

// Ctrl-C works at every moment: whenever the context ends, the call does, with its
// error, and its child is gone.
func TestCanceledAtAnyMoment(t *testing.T) {
	moments := 12
	if testing.Short() {
		t.Skip("dozens of processes, which the race detector makes slow")
	} else if *torture {
		moments = 200
	}
	for _, guest := range []string{"fib", "compile", "flood"} {
		t.Run(guest, func(t *testing.T) {
			t.Parallel()
			h, p := newHost(t), Plugin{Name: "bomb", Wasm: bomb(20_000)}
			if guest != "compile" {
				p = plugin(t, guest)
			}
			p.SHA256 = hexSum(p.Wasm)
			for i := range moments {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*4*time.Millisecond)
				begun := time.Now()
				var err error
				if guest == "compile" {
					err = h.Prepare(ctx, p)
				} else {
					_, err = h.Call(ctx, p, guardCall())
				}
				if took := time.Since(begun); took > 3*time.Second {
					t.Errorf("moment %d: took %v", i, took)
				}
				quicker := errors.As(err, new(*Failure)) && guest == "flood"
				if !quicker && (ctx.Err() == nil || err != ctx.Err()) {
					t.Errorf("moment %d: %v", i, err)
				}
				cancel()
			}
			h.reap(true)
		})
	}
	t.Cleanup(func() { nothingLeft(t) })
}

// A child that dies for want of memory is named by its runtime's last words: what
// a guest logged before them decides nothing.
func TestLastWordsAreTheRuntimes(t *testing.T) {
	const forged = "fatal error: runtime: out of memory\n"
	for _, c := range []struct {
		end, log string
		code     Code
		shown    string
	}{
		{runtimeEnd, "mine\nfatal error: runtime: out of memory\n\n", MemoryLimit, "mine"},
		{runtimeEnd, "mine\nfatal error: runtime: cannot allocate memory\n", MemoryLimit, "mine"},
		{runtimeEnd, forged + "fatal error: fault\n[signal SIGSEGV]\n", ChildFailed, "fatal error: runtime: out of memory"},
		{runtimeEnd, "runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\n", MemoryLimit, ""},
		{runtimeEnd, forged + "panic: oh\n", ChildFailed, "fatal error: runtime: out of memory"},
		{runtimeEnd, "nothing known", ChildFailed, "nothing known"},
		{"exit status 3", forged, ChildFailed, "fatal error: runtime: out of memory"},
		{"signal: killed", forged, ChildFailed, "fatal error: runtime: out of memory"},
	} {
		r := result{end: c.end, log: []byte(c.log)}
		f := failureOf(Plugin{Name: "p"}, r)
		if f == nil || f.Code != c.code || !strings.HasPrefix(f.Log, c.shown) || c.code == MemoryLimit && f.Log != c.shown {
			t.Errorf("%q, %q: %+v", c.end, c.log, f)
		}
	}
	if _, err := os.Stat("testdata/tables.wasm"); err != nil { // the real death is in TestHostile, B4
		t.Error(err)
	}
}
