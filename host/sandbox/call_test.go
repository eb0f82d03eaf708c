package sandbox

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"time"
)

// Four ends kept apart (design 8): an answer, an exit code, a crash, a limit;
// from the interpreter, and with a filled cache.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		guest  string
		limits Limits
		code   Code // "" is an answer
		says   string
	}{
		{"allow", Limits{}, "", `{"verdict":"allow"}`},
		{"refuse", Limits{}, "", `no stories`},
		{"silent", Limits{}, "", ""},
		{"exit3", Limits{}, Exited, "exit code 3"},
		{"faketimeout", Limits{}, Exited, "exit code 4026531839"},
		{"trap", Limits{}, Trapped, "unreachable"},
		{"recurse", Limits{}, StackOverflow, "too deep"},
		{"grow", Limits{Memory: 16 << 20}, MemoryLimit, "16 MiB"},
		{"flood", Limits{}, OutputLimit, "1048576 bytes to stdout"},
		{"logflood", Limits{}, LogLimit, "262144 bytes to stderr"},
		{"sleep", Limits{}, "", "24"},
		{"nostart", Limits{}, BadModule, "_start"},
		{"unknown", Limits{}, BadModule, "env.abort"},
		{"nomemory", Limits{}, BadModule, "memory"},
		{"startsection", Limits{}, BadModule, "start section"},
	} {
		t.Run(c.guest, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			p := plugin(t, c.guest)
			p.Limits = c.limits
			for _, state := range []string{"first call", "second call"} {
				a, err := h.Call(context.Background(), p, guardCall())
				if c.code == "" {
					if err != nil || !strings.Contains(string(a.Stdout), c.says) {
						t.Fatalf("%s: answer %q, error %v; want %q", state, a.Stdout, err, c.says)
					}
					if want := state == "first call"; a.Interpreted != want {
						t.Errorf("%s: interpreted %v, want %v", state, a.Interpreted, want)
					}
				} else if f := mustFail(t, err, c.code); !strings.Contains(f.Detail, c.says) {
					t.Fatalf("%s: %q does not say %q", state, f.Detail, c.says)
				}
				h.reap(true) // the filler: from here on the cache is filled
			}
		})
	}
}

// A guest that never ends is ended within its limit plus half a second, whether
// it lets wazero look at the clock or not, and none of its processes is left.
func TestHangingGuestIsKilled(t *testing.T) {
	const limit = 300 * time.Millisecond
	for _, guest := range []string{"loop", "fib"} {
		t.Run(guest, func(t *testing.T) {
			h := newHost(t)
			p := plugin(t, guest)
			p.Limits.Timeout = limit
			prepared(t, h, p)
			took := time.Hour
			for range 5 { // the machine may be busy; a deadline that does not hold never does
				begun := time.Now()
				_, err := h.Call(bounded(t), p, guardCall())
				mustFail(t, err, TimeLimit)
				if took = min(took, time.Since(begun)); took <= limit+500*time.Millisecond {
					break
				}
			}
			if took < limit || took > limit+500*time.Millisecond {
				t.Errorf("ended after %v, want %v and at most half a second more", took, limit)
			}
			if a, err := h.Call(context.Background(), plugin(t, "allow"), guardCall()); err != nil {
				t.Errorf("the next call: %q, %v", a.Stdout, err)
			}
		})
	}
}

func TestCanceledCallEndsAtOnce(t *testing.T) {
	h := newHost(t)
	p := prepared(t, h, plugin(t, "fib"))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := h.Call(ctx, p, guardCall())
	if err != context.DeadlineExceeded {
		t.Errorf("got %v, want the context's error", err)
	}
	if took := time.Since(begun); took > 5*time.Second { // far from the plugin's own 10 s
		t.Errorf("took %v", took)
	}
}

func TestWrongBytesNeverRun(t *testing.T) {
	h := newHost(t)
	p := plugin(t, "allow")
	p.SHA256 = plugin(t, "trap").SHA256
	_, err := h.Call(context.Background(), p, guardCall())
	mustFail(t, err, WrongSHA256)
	mustFail(t, h.Prepare(context.Background(), p), WrongSHA256)
	p.SHA256 = ""
	_, err = h.Call(context.Background(), p, guardCall())
	mustFail(t, err, WrongSHA256)
}

// What a guest writes reaches nobody's terminal as it is.
func TestLogIsEscaped(t *testing.T) {
	_, err := newHost(t).Call(context.Background(), plugin(t, "ansi"), guardCall())
	f := mustFail(t, err, Trapped)
	if want := `\x1b[31mred\x1b[0m\nsecond line`; f.Log != want {
		t.Errorf("log %q, want %q", f.Log, want)
	}
	if strings.ContainsAny(f.Error(), "\x1b\n") {
		t.Errorf("%q holds control characters", f.Error())
	}
}

// P6: arguments, request, clock and random bytes are the call's, and nothing
// else: equal calls give equal bytes, on both engines.
func TestEqualCallsGiveEqualBytes(t *testing.T) {
	h := newHost(t)
	p := plugin(t, "echo", "/plugin/main.js")
	c := guardCall()
	c.Request = []byte(strings.Repeat("x", 100_000))
	first, err := h.Call(context.Background(), p, c)
	if err != nil {
		t.Fatal(err)
	}
	head := "echo\x00/plugin/main.js\x00guard\x00" + string(c.Request)
	if !strings.HasPrefix(string(first.Stdout), head) || len(first.Stdout) != len(head)+16 {
		t.Fatalf("stdout of %d bytes does not begin with arguments and request", len(first.Stdout))
	}
	prepared(t, h, p)
	for range 3 {
		again, err := h.Call(context.Background(), p, c)
		if err != nil || again.Interpreted || string(again.Stdout) != string(first.Stdout) {
			t.Fatalf("a call from the cache differs: %v", err)
		}
	}
	c.Seed[0] = 1
	other, err := h.Call(context.Background(), p, c)
	if err != nil || string(other.Stdout) == string(first.Stdout) {
		t.Errorf("another seed gives the same bytes: %v", err)
	}
}

// A module that takes for ever to compile holds nobody up: it is interpreted,
// and what compiles it is killed (sandbox.md A7, B2).
func TestCompileBomb(t *testing.T) {
	t.Parallel()
	wasm := bomb(20_000)
	p := Plugin{Name: "bomb", Wasm: wasm, SHA256: hexSum(wasm), Limits: Limits{CompileTime: 200 * time.Millisecond}}
	h := New(Options{CacheDir: "-"})
	if a, err := h.Call(context.Background(), p, guardCall()); err != nil || !a.Interpreted {
		t.Errorf("interpreted %v, %v", a.Interpreted, err)
	}
	mustFail(t, h.Prepare(context.Background(), p), CompileLimit)
}

// bomb is a module of one function with n times memory.fill of nothing, and with
// pages of memory, one if none are given.
func bomb(n int, pages ...int) []byte {
	fill := "\x41\x00\x41\x01\x41\x00\xfc\x0b\x00"
	body := "\x00" + strings.Repeat(fill, n) + "\x0b"
	size := string(binary.AppendUvarint(nil, uint64(len(body))))
	least := string(binary.AppendUvarint(nil, uint64(append(pages, 1)[0])))
	return []byte(magic +
		section(1, "\x01\x60\x00\x00") +
		section(3, "\x01\x00") +
		section(5, "\x01\x00"+least) +
		section(7, "\x02\x06_start\x00\x00\x06memory\x02\x00") +
		section(10, "\x01"+size+body))
}
