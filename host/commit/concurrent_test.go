package commit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// US3.1, FR-003: while the lock is held elsewhere, a commit waits on it. It is
// seen to wait: it gets past no point of its own until the holder lets go, and
// what the holder wrote meanwhile is what it decides on. Red with the lock
// out.
func TestCommitWaitsForTheLock(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	first := committest.Start(t, real(root), "a", 1)
	committest.MustCommit(t, first, add("t1"))

	var order []string
	var mu sync.Mutex
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, what)
	}
	waiter := make(chan error, 1)
	begun := make(chan struct{})
	holder := real(root, hook(func(point string) {
		note("holder " + point)
		if point != commit.PointLockAcquired {
			return
		}
		go func() {
			cat := real(root, hook(func(point string) { note("waiter " + point) }))
			s, err := cat.Lookup(context.Background(), "a")
			close(begun)
			if err == nil {
				one := 1
				_, err = s.Commit(context.Background(), committest.Add{Who: "peer", By: 1, Token: "late", Expect: &one})
			}
			waiter <- err
		}()
		<-begun
		// If the waiter does not wait, it is done soon; if it does, this ends
		// by itself and the order proves it.
		select {
		case err := <-waiter:
			t.Errorf("the second commit did not wait: %v", err)
			waiter <- err
		case <-time.After(50 * time.Millisecond):
		}
	}))
	committest.MustCommit(t, lookup(t, holder, "a"), add("t2"))
	// It read the state again under the lock, so its compare fails.
	var refusal *committest.Refusal
	if err := <-waiter; !errors.As(err, &refusal) || refusal.Code != "moved" {
		t.Errorf("the waiter: %v", err)
	}
	release, got := slices.Index(order, "holder "+commit.PointBeforeRelease), slices.Index(order, "waiter "+commit.PointLockAcquired)
	if got < release {
		t.Errorf("order %v", order)
	}
}

// US3.2, SC-001: two commits that read the same state, let go from a barrier:
// exactly one commits, the other sees the change. Red with the lock out and
// the compare kept. The barrier stands before the lock, after the first read.
func TestTwoConcurrentCommits(t *testing.T) {
	for round := range 25 {
		root := filepath.Join(t.TempDir(), "root")
		committest.Start(t, real(root), "a", 1)
		var ready, done sync.WaitGroup
		gate := make(chan struct{})
		var committed, refused atomic.Int64
		for w := range 2 {
			ready.Add(1)
			done.Go(func() {
				s := lookup(t, real(root), "a")
				count := committest.MustRead(t, s).State.Count
				ready.Done()
				<-gate
				_, err := s.Commit(t.Context(), committest.Add{Who: "me", By: 1, Token: fmt.Sprint(w), Expect: &count})
				switch {
				case err == nil:
					committed.Add(1)
				case errors.As(err, new(*committest.Refusal)):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		ready.Wait()
		close(gate)
		done.Wait()
		snap := committest.MustRead(t, lookup(t, real(root), "a"))
		if committed.Load() != 1 || refused.Load() != 1 || snap.State.Count != 1 {
			t.Fatalf("round %d: %d committed, %d refused, state %+v", round, committed.Load(), refused.Load(), snap)
		}
	}
}

// Edge: a lock that cannot be had in time is an error of its own, and nothing
// is written.
func TestLockTimeout(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	s := committest.Start(t, real(root), "a", 1)
	before := tree(t, filepath.Join(root, "runs"))
	hold(t, runFile(root, 1, "state.json.lock"), func() {
		before[runFile(root, 1, "state.json.lock")] = ""
		for _, wait := range []time.Duration{-1, time.Millisecond} {
			short := real(root, func(o *commit.Options) { o.LockTimeout = wait })
			_, err := lookup(t, short, "a").Commit(t.Context(), add("t1"))
			var timeout *commit.LockTimeoutError
			if !errors.As(err, &timeout) || timeout.Path != runFile(root, 1, "state.json.lock") {
				t.Errorf("wait %v: %v", wait, err)
			}
		}
		// A query takes no lock.
		committest.MustRead(t, s)
	})
	sameTree(t, before, tree(t, filepath.Join(root, "runs")))
	committest.MustCommit(t, s, add("t1"))
	hold(t, filepath.Join(root, "index.lock"), func() {
		short := real(root, func(o *commit.Options) { o.LockTimeout = -1 })
		_, _, err := short.Start(t.Context(), "b", committest.New{ID: committest.ID(2), First: committest.Open{}})
		if !errors.As(err, new(*commit.LockTimeoutError)) {
			t.Errorf("start: %v", err)
		}
		// Starting waits for nothing else: a commit needs no index lock.
		committest.MustCommit(t, s, add("t2"))
	})
}

func hold(t *testing.T, path string, work func()) {
	t.Helper()
	must(t, locks.At(path).Do(t.Context(), time.Minute, func(*locks.Held) error {
		work()
		return nil
	}))
}

// NFR-002 and the sync bar: an uncontended commit takes the lock once and
// syncs once; counted, also with a repair's own sync. A query does neither.
func TestOneLockOneSync(t *testing.T) {
	var points []string
	faulty := &durable.Faulty{Disk: durable.NewMem()}
	cat := catalog(faulty, hook(func(p string) { points = append(points, p) }))
	committest.Start(t, cat, "a", 1)
	points = nil
	s := lookup(t, cat, "a")
	for _, token := range []string{"t1", "t2", "t3"} {
		points = nil
		faulty.Reset()
		committest.MustCommit(t, s, add(token))
		want := []string{
			commit.PointLockAcquired, commit.PointBeforeAppend, commit.PointAfterAppend, commit.PointAfterSync,
			commit.PointBeforePublish, commit.PointAfterPublish, commit.PointBeforeRelease, commit.PointReleased,
		}
		if !slices.Equal(points, want) {
			t.Errorf("points %v", points)
		}
		if faulty.Kind("sync") != 1 || faulty.Kind("syncdir") != 0 || faulty.Kind("rename") != 1 || faulty.Kind("open") != 3 {
			t.Errorf("%d syncs, %d of folders, %d renames, %d files opened",
				faulty.Kind("sync"), faulty.Kind("syncdir"), faulty.Kind("rename"), faulty.Kind("open"))
		}
	}
	points = nil
	faulty.Reset()
	committest.MustRead(t, s)
	if !slices.Equal(points, []string{commit.PointViewRead}) || faulty.Kind("write")+faulty.Kind("sync")+faulty.Kind("rename") != 0 {
		t.Errorf("a query: %v, %d writes", points, faulty.Kind("write"))
	}
}

// C-002: the index lock is released before a run's lock is taken, in a start
// followed by a commit and where a commit first has to mend the index.
func TestIndexLockIsReleasedFirst(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	var points []string
	cat := real(root, hook(func(p string) { points = append(points, p) }))
	committest.MustCommit(t, committest.Start(t, cat, "a", 1), add("t1"))
	inOrder(t, points, commit.PointStartIndexed, commit.PointStartReleased, commit.PointLockAcquired)

	must(t, os.RemoveAll(filepath.Join(root, "index")), os.Mkdir(filepath.Join(root, "index"), 0o755))
	points = nil
	committest.MustCommit(t, lookup(t, cat, "a"), add("t2"))
	inOrder(t, points, commit.PointHealLocked, commit.PointHealReleased, commit.PointLockAcquired)

	// The locks themselves say so too: while a run's lock is held the index
	// lock is free, and the other way round.
	free := func(path string) {
		must(t, locks.At(path).Do(t.Context(), 0, func(*locks.Held) error { return nil }))
	}
	checked := 0
	cat = real(root, hook(func(p string) {
		switch p {
		case commit.PointAfterSync, commit.PointRepaired:
			free(filepath.Join(root, "index.lock"))
			checked++
		case commit.PointStartSynced, commit.PointStartIndexed, commit.PointHealLocked:
			free(runFile(root, 1, "state.json.lock"))
			checked++
		}
	}))
	must(t, os.Remove(filepath.Join(root, "index", "a")))
	committest.MustCommit(t, lookup(t, cat, "a"), add("t3"))
	committest.Start(t, cat, "b", 2)
	if checked != 4 {
		t.Errorf("checked %d times", checked)
	}
}

func inOrder(t *testing.T, points []string, order ...string) {
	t.Helper()
	last := -1
	for _, p := range order {
		i := slices.Index(points, p)
		if i <= last {
			t.Errorf("%s is not in its place: %v", p, points)
		}
		last = i
	}
}

// Edge, E4: a folder that is removed or replaced under the lock. Nothing is
// written and nothing made anew.
func TestFolderReplacedUnderTheLock(t *testing.T) {
	for _, point := range []string{commit.PointLockAcquired, commit.PointBeforeAppend} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, made again %v", point, again), func(t *testing.T) {
				root := five(t)
				dir := filepath.Join(root, "runs", committest.ID(1))
				cat := real(root, hook(func(p string) {
					if p != point {
						return
					}
					must(t, os.Rename(dir, dir+"-old"))
					if again {
						must(t, os.CopyFS(dir, os.DirFS(dir+"-old")))
					}
				}))
				old := tree(t, dir)
				_, err := lookup(t, cat, "a").Commit(t.Context(), add("t9"))
				if !errors.As(err, new(*commit.ReplacedError)) && !errors.Is(err, commit.ErrNoRun) {
					t.Errorf("error %v", err)
				}
				for path, data := range tree(t, dir+"-old") {
					if want, ok := old[filepath.Join(dir, filepath.Base(path))]; ok && want != data {
						t.Errorf("changed: %s", path)
					}
				}
				if again {
					sameTree(t, old, tree(t, dir))
				} else if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("made anew: %v", err)
				}
			})
		}
	}
	root := five(t)
	s := lookup(t, real(root), "a")
	must(t, os.RemoveAll(filepath.Join(root, "runs", committest.ID(1))))
	if _, err := s.Commit(t.Context(), add("t9")); !errors.Is(err, commit.ErrNoRun) {
		t.Errorf("a removed run: %v", err)
	}
	if _, err := s.Read(t.Context()); !errors.Is(err, commit.ErrNoRun) {
		t.Errorf("a removed run: %v", err)
	}
}

// The same state by two paths is one run under one lock.
func TestTwoPaths(t *testing.T) {
	root := five(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Skip(err)
	}
	hold(t, runFile(root, 1, "state.json.lock"), func() {
		short := real(link, func(o *commit.Options) { o.LockTimeout = -1 })
		if _, err := lookup(t, short, "a").Commit(t.Context(), add("t9")); !errors.As(err, new(*commit.LockTimeoutError)) {
			t.Errorf("by the other path: %v", err)
		}
	})
	committest.MustCommit(t, lookup(t, real(link), "a"), add("t9"))
}

// Somebody writes without the lock between load and append.
func TestWriterWithoutTheLock(t *testing.T) {
	mem := withTwo(t)
	path := runFile(memRoot, 1, "run.events.jsonl")
	cat := catalog(mem, hook(func(p string) {
		if p == commit.PointBeforeAppend {
			appendTo(t, mem, path, "whatever\n")
		}
	}))
	out, err := lookup(t, cat, "a").Commit(t.Context(), add("t3"))
	if !errors.As(err, new(*commit.TwoWritersError)) || out.Committed {
		t.Errorf("outcome %+v, %v", out, err)
	}
}
