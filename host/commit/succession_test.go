package commit_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// succession is a finished run 1 and the two who want to be what comes after it:
// a commit that opens it again, and a start of run 2. Both found the run before
// either began.
type succession struct {
	mem   *durable.Mem
	locks func(string) *locks.Lock
}

func finishedRun(t *testing.T) *durable.Mem {
	t.Helper()
	mem := durable.NewMem()
	committest.MustCommit(t, committest.Start(t, catalog(mem), "a", 1), committest.Finish{})
	return mem
}

// calls gives both, by name, on a disk and with what happens at the named points.
func (s succession) calls(t *testing.T, d durable.Disk, at func(string)) map[string]func() error {
	cat := catalog(d, hook(at), func(o *commit.Options) { o.Locks, o.LockTimeout = s.locks, -1 })
	store, err := cat.Open(t.Context(), committest.ID(1))
	must(t, err)
	return map[string]func() error{
		"open again": func() error {
			_, err := store.Commit(t.Context(), committest.Reopen{})
			return err
		},
		"start": func() error { return startAgain(t, cat, "a", 2) },
	}
}

// A finished run is opened again beside a start that follows it. Each of the two is
// stopped at each of its named points and before each operation of its disk, while
// the other goes through; where that one has to wait, it comes after. One of them
// wins, whoever it is, and the power takes nothing of that.
func TestOpenedAgainBesideAStart(t *testing.T) {
	for stopped, other := range map[string]string{"open again": "start", "start": "open again"} {
		t.Run(stopped+" is stopped", func(t *testing.T) {
			won := map[string]int{}
			for n := 0; ; n++ {
				s := succession{finishedRun(t), locks.Local()}
				peer := s.calls(t, s.mem, func(string) {})[other]
				var told error
				count, met := -1<<30, ""
				stop := func(what string) {
					if count++; count == n+1 {
						met, told = what, peer()
					}
				}
				disk := &durable.Faulty{Disk: s.mem, Before: func(_ int, op durable.Op) { stop(fmt.Sprint(op)) }}
				first := s.calls(t, disk, stop)[stopped]
				count = 0
				err := first()
				if met == "" {
					atLeast(t, n, 25)
					break
				}
				if errors.As(told, new(*commit.LockTimeoutError)) {
					told = peer()
				}
				winner := oneWon(t, map[string]error{stopped: err, other: told}, fmt.Sprintf("stopped %d: %s", n, met))
				won[winner]++
				for _, d := range []durable.Disk{s.mem.Crash(512, durable.Nothing), s.mem} {
					theWinnersRun(t, d, winner, fmt.Sprintf("stopped %d: %s", n, met))
				}
			}
			if won[stopped] == 0 || won[other] == 0 {
				t.Errorf("it was not raced for: %v", won)
			}
		})
	}
}

// oneWon gives the call that was carried out. The other one was refused by name.
func oneWon(t *testing.T, told map[string]error, what string) string {
	t.Helper()
	refused := map[string]bool{
		"open again": errors.As(told["open again"], new(*commit.FollowedError)),
		"start":      errors.As(told["start"], new(*commit.ExistsError)),
	}
	switch {
	case told["start"] == nil && refused["open again"]:
		return "start"
	case told["open again"] == nil && refused["start"]:
		return "open again"
	}
	t.Fatalf("%s: %v", what, told)
	return ""
}

// theWinnersRun wants one run that is live, that it is found, and that it goes on.
func theWinnersRun(t *testing.T, d durable.Disk, winner, what string) {
	t.Helper()
	want := committest.ID(map[string]int{"open again": 1, "start": 2}[winner])
	if live := liveRuns(t, d); !slices.Equal(live, []string{want}) {
		t.Fatalf("%s, %s won: live are %v", what, winner, live)
	}
	s := lookup(t, catalog(d), "a")
	if s.ID() != want {
		t.Fatalf("%s, %s won: found %s", what, winner, s.ID())
	}
	committest.MustCommit(t, s, add("next"))
}

func liveRuns(t *testing.T, d durable.Disk) (live []string) {
	t.Helper()
	all, err := catalog(d).List(t.Context())
	must(t, err)
	for _, e := range all {
		s, err := catalog(d).Open(t.Context(), e.ID)
		must(t, err, e.Err)
		if !committest.MustRead(t, s).State.Done {
			live = append(live, e.ID)
		}
	}
	return live
}

// The power goes before each operation of either call, some of it survives, and
// both are called anew, in both orders: there is one live run, and what was
// acknowledged before the power went is the one.
func TestSweepOpenedAgain(t *testing.T) {
	for _, dead := range []string{"open again", "start"} {
		for _, order := range [][]string{{"open again", "start"}, {"start", "open again"}} {
			for name, choose := range survivals(2) {
				for n := 0; ; n++ {
					s := succession{finishedRun(t), locks.Local()}
					var left *durable.Mem
					cut := &durable.Faulty{Disk: s.mem, Before: func(i int, _ durable.Op) {
						if i == n {
							left = s.mem.Crash(choose())
						}
					}}
					must(t, s.calls(t, cut, func(string) {})[dead]())
					if left == nil {
						atLeast(t, n, 8)
						break
					}
					after := succession{left, locks.Local()}.calls(t, left, func(string) {})
					for _, call := range order {
						err := after[call]()
						if refusal := new(committest.Refusal); err != nil && !errors.As(err, new(*commit.ExistsError)) &&
							!errors.As(err, new(*commit.FollowedError)) && !errors.As(err, &refusal) {
							t.Fatalf("%s died before operation %d, %s survived, then %s: %v", dead, n, name, call, err)
						}
					}
					if live := liveRuns(t, left); len(live) != 1 || lookup(t, catalog(left), "a").ID() != live[0] {
						t.Fatalf("%s died before operation %d, %s survived, then %v: live are %v", dead, n, name, order, live)
					}
				}
			}
		}
	}
}

// Who finishes a run dies before each operation of its disk, or each of them fails
// from there on; another run is asked for, and the power goes once that is told. There
// is one live run still: the one that was begun, or the one that is not over.
func TestSweepFollowedRunIsDurable(t *testing.T) {
	followed := 0
	for n := 0; ; n++ {
		mem := durable.NewMem()
		s := committest.Start(t, catalog(mem), "a", 1)
		committest.MustCommit(t, s, add("x"))
		dying := &durable.Faulty{Disk: mem, Fail: func(i int, _ durable.Op) error {
			if i >= n {
				return durable.ErrInjected
			}
			return nil
		}}
		store, err := catalog(dying).Open(t.Context(), committest.ID(1))
		if err == nil {
			_, err = store.Commit(t.Context(), committest.Finish{})
		}
		told := startAgain(t, catalog(mem), "a", 2)
		if told != nil && !errors.As(told, new(*commit.ExistsError)) {
			t.Fatalf("died before operation %d: %v", n, told)
		}
		left := mem.Crash(512, durable.Nothing)
		want := committest.ID(1)
		if told == nil {
			want, followed = committest.ID(2), followed+1
		}
		if live := liveRuns(t, left); !slices.Equal(live, []string{want}) {
			t.Fatalf("died before operation %d, then %v: live are %v", n, told, live)
		}
		if dying.Count() <= n {
			must(t, err)
			atLeast(t, n, 8)
			break
		}
	}
	if followed < 3 {
		t.Errorf("followed %d times only", followed)
	}
}

// A start meets an end that is not durable, and fails at each of its operations, or the
// power goes there; it is called anew, and the power goes after that. There is one live
// run each time, and it is the one that the last call told of.
func TestSweepFollowingAnUnsyncedEnd(t *testing.T) {
	ended := func() *durable.Mem {
		mem := durable.NewMem()
		committest.Start(t, catalog(mem), "a", 1)
		dying := &durable.Faulty{Disk: mem, Fail: func(_ int, op durable.Op) error {
			if op.Kind == "sync" || op.Kind == "truncate" {
				return durable.ErrInjected
			}
			return nil
		}}
		store, err := catalog(dying).Open(t.Context(), committest.ID(1))
		must(t, err)
		if _, err := store.Commit(t.Context(), committest.Finish{}); err == nil {
			t.Fatal("the end is durable")
		}
		return mem
	}
	for name, choose := range survivals(2) {
		for n := 0; ; n++ {
			mem := ended()
			faulty := &durable.Faulty{Disk: mem, Fail: durable.FailAt(n)}
			_ = startAgain(t, catalog(faulty), "a", 2)
			oneLiveRun(t, mem, fmt.Sprintf("error at %d", n))
			oneLiveRun(t, mem.Crash(choose()), fmt.Sprintf("error at %d, then %s survived", n, name))

			mem = ended()
			var left *durable.Mem
			cut := &durable.Faulty{Disk: mem, Before: func(i int, _ durable.Op) {
				if i == n {
					left = mem.Crash(choose())
				}
			}}
			_ = startAgain(t, catalog(cut), "a", 2)
			if left == nil {
				atLeast(t, n, 20)
				break
			}
			oneLiveRun(t, left, fmt.Sprintf("power gone at %d, %s survived", n, name))
		}
	}
}

// oneLiveRun calls a start anew: it begins the live run, or is refused because of one,
// and the power takes nothing of that.
func oneLiveRun(t *testing.T, mem *durable.Mem, what string) {
	t.Helper()
	err := startAgain(t, catalog(mem), "a", 3)
	if err != nil && !errors.As(err, new(*commit.ExistsError)) {
		t.Fatalf("%s: %v", what, err)
	}
	for _, d := range []*durable.Mem{mem, mem.Crash(512, durable.Nothing)} {
		live := liveRuns(t, d)
		if len(live) != 1 || err == nil && live[0] != committest.ID(3) || lookup(t, catalog(d), "a").ID() != live[0] {
			t.Fatalf("%s, then %v: live are %v", what, err, live)
		}
	}
}
