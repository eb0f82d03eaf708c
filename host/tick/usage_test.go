package tick

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
)

// Whatever the work puts in the place of a file of its run, nobody waits for it: a pipe
// that nobody writes to, or reads from, holds neither the tick nor who looks at it.
func TestPipesInTheRunFolder(t *testing.T) {
	for name, code := range map[string]string{
		usageName: "success", "work.log": "success", outcomeName: "success",
		"verify.log": "error", "." + verdictName + ".tmp": "error", "." + beatName + ".tmp": "fenced",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wait := ""
			if code == "fenced" {
				wait = blocked
			}
			y := newYard(t, `pipe="$(dirname "$SPEC_KITTY_LOOP_USAGE")/`+name+`"; rm -f "$pipe"; mkfifo "$pipe" || exit 9; `+wait+commits, func(d *loop.Definition) {
				d.Verify = &loop.Verifier{Check: *sh("true")}
				d.Lease = 2400 * time.Millisecond
			})
			y.create("deps")
			ended := make(chan Report, 1)
			go func() {
				r, err := y.loops(hooked(func(point string) {
					if point == PointWorked {
						_, _ = y.loops().Status(t.Context(), "deps")
					}
				})).Tick(t.Context(), Request{Loop: "deps", Who: "tick", ByHand: true})
				if err != nil {
					t.Error(err)
				}
				ended <- r
			}()
			select {
			case r := <-ended:
				if r.ReasonCode != code {
					t.Errorf("%s, %s: %s", r.Outcome, r.ReasonCode, r.Reason)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("it still waits for the pipe")
			}
		})
	}
}

// What a run told is its own file alone: a link is not followed to another one's.
func TestUsageBehindALink(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	write(t, other, `{"tokens": 9, "progress": "another's"}`)
	if err := os.Symlink(other, filepath.Join(dir, usageName)); err != nil {
		t.Skip("no links here:", err)
	}
	if u := readUsage(dir); u.Tokens != nil || progressIn(dir) != "" {
		t.Errorf("%+v, %q", u, progressIn(dir))
	}
}

// A run that is refused since its usage is unknown says what was wrong with its file.
func TestUnreadableUsageIsTold(t *testing.T) {
	y := newYard(t, `echo '{"tokens": "many"}' > "$SPEC_KITTY_LOOP_USAGE"; `+commits, func(d *loop.Definition) { d.Limits.MaxTokensPerRun = 5 })
	y.create("deps")
	r := y.tick(y.loops())
	y.want(r, Failed, "usage_unknown")
	if !strings.Contains(r.Reason, usageName+" cannot be used: ") {
		t.Error(r.Reason)
	}
}

// Processes of one run that tell at once: nothing that was told is forgotten.
func TestBeatsAtOnce(t *testing.T) {
	cost, tokens, left := 1.5, int64(7), "40%"
	for range 30 {
		file := filepath.Join(t.TempDir(), usageName)
		l := (&yard{t: t, root: t.TempDir()}).loops(func(o *Options) {
			o.Getenv = func(name string) string { return map[string]string{"SPEC_KITTY_LOOP_USAGE": file}[name] }
		})
		var all sync.WaitGroup
		for _, told := range []Told{{Cost: &cost}, {Tokens: &tokens}, {Context: &left}, {Progress: "half"}} {
			all.Go(func() {
				if _, err := l.Beat(told); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		raw, err := os.ReadFile(file)
		must(t, err)
		var got Told
		must(t, json.Unmarshal(raw, &got))
		if got.Cost == nil || got.Tokens == nil || got.Context == nil || got.Progress == "" {
			t.Fatalf("%s", raw)
		}
	}
}
