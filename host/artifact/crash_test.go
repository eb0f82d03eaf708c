package artifact_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/artifact"
	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// A run whose records carry two files each, beside the project that they go to,
// on one disk that can crash: what a report with artifacts does, without all the
// rest.

type pair struct {
	N    int    // 0: what was pending is published
	Was  string // digest of what both replace
	Text string
}

type printed struct {
	Last    pair
	Pending uint64
}

type book struct{}

func (book) Version() int          { return 1 }
func (book) Zero() printed         { return printed{} }
func (book) Finished(printed) bool { return false }
func (book) Evolve(s printed, m commit.Meta, e pair) printed {
	if e.N == 0 {
		s.Pending = 0
		return s
	}
	return printed{Last: e, Pending: m.Revision}
}
func (book) EncodeEvent(e pair) (json.RawMessage, error)         { return json.Marshal(e) }
func (book) DecodeEvent(raw json.RawMessage) (e pair, err error) { return e, json.Unmarshal(raw, &e) }

// turn writes page N over page N-1.
type turn struct{ n int }

func (turn) Kind() string  { return "turn" }
func (turn) Actor() string { return "me" }
func (t turn) Decide(s printed, _ int, _ time.Time) ([]pair, error) {
	if s.Last.N >= t.n {
		return nil, nil
	}
	was := artifact.Absent
	if s.Last.N > 0 {
		was = artifact.Digest([]byte(s.Last.Text))
	}
	return []pair{{N: t.n, Was: was, Text: fmt.Sprint("page ", t.n)}}, nil
}

type press struct{ place *artifact.Place }

func (press) Facts(context.Context, printed, commit.Transition[printed, int, pair]) (int, error) {
	return 0, nil
}
func (press) Pending(s printed) uint64 { return s.Pending }
func (p press) Publish(_ context.Context, _ printed, rec commit.Record[pair]) ([]pair, error) {
	e := rec.Events[0].Event
	return []pair{{}}, p.place.Publish([]artifact.File{
		{Path: "a.md", Data: []byte(e.Text), Replaces: e.Was},
		{Path: "docs/b.md", Data: []byte(e.Text), Replaces: e.Was},
	})
}

func books(d durable.Disk) commit.Catalog[printed, int, pair] {
	return commit.NewFiles[printed, int, pair]("/state", book{}, press{artifact.At("/project", d)}, commit.Options{Disk: d, Locks: locks.Local()})
}

// newBook is a disk with a project and a run of one page, all of it durable.
func newBook(t *testing.T) *durable.Mem {
	t.Helper()
	d := durable.NewMem()
	err := durable.MkdirAll(d, "/project", 0o755)
	if err == nil {
		_, _, err = books(d).Start(t.Context(), "book", commit.New[printed, int, pair]{ID: "01J", First: turn{1}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// whole wants the same page in both places, of at least the last acknowledged
// one, once the next operation ran; it begins no page that was not asked for.
func whole(t *testing.T, d *durable.Mem, acked, tried int, what string) {
	t.Helper()
	s, err := books(d).Lookup(t.Context(), "book")
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	out, err := s.Commit(t.Context(), turn{0})
	if err != nil {
		t.Fatalf("%s: the next call: %v", what, err)
	}
	n := out.State.Last.N
	if n < acked || n > tried || out.State.Pending != 0 {
		t.Fatalf("%s: page %d, acknowledged %d, pending %d", what, n, acked, out.State.Pending)
	}
	for where, d := range map[string]durable.Disk{"": d, ", and the power failed again": d.Crash(512, durable.Nothing)} {
		for _, path := range []string{"/project/a.md", "/project/docs/b.md"} {
			raw, err := durable.ReadFile(d, path, 1<<10)
			if err != nil || string(raw) != fmt.Sprint("page ", n) {
				t.Fatalf("%s%s: %s has %q, %v, want page %d", what, where, path, raw, err, n)
			}
		}
	}
	if r, err := s.Verify(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Fatalf("%s: verify %v, %v", what, r.Problems, err)
	}
	entries, err := d.ReadDir("/project")
	if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return durable.IsTemp(e.Name()) }) {
		t.Fatalf("%s: temporary files are left: %v, %v", what, entries, err)
	}
}

// turnPages turns two pages, each with one more try where the first failed.
func turnPages(t *testing.T, d durable.Disk, acked, tried *int) {
	for n := 1; n <= 3; n++ {
		*tried = n
		for range 2 {
			s, err := books(d).Lookup(t.Context(), "book")
			if err != nil {
				continue
			}
			if _, err := s.Commit(t.Context(), turn{n}); err == nil {
				*acked = n
				break
			}
		}
	}
}

// P3: the power fails before operation 0, 1, 2, … of commits with artifacts, and
// none, all or some of what was not synced survives: after the next operation
// the files are all those of one record, and no acknowledged one is lost.
func TestSweepCrashesOfArtifacts_P3(t *testing.T) {
	choices := map[string]func() (int, durable.Chooser){
		"nothing":    func() (int, durable.Chooser) { return 512, durable.Nothing },
		"everything": func() (int, durable.Chooser) { return 512, durable.Everything },
	}
	seeds := uint64(3)
	if testing.Short() {
		seeds = 0
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 7))
		choices[fmt.Sprint("some ", seed)] = func() (int, durable.Chooser) { return []int{512, 64, 1}[seed%3], rng.IntN }
	}
	for name, choose := range choices {
		t.Run(name, func(t *testing.T) {
			for n := 0; ; n++ {
				mem := newBook(t)
				var left *durable.Mem
				acked, tried, told := 1, 1, 1
				faulty := &durable.Faulty{Disk: mem, Before: func(i int, _ durable.Op) {
					if i == n {
						left, told = mem.Crash(choose()), acked
					}
				}}
				turnPages(t, faulty, &acked, &tried)
				if left == nil {
					whole(t, mem.Crash(choose()), acked, tried, "after the last operation")
					if n < 60 {
						t.Errorf("the sweep met only %d operations", n)
					}
					return
				}
				whole(t, left, told, tried, fmt.Sprint("before operation ", n))
			}
		})
	}
}

// P3: operation 0, 1, 2, … fails, and then the power too.
func TestSweepErrorsOfArtifacts_P3(t *testing.T) {
	for n := 0; ; n++ {
		mem := newBook(t)
		acked, tried := 1, 1
		faulty := &durable.Faulty{Disk: mem, Fail: durable.FailAt(n), Short: 5}
		turnPages(t, faulty, &acked, &tried)
		whole(t, mem.Crash(512, durable.Nothing), acked, tried, fmt.Sprintf("operation %d failed, nothing survived", n))
		whole(t, mem, acked, tried, fmt.Sprintf("operation %d failed", n))
		if faulty.Count() <= n {
			return
		}
	}
}
