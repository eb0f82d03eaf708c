package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// inLog is a project whose mission has n packages in planned, in the lane log.
func inLog(t testing.TB, missions string, n int) string {
	t.Helper()
	files := packages(n)
	files[lanes.LogFile] = laneLog(slices.Repeat([]string{"planned"}, n)...)
	return makeProject(t, missions, files)
}

func laneLogOf(t testing.TB, root string) string {
	t.Helper()
	return read(t, filepath.Join(root, "kitty-specs", "m", lanes.LogFile))
}

// laneIn is where a package lies by the log's bytes.
func laneIn(t testing.TB, root, id string) lanes.Position {
	t.Helper()
	log, err := lanes.ParseLog(lanes.LogFile, []byte(laneLogOf(t, root)))
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Warnings) > 0 {
		t.Errorf("the log has %v", log.Warnings)
	}
	return log.At(id)
}

// The whole way in the lane log, from hand-out to the end, with a rejection whose
// feedback reaches the next prompt: each move is one line, every line follows an
// edge, and the people are those of the journal's source (case 35).
func TestWholeMissionInTheLog_Case35(t *testing.T) {
	missions := strings.Replace(packaged, `id = "implement"`, "id = \"implement\"\nprompt = \"Build it. {{.Feedback}}\"", 1)
	missions = strings.Replace(missions, ", self_review = true", "", 1)
	root := inLog(t, missions, 1)
	p := open(t, root)
	a, err := p.Start(context.Background(), StartRequest{Slug: "m", Caller: Caller{Agent: "ann", Worker: "7"}})
	if err != nil || value(a.WPID) != "WP01" || !a.Recorded {
		t.Fatalf("the start hands out %s: %v %v", value(a.WPID), value(a.Reason), err)
	}
	q := report("ann", cursor.Success, *a.Token)
	q.Caller.Worker = "7"
	if a = must(t, p, q); code(a) != "waiting_for_work_packages" || !a.Recorded {
		t.Fatalf("%s %s", code(a), value(a.Reason))
	}
	bob := must(t, p, report("bob", cursor.Success))
	rejection := report("bob", cursor.Failed, *bob.Token)
	rejection.Reason = "the tests are missing"
	again := must(t, p, rejection)
	if value(again.StepID) != "implement" || !strings.Contains(read(t, value(again.PromptFile)), "the tests are missing") {
		t.Fatalf("step %s without the feedback (%s)", value(again.StepID), value(again.Reason))
	}
	must(t, p, report("bob", cursor.Success, *again.Token))
	review := must(t, p, report("ann", cursor.Success))
	wantStep(t, review, "review")
	wantStep(t, must(t, p, report("ann", cursor.Success, *review.Token)), "accept")
	if at := laneIn(t, root, "WP01"); at.Lane != mission.Approved || at.Author != "bob" {
		t.Errorf("%+v", at)
	}
	wantEdges(t, root, "WP01", 10)
	if end := must(t, p, report("ann", cursor.Success)); end.Kind != KindTerminal || end.MissionState != "done" {
		t.Errorf("%s %s", end.Kind, end.MissionState)
	}
	wantSound(t, p)
}

// wantEdges wants that every move of ours in the log follows an edge from where
// the package lay, and how many there are.
func wantEdges(t testing.TB, root, id string, want int) {
	t.Helper()
	all, err := lanes.ParseHistory(lanes.LogFile, []byte(laneLogOf(t, root)), id)
	if err != nil {
		t.Fatal(err)
	}
	at, n := mission.Planned, 0
	for _, c := range all[1:] {
		if c.To == "" {
			continue
		}
		if n++; c.From != at || !c.Force && !mission.CanMove(c.From, c.To) {
			t.Errorf("%s lay in %s and was moved from %s to %s", id, at, c.From, c.To)
		}
		at = c.To
	}
	if n != want {
		t.Errorf("%d moves of %s, want %d", n, id, want)
	}
}

// The lock is the existing tool's: while somebody holds it a call that may move
// waits and is told which lock; a query does not, and makes none.
func TestLockOfTheLog(t *testing.T) {
	root := inLog(t, packaged, 1)
	write(t, filepath.Join(root, ".git", "HEAD"), "ref: refs/heads/main\n")
	file := filepath.Join(root, ".git", "spec-kitty-locks", "m.status.lock")
	p := started(t, root)
	if _, err := p.Query(context.Background(), "m", Caller{Agent: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a query made the lock: %v", err)
	}
	write(t, file, "")
	before := laneLogOf(t, root) + journal(t, root)
	p.world.opts.LockTimeout = -1 // do not wait
	err := locks.At(file).Do(context.Background(), 0, func(*locks.Held) error {
		a := must(t, p, report("a", cursor.Success))
		wantBlocked(t, a, "lock_timeout")
		if !strings.Contains(*a.Reason, file) {
			t.Errorf("the lock is not named: %s", *a.Reason)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if laneLogOf(t, root)+journal(t, root) != before {
		t.Error("a refused call wrote")
	}
	if a := must(t, p, report("a", cursor.Success)); value(a.WPID) != "WP01" {
		t.Errorf("%s", value(a.Reason))
	}
}

// The facts are read again under the log's lock: what the existing tool moved
// while a report was under way makes it stale, and its move is not made.
func TestLogMovedMeanwhile(t *testing.T) {
	root := inLog(t, packaged, 2)
	token := *must(t, open(t, root), report("a", cursor.Success)).Token
	log := filepath.Join(root, "kitty-specs", "m", lanes.LogFile)
	late := open(t, root, func(o *Options) {
		o.Hook = func(point string) {
			if point == PointLogLocked {
				write(t, log, toolMoves(read(t, log), "WP01", "canceled"))
			}
		}
	})
	wantBlocked(t, must(t, late, report("a", cursor.Success, token)), "stale_plan")
	if at := laneIn(t, root, "WP01"); at.Lane != mission.Canceled {
		t.Errorf("WP01 lies in %s", at.Lane)
	}
	a := must(t, open(t, root), report("a", cursor.Success, token))
	if value(a.WPID) != "WP02" || !a.Recorded {
		t.Errorf("%s (%s)", value(a.WPID), value(a.Reason))
	}
}

// A lane log that comes to be while a call is under way is not written to without
// its lock.
func TestLogThatAppears(t *testing.T) {
	root := makeProject(t, packaged, packages(1))
	started(t, root)
	log := filepath.Join(root, "kitty-specs", "m", lanes.LogFile)
	p := open(t, root, func(o *Options) {
		o.Commit.Hook = func(point string) {
			if point == commit.PointLockAcquired {
				write(t, log, laneLog("planned"))
			}
		}
	})
	wantBlocked(t, must(t, p, report("a", cursor.Success)), "stale_plan")
	if laneLogOf(t, root) != laneLog("planned") {
		t.Error("the log was written to without its lock")
	}
}

// logCase is a call that moves packages in the log, and what comes before it.
type logCase struct {
	name  string
	given bool // WP01 is handed out to a before
	call  func(p *Project, token string) (Answer, error)
	moves map[string]int // of each package, at the end
}

func logCases() []logCase {
	next := func(result cursor.Result) func(*Project, string) (Answer, error) {
		return func(p *Project, token string) (Answer, error) {
			q := report("a", result, token)
			q.Reason = "because"
			return p.Next(context.Background(), q)
		}
	}
	ask := func(p *Project, _ string) (Answer, error) {
		return p.WPClaim(context.Background(), ClaimRequest{Mission: "m", Caller: Caller{Agent: "a"}})
	}
	operator := func(q OperatorRequest, verb func(*Project, context.Context, OperatorRequest) (Answer, error)) func(*Project, string) (Answer, error) {
		return func(p *Project, _ string) (Answer, error) {
			q.Mission, q.Actor, q.Package, q.Reason = "m", "ops", "WP01", "because"
			return verb(p, context.Background(), q)
		}
	}
	return []logCase{
		{"hand-out", false, ask, map[string]int{"WP01": 2}},
		{"success", true, next(cursor.Success), map[string]int{"WP01": 3, "WP02": 2}},
		{"failed", true, next(cursor.Failed), map[string]int{"WP01": 5}},
		{"blocked", true, next(cursor.Blocked), map[string]int{"WP01": 3, "WP02": 2}},
		{"wp move", true, operator(OperatorRequest{To: "done", Force: true}, (*Project).WPMove), map[string]int{"WP01": 3}},
		{"wp release", true, operator(OperatorRequest{}, (*Project).WPRelease), map[string]int{"WP01": 3}},
	}
}

// wantLogAndRun wants that log and run agree: what is handed out lies with its
// holder in its lane of work, and each package moved as often as it should.
func wantLogAndRun(t testing.TB, root string, p *Project, c logCase) {
	t.Helper()
	r, err := p.read(context.Background(), "m")
	if err != nil {
		t.Fatal(err)
	}
	for _, issue := range r.state.Issues() {
		if at := laneIn(t, root, issue.Package); at.Lane != mission.InProgress || at.Holder != issue.Holder.Agent {
			t.Errorf("%s is handed out to %s and lies in %s with %q", issue.Package, issue.Holder, at.Lane, at.Holder)
		}
	}
	for id := range map[string]bool{"WP01": true, "WP02": true} {
		if c.moves[id] > 0 {
			wantEdges(t, root, id, c.moves[id])
		} else if laneIn(t, root, id).Lane != mission.Planned {
			t.Errorf("%s lies in %s", id, laneIn(t, root, id).Lane)
		}
	}
}

// P3, case 33: each call that moves a package, with an error at write n to the
// disk and with a death at n (nothing that follows is done), for every n. The next
// call of the same kind goes on; then log and run agree, and nothing is doubled.
func TestLogSweep_Case33(t *testing.T) {
	if testing.Short() {
		t.Skip("opens a project hundreds of times")
	}
	for _, c := range logCases() {
		for _, dead := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, dead %v", c.name, dead), func(t *testing.T) {
				for n := 0; sweepOnce(t, c, n, dead); n++ {
				}
			})
		}
	}
}

func sweepOnce(t *testing.T, c logCase, n int, dead bool) (met bool) {
	root := inLog(t, packaged, 2)
	p, token := started(t, root), ""
	if c.given {
		token = *must(t, p, report("a", cursor.Success)).Token
	}
	p.Close()
	met = breakAt(t, root, func(p *Project) { _, _ = c.call(p, token) }, n, dead)
	again := open(t, root)
	if _, err := c.call(again, token); err != nil && !doneBefore(err) {
		t.Fatalf("write %d: the next call: %v", n, err)
	}
	wantLogAndRun(t, root, again, c)
	wantSound(t, again)
	if t.Failed() {
		t.Fatalf("after write %d", n)
	}
	return met
}

// doneBefore tells whether an operator's verb finds that it is done: it was, and
// its answer was lost.
func doneBefore(err error) bool {
	var known *Error
	return errors.As(err, &known) && (known.Code == Code(cursor.IllegalMove) || known.Code == CodeNothingIssued)
}

// breakAt makes a call on a disk that fails at its n-th change; met tells whether
// there were as many.
func breakAt(t *testing.T, root string, call func(*Project), n int, dead bool) (met bool) {
	changes := 0
	faulty := &durable.Faulty{Disk: durable.OS(), Short: 100, Fail: func(_ int, op durable.Op) error {
		switch op.Kind {
		case "write", "sync", "truncate", "rename", "remove", "mkdir", "syncdir":
			if changes++; changes-1 == n || dead && changes > n {
				return durable.ErrInjected
			}
		}
		return nil
	}}
	p := open(t, root, func(o *Options) { o.Commit.Disk = faulty })
	defer p.Close()
	call(p)
	return changes > n
}

// Two packages done and one canceled: the mission is done; all canceled: it is
// canceled. In both sources, moved by hand.
func TestEndsOfMissions(t *testing.T) {
	for _, source := range []string{"journal", "kitty-specs"} {
		for name, c := range map[string]struct {
			to   []string
			want string
		}{
			"two done, one canceled": {[]string{"done", "done", "canceled"}, "done"},
			"all canceled":           {[]string{"canceled", "canceled", "canceled"}, "canceled"},
		} {
			t.Run(source+", "+name, func(t *testing.T) {
				files := packages(3)
				if source == "kitty-specs" {
					files[lanes.LogFile] = laneLog("planned", "planned", "planned")
				}
				root := makeProject(t, "[missions.t]\nsteps = [{ id = \"P\", work_packages = { take = [\"planned\"], claim = \"in_progress\", success = \"done\", failed = \"planned\", until = [\"done\", \"canceled\"], self_review = true } }]", files)
				p := started(t, root)
				for i, to := range c.to {
					q := OperatorRequest{Mission: "m", Actor: "ops", Package: fmt.Sprintf("WP%02d", i+1), To: to, Force: true, Reason: "by hand"}
					if a, err := p.WPMove(context.Background(), q); err != nil || !a.Recorded {
						t.Fatalf("%v %s", err, value(a.Reason))
					}
				}
				a := must(t, p, report("a", cursor.Success))
				if a.Kind != KindTerminal || a.MissionState != c.want {
					t.Errorf("%s %s (%s)", a.Kind, a.MissionState, value(a.Reason))
				}
			})
		}
	}
}

// Case 27: with every package planned, no command gets implement done: each that
// could is refused, gives work, or stands for itself in the record.
func TestNothingPassesImplement_Case27(t *testing.T) {
	for _, source := range []string{"journal", "kitty-specs"} {
		t.Run(source, func(t *testing.T) {
			files := packages(2)
			if source == "kitty-specs" {
				files[lanes.LogFile] = laneLog("planned", "planned")
			}
			root := makeProject(t, packaged, files)
			p := started(t, root)
			ctx := context.Background()
			var plan []byte
			token := value(claim(t, p, "a", "").Token)
			calls := map[string]func() (Answer, error){
				"ask":   func() (Answer, error) { return p.Next(ctx, report("b", cursor.Success)) },
				"token": func() (Answer, error) { return p.Next(ctx, report("a", cursor.Success, "01ARZ3NDEKTSV4RRFFQ69G5FAV")) },
				"person": func() (Answer, error) {
					return p.Next(ctx, Request{Mission: "m", Caller: Caller{Human: "h"}, Result: cursor.Success})
				},
				"failed": func() (Answer, error) { return p.Next(ctx, report("a", cursor.Failed, token)) },
				"answer": func() (Answer, error) {
					yes := "yes"
					return p.Next(ctx, Request{Mission: "m", Caller: Caller{Agent: "b"}, Result: cursor.Success, Answer: &yes})
				},
				"retry": func() (Answer, error) {
					return p.Retry(ctx, OperatorRequest{Mission: "m", Actor: "ops", Caller: Caller{Agent: "c"}})
				},
				"release": func() (Answer, error) {
					return p.Release(ctx, OperatorRequest{Mission: "m", Actor: "ops", Package: "WP01", Reason: "r"})
				},
				"wp release": func() (Answer, error) {
					return p.WPRelease(ctx, OperatorRequest{Mission: "m", Actor: "ops", Package: "WP01", Reason: "r"})
				},
				"wp move": func() (Answer, error) {
					return p.WPMove(ctx, OperatorRequest{Mission: "m", Actor: "ops", Package: "WP02", To: "for_review"})
				},
				"start": func() (Answer, error) { return p.Start(ctx, StartRequest{Slug: "m", Caller: Caller{Agent: "b"}}) },
				"plan": func() (Answer, error) {
					q := report("d", cursor.Success)
					q.PlanOut = func(raw []byte) error { plan = raw; return nil }
					return p.Next(ctx, q)
				},
			}
			for _, name := range slices.Sorted(maps.Keys(calls)) {
				_, _ = calls[name]()
				if n := completions(t, root, "implement"); n != 0 {
					t.Fatalf("%s completed implement with nothing built", name)
				}
			}
			if plan != nil {
				_, _ = p.Apply(ctx, plan)
			}
			a, err := p.Query(ctx, "m", Caller{})
			if err != nil || a.MissionState != "implement" || completions(t, root, "implement") != 0 {
				t.Fatalf("at %s, %v", a.MissionState, err)
			}
		})
	}
}

// One moment of the clock for all lines: they are still told apart by time.
func TestLogWithAStandingClock(t *testing.T) {
	root := inLog(t, packaged, 3)
	still := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := open(t, root, func(o *Options) { o.Now = func() time.Time { return still } })
	for _, agent := range []string{"a", "b", "c"} {
		must(t, p, report(agent, cursor.Success))
	}
	times := map[time.Time]bool{}
	for _, id := range []string{"WP01", "WP02", "WP03"} {
		all, err := lanes.ParseHistory(lanes.LogFile, []byte(laneLogOf(t, root)), id)
		if err != nil || len(all) != 3 {
			t.Fatalf("%d changes of %s: %v", len(all), id, err)
		}
		for _, c := range all {
			if times[c.At] {
				t.Errorf("two lines of one time, %s", c.At)
			}
			times[c.At] = true
		}
	}
}
