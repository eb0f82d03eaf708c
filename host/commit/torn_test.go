package commit_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// SC-003, Row 20, the tail rule: the last record is cut at each of its bytes, with and
// without zero bytes or junk in its place, and the view is that of before.
// Readers see the state before, the next writer goes on from it.
func TestTornAtEveryByte_Row20(t *testing.T) {
	alone(t)
	base := withTwo(t)
	path, viewPath := runFile(memRoot, 1, "run.events.jsonl"), runFile(memRoot, 1, "state.json")
	file, err := durable.ReadFile(base, path, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	view, err := durable.ReadFile(base, viewPath, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	committest.MustCommit(t, lookup(t, catalog(base), "a"), add("t3"))
	longer, err := durable.ReadFile(base, path, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	record := longer[len(file):]
	for cut := range record {
		for name, tail := range map[string][]byte{
			"cut":    record[:cut],
			"zeros":  append(slices.Clone(record[:cut]), make([]byte, len(record)-cut)...),
			"middle": append(append(slices.Clone(record[:cut]), 0), record[cut+1:]...),
		} {
			mem := base.Crash(512, durable.Everything)
			must(t, durable.Replace(mem, path, append(slices.Clone(file), tail...), 0o644), durable.Replace(mem, viewPath, view, 0o644))
			s := lookup(t, catalog(mem), "a")
			if snap := committest.MustRead(t, s); snap.State.Count != 2 || len(snap.Warnings) != 0 {
				t.Fatalf("%s at %d: %+v", name, cut, snap)
			}
			promises{started: true, added: []string{"t1", "t2"}, tried: []string{"t1", "t2"}}.sound(t, mem, fmt.Sprintf("%s at %d", name, cut))
		}
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// SC-003, the record written again. A sync fails and loses its pages; the
// record is in memory only. The caller repeats its call and is told "already
// so": from then on a power failure must not take the record away.
func TestFailedSyncThenRepeat(t *testing.T) {
	for name, repeat := range map[string]committest.Transition{"the same call": add("t3"), "another call": add("t4")} {
		t.Run(name, func(t *testing.T) {
			mem := withTwo(t)
			failed := false
			faulty := &durable.Faulty{Disk: mem, Fail: func(_ int, op durable.Op) error {
				if op.Kind == "sync" && !failed {
					failed = true
					return durable.ErrInjected
				}
				return nil
			}}
			_, err := lookup(t, catalog(faulty), "a").Commit(t.Context(), add("t3"))
			var uncertain *commit.UncertainError
			if !errors.As(err, &uncertain) || !errors.Is(err, durable.ErrInjected) {
				t.Fatalf("a failed sync: %v", err)
			}
			if _, err := lookup(t, catalog(mem), "a").Commit(t.Context(), repeat); err != nil {
				t.Fatal(err)
			}
			left := mem.Crash(512, durable.Nothing)
			if got := tokens(t, lookup(t, catalog(left), "a")); !slices.Contains(got, "t3") {
				t.Errorf("after the power failed: %v", got)
			}
		})
	}
}

// SC-003, repair first. A writer is killed between append and sync. What the
// next one answers, a no-op or a refusal, is given after the record is
// durable.
func TestKilledBeforeSyncThenNoop(t *testing.T) {
	five := 5
	for name, next := range map[string]committest.Transition{
		"already so": add("t3"),
		"refused":    committest.Add{Who: "me", By: 1, Expect: &five},
	} {
		t.Run(name, func(t *testing.T) {
			mem := withTwo(t)
			killed := errors.New("killed")
			func() {
				defer func() {
					if r := recover(); r != killed {
						t.Fatalf("recovered %v", r)
					}
				}()
				cat := catalog(mem, hook(func(point string) {
					if point == commit.PointAfterAppend {
						panic(killed)
					}
				}))
				_, _ = lookup(t, cat, "a").Commit(t.Context(), add("t3"))
			}()
			faulty := &durable.Faulty{Disk: mem}
			s := lookup(t, catalog(faulty), "a")
			if snap := committest.MustRead(t, s); snap.State.Count != 3 {
				t.Errorf("a query shows %+v", snap)
			}
			if out, _ := s.Commit(t.Context(), next); out.Committed || out.State.Count != 3 {
				t.Errorf("outcome %+v", out)
			}
			if got := tokens(t, lookup(t, catalog(mem.Crash(512, durable.Nothing)), "a")); len(got) != 3 {
				t.Errorf("after the power failed: %v", got)
			}
			// The repair is done once.
			faulty.Reset()
			_, _ = s.Commit(t.Context(), next)
			if faulty.Kind("sync") != 0 || faulty.Kind("write") != 0 {
				t.Errorf("repaired again: %d syncs, %d writes", faulty.Kind("sync"), faulty.Kind("write"))
			}
		})
	}
}

// A disk that is full in the middle of a record: the old state stands, and the
// journal is as it was.
func TestDiskFull(t *testing.T) {
	mem := withTwo(t)
	path := runFile(memRoot, 1, "run.events.jsonl")
	before, err := durable.ReadFile(mem, path, 1<<20)
	must(t, err)
	faulty := &durable.Faulty{Disk: mem, Short: 33, Fail: func(_ int, op durable.Op) error {
		if op.Kind == "write" {
			return durable.ErrInjected
		}
		return nil
	}}
	out, err := lookup(t, catalog(faulty), "a").Commit(t.Context(), add("t3"))
	var full *commit.AppendError
	if !errors.As(err, &full) || out.Committed || out.State.Count != 2 {
		t.Errorf("outcome %+v, %v", out, err)
	}
	after, err := durable.ReadFile(mem, path, 1<<20)
	must(t, err)
	if !slices.Equal(before, after) {
		t.Error("the journal changed")
	}
}

// From the sync on the call has succeeded; a view that cannot be written is a
// warning, and the next writer makes it.
func TestViewNotWritten(t *testing.T) {
	mem := withTwo(t)
	faulty := &durable.Faulty{Disk: mem, Fail: func(_ int, op durable.Op) error {
		if op.Kind == "rename" {
			return durable.ErrInjected
		}
		return nil
	}}
	out := committest.MustCommit(t, lookup(t, catalog(faulty), "a"), add("t3"))
	if len(out.Warnings) != 1 || out.Warnings[0].Code != commit.WarnViewNotWritten {
		t.Errorf("warnings %+v", out.Warnings)
	}
	s := lookup(t, catalog(mem), "a")
	if snap := committest.MustRead(t, s); snap.State.Count != 3 || len(snap.Warnings) != 0 {
		t.Errorf("read %+v", snap)
	}
	if r, err := s.Verify(t.Context()); err != nil || r.View != commit.ViewBehind {
		t.Errorf("verify %+v, %v", r, err)
	}
	if out, err := s.Commit(t.Context(), add("t3")); err != nil || out.Committed {
		t.Errorf("the same again: %+v, %v", out, err)
	}
	if r, err := s.Verify(t.Context()); err != nil || r.View != commit.ViewCurrent {
		t.Errorf("verify after the next writer: %+v, %v", r, err)
	}
}
