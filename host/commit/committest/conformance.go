package committest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
)

// Env is one empty storage. Open gives a catalog on it; each call stands for
// another process.
type Env struct {
	Open    func() Catalog
	Outside *Outside // what those catalogs were given
}

// Run holds a storage to the contract of commit.Catalog and commit.Store.
// fresh gives an empty storage for each test.
func Run(t *testing.T, fresh func(t *testing.T) Env) {
	tests := []struct {
		name string
		test func(*testing.T, Env)
	}{
		{"a started run is there", started},
		{"a slug has one run", oneRun},
		{"a finished run may be followed", again},
		{"a refused start leaves nothing", refusedStart},
		{"what is not there", absent},
		{"names are checked", names},
		{"a commit is seen by all", commits},
		{"a refusal is returned as it is", refusals},
		{"nothing to do", noop},
		{"facts are read under the lock", facts},
		{"history", history},
		{"mentions", mentions},
		{"frozen files and views", files},
		{"a context that has ended", canceled},
		{"no addition is lost or doubled", adders},
		{"one of many that read the same state commits", compare},
		{"concurrent starts", starts},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := fresh(t)
			tt.test(t, env)
			sound(t, env)
		})
	}
}

// sound verifies every run that a test left.
func sound(t *testing.T, env Env) {
	t.Helper()
	cat := env.Open()
	entries, err := cat.List(t.Context())
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	for _, e := range entries {
		s, err := cat.Open(t.Context(), e.ID)
		if err != nil || e.Err != nil {
			t.Errorf("run %s: %v, %v", e.ID, err, e.Err)
			continue
		}
		if r, err := s.Verify(t.Context()); err != nil || len(r.Problems) > 0 {
			t.Errorf("run %s: %v, %v", e.ID, r.Problems, err)
		}
	}
}

// Start starts run n of a slug, or ends the test.
func Start(t testing.TB, cat Catalog, slug string, n int) Store {
	t.Helper()
	s, out, err := cat.Start(t.Context(), slug, New{ID: ID(n), First: Open{}})
	if err != nil || !out.Committed {
		t.Fatalf("start %s: committed %v, %v", slug, out.Committed, err)
	}
	return s
}

// MustCommit commits or ends the test.
func MustCommit(t testing.TB, s Store, tr Transition) Outcome {
	t.Helper()
	out, err := s.Commit(t.Context(), tr)
	if err != nil || !out.Committed {
		t.Fatalf("%s: committed %v, %v", tr.Kind(), out.Committed, err)
	}
	return out
}

// MustRead reads the state or ends the test.
func MustRead(t testing.TB, s Store) commit.Snapshot[State] {
	t.Helper()
	snap, err := s.Read(t.Context())
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return snap
}

func started(t *testing.T, env Env) {
	_, out, err := env.Open().Start(t.Context(), "a-slug", New{ID: ID(1), First: Open{}})
	if err != nil || out.Revision != 1 || len(out.Events) != 1 || out.At.IsZero() || len(out.Warnings) > 0 {
		t.Fatalf("start: %+v, %v", out, err)
	}
	cat := env.Open()
	byID, err := cat.Open(t.Context(), ID(1))
	if err != nil {
		t.Fatal(err)
	}
	bySlug, err := cat.Lookup(t.Context(), "a-slug")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Store{byID, bySlug} {
		snap := MustRead(t, s)
		if snap.ID != ID(1) || s.ID() != ID(1) || snap.Subject != "a-slug" || snap.Revision != 1 || snap.Digest != out.Digest {
			t.Errorf("read %+v", snap)
		}
	}
}

func oneRun(t *testing.T, env Env) {
	Start(t, env.Open(), "a", 1)
	_, _, err := env.Open().Start(t.Context(), "a", New{ID: ID(2), First: Open{}, Again: true})
	var exists *commit.ExistsError
	if !errors.As(err, &exists) || exists.ID != ID(1) || exists.Slug != "a" {
		t.Errorf("a second start: %v", err)
	}
	Start(t, env.Open(), "b", 3)
}

func again(t *testing.T, env Env) {
	cat := env.Open()
	MustCommit(t, Start(t, cat, "a", 1), Finish{})
	var exists *commit.ExistsError
	if _, _, err := cat.Start(t.Context(), "a", New{ID: ID(2), First: Open{}}); !errors.As(err, &exists) {
		t.Errorf("a second start without again: %v", err)
	}
	if _, _, err := cat.Start(t.Context(), "a", New{ID: ID(2), First: Open{}, Again: true}); err != nil {
		t.Fatalf("a second start: %v", err)
	}
	s, err := env.Open().Lookup(t.Context(), "a")
	if err != nil || s.ID() != ID(2) {
		t.Errorf("lookup after it: %v, %v", s, err)
	}
}

func refusedStart(t *testing.T, env Env) {
	want := &Refusal{"no"}
	_, out, err := env.Open().Start(t.Context(), "a", New{ID: ID(1), First: Open{Refuse: want}})
	if err != error(want) || out.Committed {
		t.Errorf("start: %v, %v", out.Committed, err)
	}
	cat := env.Open()
	if entries, err := cat.List(t.Context()); err != nil || len(entries) != 0 {
		t.Errorf("list: %v, %v", entries, err)
	}
	if _, err := cat.Lookup(t.Context(), "a"); !errors.Is(err, commit.ErrNoRun) {
		t.Errorf("lookup: %v", err)
	}
	Start(t, cat, "a", 1)
}

func absent(t *testing.T, env Env) {
	for i, cat := range []Catalog{env.Open(), env.Open()} {
		if _, err := cat.Lookup(t.Context(), "nothing"); !errors.Is(err, commit.ErrNoRun) {
			t.Errorf("lookup: %v", err)
		}
		if _, err := cat.Open(t.Context(), ID(99)); !errors.Is(err, commit.ErrNoRun) {
			t.Errorf("open: %v", err)
		}
		Start(t, cat, fmt.Sprint("s", i), i)
	}
}

func names(t *testing.T, env Env) {
	cat := env.Open()
	for _, bad := range []string{"", ".", "..", "../x", "a/b", ".hidden", "a b", "a\x00", "ä"} {
		if _, err := cat.Lookup(t.Context(), bad); err == nil || errors.Is(err, commit.ErrNoRun) {
			t.Errorf("lookup of %q: %v", bad, err)
		}
		if _, err := cat.Open(t.Context(), bad); err == nil || errors.Is(err, commit.ErrNoRun) {
			t.Errorf("open of %q: %v", bad, err)
		}
		if _, _, err := cat.Start(t.Context(), bad, New{ID: ID(1), First: Open{}}); err == nil {
			t.Errorf("start of %q passed", bad)
		}
		if bad == "a/b" {
			continue // a file may lie in a folder
		}
		if _, _, err := cat.Start(t.Context(), "a", New{ID: ID(1), First: Open{}, Blobs: map[string][]byte{bad: nil}}); err == nil {
			t.Errorf("a frozen file %q passed", bad)
		}
	}
}

func commits(t *testing.T, env Env) {
	s := Start(t, env.Open(), "a", 1)
	out := MustCommit(t, s, Add{Who: "me", By: 3, Token: "t1"})
	if out.State.Count != 3 || out.Revision != 2 || len(out.Events) != 1 {
		t.Errorf("outcome %+v", out)
	}
	other, err := env.Open().Lookup(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	MustCommit(t, other, Add{Who: "you", By: 4, Token: "t2"})
	snap := MustRead(t, s)
	if snap.State.Count != 7 || snap.State.By["me"] != 3 || snap.State.By["you"] != 4 || snap.Revision != 3 {
		t.Errorf("state %+v", snap)
	}
}

func refusals(t *testing.T, env Env) {
	s := Start(t, env.Open(), "a", 1)
	before := MustRead(t, s)
	five := 5
	out, err := s.Commit(t.Context(), Add{Who: "me", By: 1, Expect: &five})
	if r, ok := err.(*Refusal); !ok || r.Code != "moved" {
		t.Errorf("refusal: %v", err)
	}
	if out.Committed || out.Revision != 1 || out.State.Count != 0 || out.Digest != before.Digest {
		t.Errorf("outcome %+v", out)
	}
	if after := MustRead(t, s); after.Digest != before.Digest {
		t.Error("a refusal changed the run")
	}
}

func noop(t *testing.T, env Env) {
	s := Start(t, env.Open(), "a", 1)
	first := MustCommit(t, s, Add{Who: "me", By: 1, Token: "t"})
	out, err := s.Commit(t.Context(), Add{Who: "me", By: 1, Token: "t"})
	if err != nil || out.Committed || out.Digest != first.Digest || out.State.Count != 1 {
		t.Errorf("the same again: %+v, %v", out, err)
	}
}

func facts(t *testing.T, env Env) {
	s := Start(t, env.Open(), "a", 1)
	env.Outside.Limit.Store(2)
	MustCommit(t, s, Add{Who: "me", By: 2})
	if _, err := s.Commit(t.Context(), Add{Who: "me", By: 1}); err == nil || err.Error() != "limit" {
		t.Errorf("over the limit: %v", err)
	}
	env.Outside.Err = fs.ErrPermission
	if out, err := s.Commit(t.Context(), Add{Who: "me"}); !errors.Is(err, fs.ErrPermission) || out.Committed {
		t.Errorf("facts that cannot be read: %v", err)
	}
	env.Outside.Err = nil
}

func history(t *testing.T, env Env) {
	s := Start(t, env.Open(), "a", 1)
	for i := range 5 {
		MustCommit(t, s, Add{Who: "me", By: i, Token: fmt.Sprint("t", i)})
	}
	var seen []uint64
	err := s.Records(t.Context(), 3, func(r commit.Record[Event]) error {
		seen = append(seen, r.Revision)
		if len(r.Events) != 1 || !r.Events[0].Known || r.Events[0].Event.By != int(r.Revision)-2 || r.Kind != "add" || r.Actor != "me" {
			t.Errorf("record %+v", r)
		}
		return nil
	})
	if err != nil || fmt.Sprint(seen) != "[3 4 5 6]" {
		t.Errorf("records %v, %v", seen, err)
	}
	stop := errors.New("stop")
	if err := s.Records(t.Context(), 0, func(commit.Record[Event]) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a visit's error: %v", err)
	}
}

func mentions(t *testing.T, env Env) {
	s := Start(t, env.Open(), "a", 1)
	MustCommit(t, s, Add{Who: "me", By: 1, Token: "01JTOKEN"})
	MustCommit(t, s, Add{Who: "me", By: 1, Token: "other"})
	for text, want := range map[string]bool{"01JTOKEN": true, "other": true, "01JTOKENX": false, "": false} {
		if got, err := s.Mentions(t.Context(), text); got != want || err != nil {
			t.Errorf("mentions %q: %v, %v", text, got, err)
		}
	}
}

func files(t *testing.T, env Env) {
	frozen := map[string][]byte{"definition.toml": []byte("x = 1\n"), "plugins/a.wasm": []byte("wasm"), "empty": nil}
	s, _, err := env.Open().Start(t.Context(), "a", New{ID: ID(1), First: Open{}, Blobs: frozen})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range frozen {
		if got, err := readBlob(s, name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if err := s.PutBlob("definition.toml", []byte("y = 2\n")); err != nil {
		t.Error(err)
	}
	if got, err := readBlob(s, "definition.toml"); string(got) != "y = 2\n" || err != nil {
		t.Errorf("after it was put: %q, %v", got, err)
	}
	if _, err := s.Blob("missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing one: %v", err)
	}
	for _, name := range []string{"prompt.md", "prompts/WP01.md"} {
		if path, err := s.Publish(name, []byte("text")); err != nil || path == "" {
			t.Errorf("publish %s: %q, %v", name, path, err)
		}
		if got, err := readBlob(s, name); string(got) != "text" || err != nil {
			t.Errorf("published %s: %q, %v", name, got, err)
		}
	}
	for _, bad := range []string{"../x", "/etc/passwd", "state.json", "", "a/../b"} {
		if _, err := s.Publish(bad, nil); err == nil {
			t.Errorf("published %q", bad)
		}
		if err := s.PutBlob(bad, nil); err == nil {
			t.Errorf("put %q", bad)
		}
	}
}

func readBlob(s Store, name string) (_ []byte, err error) {
	b, err := s.Blob(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return io.ReadAll(io.NewSectionReader(b, 0, b.Size()))
}

func canceled(t *testing.T, env Env) {
	s := Start(t, env.Open(), "a", 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := s.Commit(ctx, Add{Who: "me", By: 1}); !errors.Is(err, context.Canceled) || out.Committed {
		t.Errorf("commit: %v", err)
	}
	if _, _, err := env.Open().Start(ctx, "b", New{ID: ID(2), First: Open{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("start: %v", err)
	}
	if snap := MustRead(t, s); snap.Revision != 1 {
		t.Errorf("recorded all the same: %+v", snap)
	}
}

// release runs n functions at once, let go together.
func release(n int, f func(i int)) {
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			f(i)
		})
	}
	ready.Wait()
	close(gate)
	done.Wait()
}

func adders(t *testing.T, env Env) {
	const writers, each = 8, 10
	Start(t, env.Open(), "a", 1)
	release(writers, func(w int) {
		s, err := env.Open().Lookup(t.Context(), "a")
		if err != nil {
			t.Error(err)
			return
		}
		for i := range each {
			out, err := s.Commit(t.Context(), Add{Who: fmt.Sprint("w", w), By: 1, Token: fmt.Sprint(w, "-", i)})
			if err != nil || !out.Committed {
				t.Errorf("writer %d: %v, %v", w, out.Committed, err)
			}
		}
	})
	s, err := env.Open().Open(t.Context(), ID(1))
	if err != nil {
		t.Fatal(err)
	}
	snap := MustRead(t, s)
	if snap.State.Count != writers*each || snap.Revision != writers*each+1 || len(snap.State.By) != writers {
		t.Errorf("after %d additions: %+v", writers*each, snap)
	}
	seen := map[string]bool{}
	err = s.Records(t.Context(), 2, func(r commit.Record[Event]) error {
		if token := r.Events[0].Event.Token; seen[token] {
			t.Errorf("token %s is there twice", token)
		} else {
			seen[token] = true
		}
		return nil
	})
	if err != nil || len(seen) != writers*each {
		t.Errorf("%d tokens, %v", len(seen), err)
	}
}

func compare(t *testing.T, env Env) {
	const writers = 8
	Start(t, env.Open(), "a", 1)
	for round := range 10 {
		var mu sync.Mutex
		ended := map[string]int{}
		release(writers, func(w int) {
			s, err := env.Open().Lookup(t.Context(), "a")
			if err != nil {
				t.Error(err)
				return
			}
			_, err = s.Commit(t.Context(), Add{Who: "me", By: 1, Token: fmt.Sprint(round, "-", w), Expect: &round})
			mu.Lock()
			defer mu.Unlock()
			ended[fmt.Sprint(err)]++
		})
		if ended["<nil>"] != 1 || ended["moved"] != writers-1 {
			t.Fatalf("round %d: %v", round, ended)
		}
	}
}

func starts(t *testing.T, env Env) {
	const starters = 8
	var mu sync.Mutex
	won, lost := 0, 0
	release(starters, func(i int) {
		_, _, err := env.Open().Start(t.Context(), "a", New{ID: ID(i + 1), First: Open{}})
		mu.Lock()
		defer mu.Unlock()
		var exists *commit.ExistsError
		switch {
		case err == nil:
			won++
		case errors.As(err, &exists):
			lost++
		default:
			t.Error(err)
		}
	})
	entries, err := env.Open().List(t.Context())
	if won != 1 || lost != starters-1 || len(entries) != 1 || err != nil {
		t.Errorf("%d started, %d refused, %d runs, %v", won, lost, len(entries), err)
	}
}
