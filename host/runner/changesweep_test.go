package runner

import (
	"context"
	"errors"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// on opens the project with its runs on a disk in memory.
func on(t *testing.T, root string, d durable.Disk) *Project {
	return open(t, root, func(o *Options) { o.Commit.Disk, o.Commit.Locks = d, locks.Local() })
}

// changed is a project whose run stands at B, on a disk in memory, and whose
// definition was changed since.
func changed(t *testing.T) (root string, mem *durable.Mem) {
	root, mem = makeProject(t, linear, nil), durable.NewMem()
	p := on(t, root, mem)
	must(t, p, report("a", cursor.Success))
	wantStep(t, must(t, p, report("a", cursor.Success)), "B")
	change(t, root, `{ id = "C" }`, `{ id = "new" }`)
	return root, mem.Crash(512, durable.Everything)
}

// changeVerbs are the operator's changes that a disk may cut short.
func changeVerbs() map[string]func(p *Project) (applied bool, err error) {
	ctx := context.Background()
	return map[string]func(*Project) (bool, error){
		"migrate": func(p *Project) (bool, error) {
			done, refused, err := p.Migrate(ctx, MigrateRequest{Mission: "m", Actor: "human:ops"})
			return done.Applied && refused == nil, err
		},
		"rewind": func(p *Project) (bool, error) {
			done, refused, err := p.Rewind(ctx, RewindRequest{Mission: "m", Actor: "human:ops", Step: "A", Reason: "r"})
			return done.Applied && refused == nil, err
		},
	}
}

// Issue 5 point 2: migrate and rewind under an error at disk operation n, and
// under a power failure at n with none or all of what was not synced surviving,
// for n = 0, 1, 2, … until none is met. What was acknowledged is there, the run
// is sound with all its frozen files, it goes by the definition of before or of
// after, and the next operation works.
func TestChangesUnderDiskFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("some hundred runs")
	}
	for verb, act := range changeVerbs() {
		t.Run(verb, func(t *testing.T) {
			root, base := changed(t)
			for n := 0; ; n++ {
				applied, met := cutShort(t, root, base, n, act)
				if !met {
					if !applied || n < 5 {
						t.Fatalf("applied %v after %d operations", applied, n)
					}
					t.Logf("%d operations", n)
					return
				}
			}
		})
	}
}

var errCut = errors.New("the disk failed")

// cutShort lets operation n fail, and looks at what every power failure then leaves.
func cutShort(t *testing.T, root string, base *durable.Mem, n int, act func(*Project) (bool, error)) (applied, met bool) {
	t.Helper()
	mem := base.Crash(512, durable.Everything)
	var after []*durable.Mem
	faulty := &durable.Faulty{Disk: mem, Fail: func(i int, _ durable.Op) error {
		if i != n {
			return nil
		}
		after = append(after, mem.Crash(512, durable.Nothing), mem.Crash(512, durable.Everything))
		return errCut
	}}
	applied, _ = act(on(t, root, faulty))
	for _, left := range after { // it died there: nothing was acknowledged
		soundRun(t, root, left, n, false)
	}
	soundRun(t, root, mem.Crash(512, durable.Nothing), n, applied)
	soundRun(t, root, mem, n, applied)
	return applied, len(after) > 0
}

// soundRun wants a whole run, with the change in it where that was
// acknowledged, and that the next operation works.
func soundRun(t *testing.T, root string, d durable.Disk, n int, acknowledged bool) {
	t.Helper()
	p := on(t, root, d)
	v, err := p.Verify(context.Background(), "m")
	if err != nil || !v.Sound {
		t.Fatalf("operation %d: %v %v", n, v.Problems, err)
	}
	if acknowledged && v.Records < 3 {
		t.Fatalf("operation %d: the change was acknowledged and is lost", n)
	}
	a, err := p.Next(context.Background(), report("a", cursor.Success))
	if err != nil || a.Kind != KindStep || !a.Recorded {
		t.Fatalf("operation %d: the next report is %s, %v", n, a.Kind, err)
	}
}
