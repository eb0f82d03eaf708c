package tick

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// The disk does not say that an outcome lasts; the next try makes it last. The tick then
// tells the run's end, and not that its claim was lost.
func TestOutcomeUncertainAtFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		work string
		code string
		by   Outcome
	}{
		"good":   {commits, "success", Done},
		"failed": {"exit 3", "exit_status", Failed},
		"halted": {commits, string(loop.HaltRuns), Halted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var armed atomic.Bool
			disk := &durable.Faulty{Disk: durable.OS(), Fail: func(_ int, op durable.Op) error {
				if op.Kind == "sync" && strings.HasSuffix(op.Path, JournalName) && armed.CompareAndSwap(true, false) {
					return errors.New("the disk did not say so")
				}
				return nil
			}}
			y := newYard(t, tt.work, func(d *loop.Definition) {
				if tt.by == Halted {
					d.Limits.MaxRuns = 1
				}
			})
			y.create("deps")
			l := y.loops(hooked(func(point string) { armed.Store(point == PointEnding) }), func(o *Options) { o.Commit.Disk = disk })
			y.want(y.tick(l), tt.by, tt.code)
			if s := y.status(); s.Claim != nil || s.Count.Runs != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}
