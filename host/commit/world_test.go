package commit_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

const memRoot = "/state"

// catalog opens a catalog on any disk; every call stands for a process of its
// own, and locks are never left over on a new one.
func catalog(d durable.Disk, change ...func(*commit.Options)) committest.Catalog {
	o := commit.Options{Disk: d, Locks: locks.Local()}
	for _, c := range change {
		c(&o)
	}
	return commit.NewFiles(memRoot, committest.Counter{}, &committest.Outside{}, o)
}

// real opens a catalog in real files.
func real(root string, change ...func(*commit.Options)) committest.Catalog {
	var o commit.Options
	for _, c := range change {
		c(&o)
	}
	return commit.NewFiles(root, committest.Counter{}, &committest.Outside{}, o)
}

func hook(f func(point string)) func(*commit.Options) {
	return func(o *commit.Options) { o.Hook = f }
}

// runFile is a file of run n.
func runFile(root string, n int, name string) string {
	return filepath.Join(root, "runs", committest.ID(n), name)
}

func lookup(t testing.TB, cat committest.Catalog, slug string) committest.Store {
	t.Helper()
	s, err := cat.Lookup(t.Context(), slug)
	if err != nil {
		t.Fatalf("lookup %s: %v", slug, err)
	}
	return s
}

func add(token string) committest.Add { return committest.Add{Who: "me", By: 1, Token: token} }

// tokens are the additions in the history, in order.
func tokens(t testing.TB, s committest.Store) []string {
	t.Helper()
	var out []string
	err := s.Records(t.Context(), 0, func(r commit.Record[committest.Event]) error {
		for _, e := range r.Events {
			if e.Event.Type == "added" {
				out = append(out, e.Event.Token)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("records: %v", err)
	}
	return out
}

// promises is what a scenario's callers were told.
type promises struct {
	started bool
	added   []string // acknowledged
	tried   []string
}

// sound holds a disk against the promises, then goes on working on it.
func (p promises) sound(t *testing.T, d durable.Disk, what string) {
	t.Helper()
	cat := catalog(d)
	s, err := cat.Lookup(t.Context(), "a")
	switch {
	case errors.Is(err, commit.ErrNoRun) && !p.started:
		if s, _, err = cat.Start(t.Context(), "a", committest.New{ID: committest.ID(7), First: committest.Open{}}); err != nil {
			t.Fatalf("%s: the next start: %v", what, err)
		}
	case err != nil:
		t.Fatalf("%s: lookup: %v", what, err)
	}
	snap, err := s.Read(t.Context())
	if err != nil {
		t.Fatalf("%s: read: %v", what, err)
	}
	p.check(t, s, snap, what)
	out, err := s.Commit(t.Context(), add("next"))
	if err != nil || !out.Committed {
		t.Fatalf("%s: the next commit: %v, %v", what, out.Committed, err)
	}
	p.added = append(slices.Clone(p.added), "next")
	p.tried = append(slices.Clone(p.tried), "next")
	p.check(t, s, out.Snapshot, what+", then a commit")
	if _, _, err := cat.Start(t.Context(), "a", committest.New{ID: committest.ID(8), First: committest.Open{}}); !errors.As(err, new(*commit.ExistsError)) {
		t.Fatalf("%s: a second run: %v", what, err)
	}
	if entries, err := cat.List(t.Context()); err != nil || len(entries) != 1 {
		t.Fatalf("%s: runs %v, %v", what, entries, err)
	}
}

// check: everything acknowledged is there once and in order, nothing is there
// that nobody asked for, and the folded journal is the state.
func (p promises) check(t *testing.T, s committest.Store, snap commit.Snapshot[committest.State], what string) {
	t.Helper()
	have := tokens(t, s)
	var acked []string
	seen := map[string]bool{}
	for _, token := range have {
		if seen[token] || !slices.Contains(p.tried, token) {
			t.Fatalf("%s: %q is there twice or was never asked for: %v", what, token, have)
		}
		seen[token] = true
		if slices.Contains(p.added, token) {
			acked = append(acked, token)
		}
	}
	if fmt.Sprint(acked) != fmt.Sprint(p.added) {
		t.Fatalf("%s: acknowledged %v, there %v", what, p.added, have)
	}
	if snap.State.Count != len(have) || snap.Revision != uint64(len(have))+1 {
		t.Fatalf("%s: state %+v of %v", what, snap, have)
	}
	report, err := s.Verify(t.Context())
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("%s: verify: %+v, %v", what, report, err)
	}
}
