package runner

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// heldBy has a hand hold the run's lock: it stands inside of its own commit.
func heldBy(t *testing.T, root, agent string) *hand {
	t.Helper()
	h := startHand(t)
	q := report(agent, cursor.Success)
	h.tell(order{Root: root, Request: &q, Stop: "lock_acquired"})
	h.stopped()
	return h
}

// US3.1, FR-003: while another process holds the lock a commit waits for it, and
// commits, or is refused on what the other left, once it is free. FR-004: an
// answer waits alike.
func TestCommitWaitsForTheLock_US3_1_FR003_FR004(t *testing.T) {
	root := makeProject(t, packaged, packages(2))
	p := open(t, root)
	mine := *must(t, p, report("a", cursor.Success)).Token
	h := heldBy(t, root, "b")
	ended := make(chan Answer, 1)
	go func() { ended <- must(t, p, report("a", cursor.Success, mine)) }()
	stillWaiting(t, ended)
	h.release()
	if a := h.answer(); value(a.WPID) != "WP02" {
		t.Errorf("the holder of the lock got %s (%s)", value(a.WPID), value(a.Reason))
	}
	if a := <-ended; !a.Recorded {
		t.Errorf("the waiting report was refused: %s", value(a.Reason))
	}
}

func TestAnswerWaitsForTheLock_US3_3_FR004(t *testing.T) {
	root := makeProject(t, questions(2), nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	yes := "yes"
	h := startHand(t)
	h.tell(order{Root: root, Stop: "lock_acquired", Request: &Request{Mission: "m", Caller: Caller{Agent: "b"}, Answer: &yes, Decision: "input:q0"}})
	h.stopped()
	ended := make(chan Answer, 1)
	go func() {
		ended <- must(t, p, Request{Mission: "m", Caller: Caller{Agent: "a"}, Answer: &yes, Decision: "input:q1"})
	}()
	stillWaiting(t, ended)
	h.release()
	h.answer()
	if a := <-ended; !a.Recorded || len(a.OpenDecisions) != 0 {
		t.Errorf("recorded %v, %d questions left", a.Recorded, len(a.OpenDecisions))
	}
}

// stillWaiting gives a call time to end, which it must not. The time proves
// nothing by itself: a call that waits makes the test pass, however slow.
func stillWaiting(t *testing.T, ended <-chan Answer) {
	t.Helper()
	select {
	case a := <-ended:
		t.Fatalf("the call did not wait for the lock: %s %s", a.Kind, value(a.Reason))
	case <-time.After(50 * time.Millisecond):
	}
}

// Edge, field case 07: a lock that cannot be had within the bound is a blocked
// refusal; meanwhile a query answers at once and another mission is not
// affected. Field case 05: age and content of the lock file mean nothing.
func TestLockTimeout_Edge(t *testing.T) {
	root := makeProject(t, "[runtime]\nlock_timeout = \"100ms\"\n"+packaged, packages(2))
	write(t, filepath.Join(root, "kitty-specs", "other", "meta.json"), `{"mission_type": "t"}`)
	write(t, filepath.Join(root, "kitty-specs", "other", "tasks", "WP01.md"), packages(1)["tasks/WP01.md"])
	p := open(t, root)
	mine := *must(t, p, report("a", cursor.Success)).Token
	h := heldBy(t, root, "b")
	locks, _ := filepath.Glob(filepath.Join(root, ".kittify", "step-runner", "runs", "*", "state.json.lock"))
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(locks[0], old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(locks[0], []byte("pid 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := journal(t, root)
	a := must(t, p, report("a", cursor.Success, mine))
	wantBlocked(t, a, "lock_timeout")
	if !strings.Contains(*a.Reason, "never delete the file") || journal(t, root) != before {
		t.Errorf("the block does not say what to do: %s", *a.Reason)
	}
	if a, err := p.Query(context.Background(), "m", Caller{Agent: "a"}); err != nil || value(a.Token) != mine {
		t.Errorf("a query waits for the lock: %v %v", value(a.Token), err)
	}
	if a, err := p.Next(context.Background(), Request{Mission: "other", Caller: Caller{Agent: "a"}, Result: cursor.Success}); err != nil || value(a.WPID) != "WP01" {
		t.Errorf("another mission is affected: %v %v", value(a.Reason), err)
	}
	h.release()
	h.answer()
	if got := read(t, locks[0]); got != "pid 1" {
		t.Errorf("the lock file's content was changed to %q", got)
	}
}

// P2: a plugin that hangs for its whole time limit, also one that ignores its
// deadline inside wazero, delays nobody: meanwhile a query answers and another
// agent's report on the same run commits.
func TestHangingPluginDelaysNobody(t *testing.T) {
	for _, guest := range []string{"loop", "fib"} {
		t.Run(guest, func(t *testing.T) {
			definition := strings.Replace(packaged, "retry = 1", "guards = [{ plugin = \""+guest+"\" }]", 1)
			root := makeProject(t, definition, packages(3), guest)
			config := strings.Replace(read(t, filepath.Join(root, "spec-kitty.toml")), `timeout = "5s"`, `timeout = "1s"`, 1)
			write(t, filepath.Join(root, "spec-kitty.toml"), config)
			p := open(t, root)
			a, b := must(t, p, report("a", cursor.Success)), must(t, p, report("b", cursor.Success))

			h := startHand(t)
			q := report("a", cursor.Success, *a.Token)
			h.tell(order{Root: root, Request: &q})
			guests := func() int { return children(t, h.cmd.Process.Pid) }
			for guests() == 0 { // until the guest runs
				if h.cmd.ProcessState != nil {
					t.Fatal("the hand ended")
				}
			}
			if got, err := p.Query(context.Background(), "m", Caller{Agent: "b"}); err != nil || value(got.Token) != *b.Token {
				t.Errorf("the query: %v %v", value(got.Token), err)
			}
			if got := must(t, p, report("b", cursor.Failed, *b.Token)); !got.Recorded {
				t.Errorf("b's report was refused: %s", value(got.Reason))
			}
			if guests() == 0 {
				t.Error("the plugin had ended before the others were done: nothing is proven")
			}
			wantBlocked(t, h.answer(), "plugin_failed")
			if n := guests(); n != 0 {
				t.Errorf("%d guests are left", n)
			}
		})
	}
}
