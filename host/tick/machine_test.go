package tick

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
)

type facts struct{}

func (facts) Facts(context.Context, loop.State, commit.Transition[loop.State, loop.Facts, loop.Event]) (loop.Facts, error) {
	return loop.Facts{Definition: "d", Runner: loop.Alive, Here: loop.Place{Host: "h", Boot: "b"}}, nil
}

func started(t *testing.T, root string) commit.Store[loop.State, loop.Facts, loop.Event] {
	t.Helper()
	files := commit.NewFiles(root, Machine(), commit.Outside[loop.State, loop.Facts, loop.Event](facts{}), commit.Options{Journal: JournalName})
	first := loop.Create{By: loop.By{Who: "ann"}, UID: "u1", Name: "deps", Definition: "d"}
	store, _, err := files.Start(t.Context(), "deps", commit.New[loop.State, loop.Facts, loop.Event]{ID: "u1", First: first})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func firing() loop.ClaimLoop {
	def := &loop.Definition{Lease: loop.DefaultLease}
	return loop.ClaimLoop{By: loop.By{Who: "tick"}, Runner: loop.Runner{Host: "h", Boot: "b"}, Definition: def, Digest: "d", Zone: time.UTC}
}

// SerializeConcurrent (row 1, S1): ticks released at once get one token; the
// others skip, and every skip is counted.
func TestOneToken_Row1(t *testing.T) {
	const n, rounds = 8, 5
	store := started(t, t.TempDir())
	for round := 1; round <= rounds; round++ {
		release, outcomes := make(chan struct{}), make(chan string, n)
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				<-release
				out, err := store.Commit(t.Context(), firing())
				if err != nil {
					outcomes <- err.Error()
					return
				}
				switch e := out.Events[0].(type) {
				case loop.Claimed:
					outcomes <- "token"
				case loop.Skipped:
					outcomes <- string(e.Reason)
				}
			})
		}
		close(release)
		all.Wait()
		close(outcomes)
		count := map[string]int{}
		for o := range outcomes {
			count[o]++
		}
		if count["token"] != 1 || count["busy"] != n-1 {
			t.Fatalf("round %d: %v", round, count)
		}
		tick := loop.Tick{UID: "u1", Token: uint64(round)}
		if _, err := store.Commit(t.Context(), loop.CloseGate{Tick: tick}); err != nil {
			t.Fatal(err)
		}
	}
	snap, err := store.Read(t.Context())
	if err != nil || snap.State.Token != rounds || snap.State.Count.Skips != rounds*n {
		t.Fatalf("token %d, %d skips: %v", snap.State.Token, snap.State.Count.Skips, err)
	}
}

// SerializeConcurrent, second form: the revision grows by the number of pauses
// that succeeded, and the last one is what is kept.
func TestPausesAreSerialized_S2(t *testing.T) {
	const n = 8
	store := started(t, t.TempDir())
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if _, err := store.Commit(t.Context(), loop.Pause{By: loop.By{Who: "kim"}, Reason: strconv.Itoa(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	snap, err := store.Read(t.Context())
	if err != nil || snap.Revision != 1+n || snap.State.Control.Desired != loop.Paused {
		t.Fatalf("revision %d, %+v: %v", snap.Revision, snap.State.Control, err)
	}
}

// A refusal is the caller's own error and leaves no record; the journal folds
// to what the view says.
func TestRefusalLeavesNoRecord(t *testing.T) {
	store := started(t, t.TempDir())
	_, err := store.Commit(t.Context(), loop.Resume{By: loop.By{Who: "kim"}})
	var refusal *loop.Refusal
	if !errors.As(err, &refusal) || refusal.Code != loop.NotPaused {
		t.Fatalf("%v", err)
	}
	report, err := store.Verify(t.Context())
	if err != nil || report.Records != 1 || len(report.Problems) > 0 || report.View != commit.ViewCurrent {
		t.Fatalf("%+v, %v", report, err)
	}
}

// What a newer version wrote is known to be that.
func TestUnknownEvent_Row46(t *testing.T) {
	_, err := Machine().DecodeEvent([]byte(`{"teleported":{}}`))
	var unknown *commit.UnknownEventError
	if !errors.As(err, &unknown) {
		t.Fatalf("%v", err)
	}
	if e, err := Machine().DecodeEvent([]byte(`{"removed":{}}`)); err != nil || !Machine().Finished(Machine().Evolve(Machine().Zero(), commit.Meta{}, e)) {
		t.Fatalf("%#v, %v", e, err)
	}
}
