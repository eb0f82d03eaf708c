package tick

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
)

// A loop's whole way: gate, setup, work, verify, landing, goal.
func TestWholeRun(t *testing.T) {
	y := newYard(t, `test -e "$(git rev-parse --git-dir)/set-up" && `+commits, func(d *loop.Definition) {
		d.Gate = sh("true")
		d.Verify = &loop.Verifier{Check: *sh(`test -s done.txt && test "$(git rev-parse HEAD)" = "$SPEC_KITTY_LOOP_RESULT"`)}
		d.Goal = sh(`test "$(wc -l < done.txt)" -ge 2`)
		d.Worktree.Setup = []string{"sh", "-c", `touch "$(git rev-parse --git-dir)/set-up"`}
	})
	y.create("deps")
	y.want(y.tick(y.loops()), Done, "success")
	first := y.head()
	if first == git(t, y.root, "rev-parse", "main") {
		t.Fatal("nothing landed")
	}
	r := y.tick(y.loops())
	y.want(r, Done, "success")
	if !strings.Contains(r.Reason, "goal") || y.status().Status != "done" {
		t.Errorf("%+v %+v", r, y.status())
	}
	y.want(y.tick(y.loops()), Skipped, "done")
	if got := git(t, y.root, "show", "loop/deps:done.txt"); got != "1\n2" {
		t.Errorf("%q", got)
	}
	if got := git(t, y.root, "status", "--porcelain"); got != "" {
		t.Errorf("the main worktree was touched: %s", got)
	}
	if _, err := y.loops().Clear(t.Context(), "deps", "human:me", "done", "more", false); err != nil {
		t.Fatal(err)
	}
	y.want(y.tick(y.loops()), Done, "success")
}

// Each way in which a run can fail, by its name; nothing of it lands.
func TestFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		work   string
		change func(*loop.Definition)
		code   string
		by     Outcome
	}{
		"gate closed":       {commits, func(d *loop.Definition) { d.Gate = sh("exit 1") }, "gate_closed", Skipped},
		"gate mistyped":     {commits, func(d *loop.Definition) { d.Gate = &loop.Check{Run: []string{"no-such-gate"}} }, "gate_error", Failed},
		"gate 127":          {commits, func(d *loop.Definition) { d.Gate = sh("exit 127") }, "gate_error", Failed},
		"gate too slow":     {commits, func(d *loop.Definition) { d.Gate = sh("sleep 30"); d.Gate.Timeout = 100 * time.Millisecond }, "gate_error", Failed},
		"work fails":        {"exit 3", nil, "exit_status", Failed},
		"work killed":       {"kill -9 $$", nil, "exit_status", Failed},
		"work not there":    {"", func(d *loop.Definition) { d.Work.Run = []string{"no-such-agent"} }, "not_started", Failed},
		"row 41: too slow":  {"trap '' TERM; while :; do sleep 0.05; done", func(d *loop.Definition) { d.Work.Timeout = 300 * time.Millisecond }, "timeout", Failed},
		"idle":              {"sleep 30", func(d *loop.Definition) { d.Work.IdleTimeout = 700 * time.Millisecond }, "idle", Failed},
		"setup fails":       {commits, func(d *loop.Definition) { d.Worktree.Setup = []string{"false"} }, "setup_failed", Failed},
		"row 38: no folder": {`rm -rf "$PWD"`, nil, "worktree_gone", Failed},
		"history rewritten": {"git checkout -q --orphan new && git commit -qm x", nil, "not_descendant", Failed},
		"verify says no":    {commits, func(d *loop.Definition) { d.Verify = &loop.Verifier{Check: *sh("exit 1")} }, "verify_failed", Halted},
		"verify mistyped":   {commits, func(d *loop.Definition) { d.Verify = &loop.Verifier{Check: loop.Check{Run: []string{"no-such"}}} }, "verify_failed", Halted},
		"verify, to retry":  {commits, func(d *loop.Definition) { d.Verify = &loop.Verifier{Check: *sh("exit 1"), Retry: true} }, "verify_failed", Failed},
		"goal cannot say":   {commits, func(d *loop.Definition) { d.Goal = sh("exit 2") }, "goal_error", Failed},
		"usage not told":    {commits, func(d *loop.Definition) { d.Limits.MaxTokensPerRun = 5 }, "usage_unknown", Failed},
		"over the limit":    {commits + ` && echo '{"tokens":9}' > $SPEC_KITTY_LOOP_USAGE`, func(d *loop.Definition) { d.Limits.MaxTokensPerRun = 5 }, "limit_tokens", Halted},
		"row 47: seen in the run": {`echo '{"cost":9.5}' > $SPEC_KITTY_LOOP_USAGE; sleep 30`, func(d *loop.Definition) {
			d.Limits.MaxCostPerRun, _ = loop.MoneyOf(5)
		}, "limit_cost", Halted},
		"little context": {`echo '{"context":"9%"}' > $SPEC_KITTY_LOOP_USAGE; sleep 30`, func(d *loop.Definition) { d.Limits.ContextFloor = 15 }, "context_floor", Failed},
	} {
		t.Run(name, func(t *testing.T) {
			change := []func(*loop.Definition){}
			if tt.change != nil {
				change = append(change, tt.change)
			}
			y := newYard(t, tt.work, change...)
			y.create("deps")
			y.want(y.tick(y.loops()), tt.by, tt.code)
			if refs := git(t, y.root, "for-each-ref", "--format=%(objectname)", "refs/heads/loop/deps"); refs != "" && refs != git(t, y.root, "rev-parse", "main") {
				t.Error("something landed")
			}
			if s := y.status(); s.Claim != nil {
				t.Errorf("the claim is still there: %+v", s)
			}
		})
	}
}

// Row 40: a grandchild that holds the output is no reason to wait, and is killed.
func TestGrandchildHoldsTheOutput_Row40(t *testing.T) {
	y := newYard(t, "sleep 300 & echo $! > $SPEC_KITTY_ROOT/pid; "+commits)
	y.create("deps")
	begin := time.Now()
	y.want(y.tick(y.loops()), Done, "success")
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("the tick took %v", took)
	}
	raw, err := os.ReadFile(filepath.Join(y.root, "pid"))
	must(t, err)
	waitFor(t, "the grandchild is gone", func() bool { return !exists("/proc/"+strings.TrimSpace(string(raw))) || !exists("/proc") })
}

// What judges the work asks for a person: the definition's own scripts, and what
// the verifier's patterns name.
func TestProtectedFilesAskForApproval(t *testing.T) {
	for name, work := range map[string]string{
		"a test":     "mkdir -p a && echo x > a/b_test.go",
		"the script": "echo exit 0 > verify.sh",
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, work+" && git add . && git commit -qm work", func(d *loop.Definition) {
				d.Verify = &loop.Verifier{Check: loop.Check{Run: []string{"./verify.sh"}, Timeout: 10 * time.Second}, Protect: []string{"**/*_test.go"}}
			})
			write(t, filepath.Join(y.root, "verify.sh"), "#!/bin/sh\nexit 0\n")
			git(t, y.root, "add", ".")
			git(t, y.root, "commit", "-qm", "verify")
			y.create("deps")
			y.want(y.tick(y.loops()), Waiting, "waiting")
			a := y.status().Approval
			if a == nil || len(a.Subject.Protected) != 1 || a.State != "open" {
				t.Fatalf("%+v", a)
			}
			y.want(y.tick(y.loops()), Skipped, "waiting")
			if _, err := y.loops().Approve(t.Context(), "deps", "human:me", a.ID, "looked at"); err != nil {
				t.Fatal(err)
			}
			y.want(y.tick(y.loops()), Done, "success")
			if y.head() != a.Subject.Result {
				t.Error("another commit landed than the one that was approved")
			}
		})
	}
}

// The verifier refuses for the same reason, however long it takes: that is no progress.
func TestSameRefusalIsNoProgress(t *testing.T) {
	y := newYard(t, commits, func(d *loop.Definition) {
		d.Verify = &loop.Verifier{Check: *sh(`sleep "0.0$SPEC_KITTY_LOOP_TOKEN"; echo the reason; exit 1`), Retry: true}
		d.Limits.MaxFailures, d.Limits.MaxNoProgress = 10, 2
	})
	y.create("deps")
	for range 2 {
		y.want(y.tick(y.loops()), Failed, "verify_failed")
		_, err := y.loops().Clear(t.Context(), "deps", "human:me", string(loop.BackoffCode), "go on", false)
		must(t, err)
	}
	y.want(y.tick(y.loops()), Halted, string(loop.HaltNoProgress))
}
