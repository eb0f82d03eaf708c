package commit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
)

// carried is run n of slug "a" as bytes.
func carried(t testing.TB, cat committest.Catalog, n int) commit.Whole {
	t.Helper()
	s, err := cat.Open(t.Context(), committest.ID(n))
	must(t, err)
	w := commit.Whole{ID: s.ID(), Subject: "a", Blobs: map[string][]byte{"sub/y": []byte("y")}}
	must(t, s.Records(t.Context(), 0, func(r commit.Record[committest.Event]) error {
		w.Journal = append(append(w.Journal, r.Line...), '\n')
		return nil
	}))
	return w
}

func receive(t testing.TB, cat committest.Catalog, w commit.Whole) (bool, error) {
	t.Helper()
	added, _, err := cat.(commit.Receiver).Receive(t.Context(), w)
	return added, err
}

// P3: a run that was carried over is the same run, whole, and goes on.
func TestReceive(t *testing.T) {
	from := catalog(withTwo(t))
	w := carried(t, from, 1)
	mem := durable.NewMem()
	to := catalog(mem)
	if added, err := receive(t, to, w); err != nil || !added {
		t.Fatalf("%v %v", added, err)
	}
	s := lookup(t, catalog(mem), "a")
	if report, err := s.Verify(t.Context()); err != nil || len(report.Problems) > 0 || report.View != commit.ViewCurrent {
		t.Errorf("%+v %v", report, err)
	}
	if got, want := committest.MustRead(t, s), committest.MustRead(t, lookup(t, from, "a")); got.Digest != want.Digest || got.State.Count != want.State.Count {
		t.Errorf("received %+v, sent %+v", got, want)
	}
	blob, err := s.Blob("sub/y")
	must(t, err)
	text := make([]byte, blob.Size())
	if _, err := blob.ReadAt(text, 0); err != nil || string(text) != "y" {
		t.Errorf("the frozen file came as %q %v", text, err)
	}
	if added, err := receive(t, catalog(mem), w); err != nil || added {
		t.Errorf("the same again: %v %v", added, err)
	}
	committest.MustCommit(t, s, add("t3"))
}

// Two copies of one run are told apart by their histories, and neither is
// written over.
func TestReceiveBesideACopy(t *testing.T) {
	mem := withTwo(t)
	w := carried(t, catalog(mem), 1)
	fork := durable.NewMem()
	if _, err := receive(t, catalog(fork), w); err != nil {
		t.Fatal(err)
	}
	committest.MustCommit(t, lookup(t, catalog(mem), "a"), add("here"))
	var taken *commit.TakenError
	if _, err := receive(t, catalog(mem), w); !errors.As(err, &taken) || taken.Diverged || taken.Have != 4 || taken.Given != 3 {
		t.Errorf("an older copy: %v", err)
	}
	if _, err := receive(t, catalog(fork), carried(t, catalog(mem), 1)); !errors.As(err, &taken) || taken.Diverged || taken.Have != 3 || taken.Given != 4 {
		t.Errorf("a newer copy: %v", err)
	}
	committest.MustCommit(t, lookup(t, catalog(fork), "a"), add("there"))
	if _, err := receive(t, catalog(fork), carried(t, catalog(mem), 1)); !errors.As(err, &taken) || !taken.Diverged {
		t.Errorf("a fork: %v", err)
	}
}

// What is not whole and sound is refused before anything is made.
func TestReceiveRefusesDamage(t *testing.T) {
	good := carried(t, catalog(withTwo(t)), 1)
	for name, spoil := range map[string]func(w *commit.Whole){
		"empty":            func(w *commit.Whole) { w.Journal = nil },
		"torn":             func(w *commit.Whole) { w.Journal = w.Journal[:len(w.Journal)-3] },
		"a byte":           func(w *commit.Whole) { w.Journal[len(w.Journal)/2] ^= 1 },
		"a line left out":  func(w *commit.Whole) { w.Journal = withoutLine(w.Journal, 1) },
		"another run":      func(w *commit.Whole) { w.ID = committest.ID(7) },
		"another slug":     func(w *commit.Whole) { w.Subject = "b" },
		"a name outside":   func(w *commit.Whole) { w.Blobs = map[string][]byte{"../x": nil} },
		"the journal's":    func(w *commit.Whole) { w.Blobs = map[string][]byte{"run.events.jsonl": nil} },
		"a newer record":   func(w *commit.Whole) { w.Journal = withNewer(t, w.Journal) },
		"the slug's shape": func(w *commit.Whole) { w.Subject = "../a" },
	} {
		t.Run(name, func(t *testing.T) {
			w := good
			w.Journal = bytes.Clone(good.Journal)
			spoil(&w)
			mem := durable.NewMem()
			if added, err := receive(t, catalog(mem), w); err == nil || added {
				t.Fatalf("received: %v", added)
			}
			if entries, err := mem.ReadDir("/"); err != nil || len(entries) > 0 {
				t.Errorf("something was made: %v %v", entries, err)
			}
		})
	}
}

func withoutLine(journal []byte, n int) []byte {
	lines := bytes.SplitAfter(journal, []byte{'\n'})
	return bytes.Join(append(lines[:n:n], lines[n+1:]...), nil)
}

func withNewer(t *testing.T, raw []byte) []byte {
	lines := bytes.SplitAfter(raw, []byte{'\n'})
	last := forged(t, string(lines[2]), func(rec *journal.Record) { rec.Events = []json.RawMessage{[]byte(`{"type":"of tomorrow"}`)} })
	return append(bytes.Join(lines[:2], nil), last...)
}

// A slug has one live run, also of those that were carried over.
func TestReceiveBesideAnotherRun(t *testing.T) {
	old, mem := durable.NewMem(), durable.NewMem()
	committest.MustCommit(t, committest.Start(t, catalog(old), "a", 1), add("t1"))
	live := committest.Start(t, catalog(mem), "a", 2)
	var exists *commit.ExistsError
	if _, err := receive(t, catalog(mem), carried(t, catalog(old), 1)); !errors.As(err, &exists) || exists.ID != live.ID() {
		t.Errorf("beside a live run: %v", err)
	}
	committest.MustCommit(t, live, committest.Finish{})
	if _, err := receive(t, catalog(mem), carried(t, catalog(old), 1)); !errors.As(err, &exists) {
		t.Errorf("an older live run behind a finished one: %v", err)
	}
	committest.MustCommit(t, lookup(t, catalog(old), "a"), committest.Finish{})
	if added, err := receive(t, catalog(mem), carried(t, catalog(old), 1)); err != nil || !added {
		t.Errorf("an older run for the record: %v %v", added, err)
	}
	if s := lookup(t, catalog(mem), "a"); s.ID() != live.ID() {
		t.Errorf("the latest run is now %s", s.ID())
	}
	later := durable.NewMem()
	committest.Start(t, catalog(later), "a", 3)
	if added, err := receive(t, catalog(mem), carried(t, catalog(later), 3)); err != nil || !added {
		t.Errorf("a run that follows: %v %v", added, err)
	}
	if s := lookup(t, catalog(mem), "a"); s.ID() != committest.ID(3) {
		t.Errorf("the latest run is %s", s.ID())
	}
}

// What is here under the id and is no run is told as damage, and left as it is.
func TestReceiveBesideDamage(t *testing.T) {
	w := carried(t, catalog(withTwo(t)), 1)
	for name, spoil := range map[string]func(d *durable.Mem, journal string) error{
		"no journal": func(d *durable.Mem, journal string) error { return d.Remove(journal) },
		"no first record": func(d *durable.Mem, journal string) error {
			return durable.Replace(d, journal, []byte("{}\n"), 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			mem := durable.NewMem()
			if added, err := receive(t, catalog(mem), w); err != nil || !added {
				t.Fatalf("%v %v", added, err)
			}
			must(t, spoil(mem, runFile(memRoot, 1, "run.events.jsonl")))
			if added, err := receive(t, catalog(mem), w); added || !errors.As(err, new(*commit.DamagedError)) {
				t.Errorf("%v %v", added, err)
			}
		})
	}
}
