package commit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// A scenario works on a disk and keeps account of what it was told. Each call
// that fails is made once more, as callers do; an answer "already so" counts as
// an acknowledgement.
type scenario struct {
	name  string
	ready func(t *testing.T) *durable.Mem // the disk it begins with
	work  func(t *testing.T, d durable.Disk, p *promises)
}

var scenarios = []scenario{
	{"start and commits", func(*testing.T) *durable.Mem { return durable.NewMem() }, func(t *testing.T, d durable.Disk, p *promises) {
		startTwice(t, d, p)
		addTwice(t, d, p, "t1")
		addTwice(t, d, p, "t2")
	}},
	{"torn tail and old view", tornAndOld, func(t *testing.T, d durable.Disk, p *promises) {
		p.started = true
		addTwice(t, d, p, "t3")
	}},
	{"no view", noView, func(t *testing.T, d durable.Disk, p *promises) {
		p.started = true
		addTwice(t, d, p, "t3")
	}},
	{"no index", noIndex, func(t *testing.T, d durable.Disk, p *promises) {
		p.started = true
		addTwice(t, d, p, "t3")
		startTwice(t, d, p)
	}},
	{"mending a torn tail and an old view", tornAndOld, func(t *testing.T, d durable.Disk, p *promises) {
		p.started = true
		mendTwice(t, d)
		addTwice(t, d, p, "t3")
	}},
	{"receiving a run", func(*testing.T) *durable.Mem { return durable.NewMem() }, func(t *testing.T, d durable.Disk, p *promises) {
		receiveTwice(t, d, p)
		addTwice(t, d, p, "t3")
	}},
	{"mending the index", noIndex, func(t *testing.T, d durable.Disk, p *promises) {
		p.started = true
		mendTwice(t, d)
		addTwice(t, d, p, "t3")
	}},
}

// mendTwice mends the run and its index entry, as an operator does, again where
// that failed.
func mendTwice(t *testing.T, d durable.Disk) {
	for try := range 2 {
		cat := catalog(d)
		s, err := cat.Lookup(t.Context(), "a")
		if err != nil {
			continue
		}
		_, err = s.(commit.Mender).Mend(t.Context(), fmt.Sprintf("%s/backups/try-%d", memRoot, try))
		if _, entry := cat.(commit.Keeper).MendEntry(t.Context(), "a"); err == nil && entry == nil {
			return
		}
	}
}

// receiveTwice takes in a run with two additions, again where that failed.
func receiveTwice(t *testing.T, d durable.Disk, p *promises) {
	w := carried(t, catalog(withTwo(t)), 1)
	p.tried = append(p.tried, "t1", "t2")
	for range 2 {
		if _, _, err := catalog(d).(commit.Receiver).Receive(t.Context(), w); err == nil {
			p.started, p.added = true, append(p.added, "t1", "t2")
			return
		}
	}
}

func startTwice(t *testing.T, d durable.Disk, p *promises) {
	for range 2 {
		_, out, err := catalog(d).Start(t.Context(), "a", committest.New{
			ID: committest.ID(1), First: committest.Open{},
			Blobs: map[string][]byte{"definition.toml": []byte("x"), "sub/y": []byte("y")},
		})
		if err == nil && out.Committed || errors.As(err, new(*commit.ExistsError)) {
			p.started = true
			return
		}
	}
}

func addTwice(t *testing.T, d durable.Disk, p *promises, token string) {
	p.tried = append(p.tried, token)
	for range 2 {
		s, err := catalog(d).Lookup(t.Context(), "a")
		if err != nil {
			continue
		}
		if _, err = s.Commit(t.Context(), add(token)); err == nil {
			p.added = append(p.added, token)
			return
		}
	}
}

// withTwo is a run with two additions, all of it durable.
func withTwo(t *testing.T) *durable.Mem {
	mem := durable.NewMem()
	s := committest.Start(t, catalog(mem), "a", 1)
	committest.MustCommit(t, s, add("t1"))
	committest.MustCommit(t, s, add("t2"))
	return mem
}

func tornAndOld(t *testing.T) *durable.Mem {
	mem := withTwo(t)
	old, err := durable.ReadFile(mem, runFile(memRoot, 1, "state.json"), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	committest.MustCommit(t, lookup(t, catalog(mem), "a"), add("t2b"))
	if err := durable.Publish(mem, runFile(memRoot, 1, "state.json"), old, 0o644); err != nil {
		t.Fatal(err)
	}
	appendTo(t, mem, runFile(memRoot, 1, "run.events.jsonl"), `{"format":1,"run":"01J`)
	return mem.Crash(512, durable.Everything)
}

func noView(t *testing.T) *durable.Mem {
	mem := withTwo(t)
	if err := mem.Remove(runFile(memRoot, 1, "state.json")); err != nil {
		t.Fatal(err)
	}
	return mem.Crash(512, durable.Everything)
}

func noIndex(t *testing.T) *durable.Mem {
	mem := withTwo(t)
	if err := mem.RemoveAll(memRoot + "/index"); err != nil {
		t.Fatal(err)
	}
	return mem.Crash(512, durable.Everything)
}

func appendTo(t testing.TB, d durable.Disk, path, text string) {
	t.Helper()
	f, err := d.OpenFile(path, 2 /* read and write */, 0)
	if err != nil {
		t.Fatal(err)
	}
	size, err := f.Size()
	if err == nil {
		_, err = f.WriteAt([]byte(text), size)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// before are the tokens that a scenario's disk begins with.
func before(t *testing.T, mem *durable.Mem) []string {
	s, err := catalog(mem).Lookup(t.Context(), "a")
	if errors.Is(err, commit.ErrNoRun) {
		return nil
	}
	return tokens(t, s)
}

// begin clones the disk that a scenario starts from.
func begin(base *durable.Mem, known []string) (*durable.Mem, *promises) {
	return base.Crash(512, durable.Everything), &promises{added: append([]string(nil), known...), tried: append([]string(nil), known...)}
}

// survivals are the ways in which a power failure goes.
func survivals(seeds uint64) map[string]func() (int, durable.Chooser) {
	out := map[string]func() (int, durable.Chooser){
		"nothing":    func() (int, durable.Chooser) { return 512, durable.Nothing },
		"everything": func() (int, durable.Chooser) { return 512, durable.Everything },
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 1))
		sector := []int{512, 64, 1}[seed%3]
		out[fmt.Sprintf("some (seed %d, sectors of %d)", seed, sector)] = func() (int, durable.Chooser) { return sector, rng.IntN }
	}
	return out
}

// The disk fails once, at operation 0, 1, 2, … until a run meets no failure.
// Then the power fails too.
func TestSweepErrors(t *testing.T) {
	alone(t)
	for _, sc := range scenarios {
		for _, short := range []int{0, 20, 1 << 20} {
			t.Run(fmt.Sprintf("%s/%d bytes written", sc.name, short), func(t *testing.T) {
				sweepErrors(t, sc, short)
			})
		}
	}
}

func sweepErrors(t *testing.T, sc scenario, short int) {
	base := sc.ready(t)
	known := before(t, base)
	for n := 0; ; n++ {
		mem, p := begin(base, known)
		faulty := &durable.Faulty{Disk: mem, Fail: durable.FailAt(n), Short: short}
		sc.work(t, faulty, p)
		for name, choose := range survivals(1) {
			what := fmt.Sprintf("operation %d failed, %s survived", n, name)
			p.sound(t, mem.Crash(choose()), what)
		}
		p.sound(t, mem, fmt.Sprintf("operation %d failed", n))
		if faulty.Count() <= n {
			atLeast(t, n, 15)
			return
		}
	}
}

// alone skips a sweep under the race detector: one goroutine, and minutes of
// it.
func alone(t *testing.T) {
	if raceDetector {
		t.Skip("nothing in it is concurrent")
	}
}

func atLeast(t *testing.T, n, want int) {
	t.Helper()
	if n < want {
		t.Errorf("the sweep met only %d operations", n)
	}
}

// From operation n on, every operation of one kind fails: a disk that is full
// or read-only. Nothing is acknowledged that is not there, and once it works
// again so do we.
func TestSweepErrorsThatStay(t *testing.T) {
	alone(t)
	for _, sc := range scenarios {
		for _, kind := range []string{"write", "sync", "syncdir", "rename", "open"} {
			t.Run(sc.name+"/"+kind, func(t *testing.T) {
				base := sc.ready(t)
				known := before(t, base)
				for n := 0; ; n++ {
					mem, p := begin(base, known)
					faulty := &durable.Faulty{Disk: mem, Short: 30, Fail: func(i int, op durable.Op) error {
						if i >= n && op.Kind == kind {
							return durable.ErrInjected
						}
						return nil
					}}
					sc.work(t, faulty, p)
					p.sound(t, mem.Crash(512, durable.Nothing), fmt.Sprintf("%s failed from %d on, nothing survived", kind, n))
					p.sound(t, mem, fmt.Sprintf("%s failed from %d on", kind, n))
					if faulty.Count() <= n {
						return
					}
				}
			})
		}
	}
}

// The power fails before operation 0, 1, 2, … and after the last one.
func TestSweepCrashes(t *testing.T) {
	alone(t)
	for _, sc := range scenarios {
		for name, choose := range survivals(6) {
			t.Run(sc.name+"/"+name, func(t *testing.T) {
				base := sc.ready(t)
				known := before(t, base)
				for n := 0; ; n++ {
					mem, p := begin(base, known)
					var (
						left *durable.Mem
						told promises
					)
					faulty := &durable.Faulty{Disk: mem, Before: func(i int, _ durable.Op) {
						if i == n {
							left, told = mem.Crash(choose()), *p
						}
					}}
					sc.work(t, faulty, p)
					if left == nil {
						p.sound(t, mem.Crash(choose()), "after the last operation")
						atLeast(t, n, 15)
						return
					}
					told.sound(t, left, fmt.Sprintf("before operation %d", n))
				}
			})
		}
	}
}
