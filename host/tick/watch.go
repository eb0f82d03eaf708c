package tick

import (
	"context"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
)

// watch ends the work where it crosses a limit by its own word, or where it seems
// to do nothing: no output and no processor time for the idle time. stop ends the
// watching and waits for it.
func (r *running) watch(ctx context.Context) (watched context.Context, stop func()) {
	watched, end := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	w := &watcher{r: r, rules: r.rules(), count: r.state.Count, moved: r.l.host.Awake()}
	over, finish := context.WithCancel(ctx)
	go func() {
		defer close(ended)
		timer := time.NewTicker(watchEvery)
		defer timer.Stop()
		for {
			select {
			case <-over.Done():
				return
			case <-timer.C:
			}
			if cause := w.once(); cause != nil {
				end(cause)
				return
			}
		}
	}()
	return watched, func() {
		finish()
		<-ended
	}
}

type watcher struct {
	r     *running
	rules loop.Rules
	count loop.Count
	moved time.Duration // when something was last seen to go on; a sleep of the machine is not counted
	bytes int64
	ticks uint64
}

func (w *watcher) once() error {
	u := w.r.used()
	if over, crossed := w.rules.Crossed(w.count, u, w.r.l.now()); crossed {
		return &limitError{over}
	}
	if w.rules.LowContext(u) {
		return &limitError{loop.Crossing{Code: loop.HaltContext, Detail: contextText(*u.Context, w.rules.ContextFloor)}}
	}
	if idle := w.r.src.Work.IdleTimeout; idle > 0 && w.still() > idle {
		return errIdle
	}
	return nil
}

func contextText(left, floor int) string {
	return itoa(uint64(left)) + "% of the context is left, less than " + itoa(uint64(floor)) + "%"
}

// still is how long nothing was seen to go on.
func (w *watcher) still() time.Duration {
	now := w.r.l.host.Awake()
	var size int64
	if info, err := w.r.folder.root.Stat("work" + logSuffix); err == nil {
		size = info.Size()
	}
	ticks := groupTicks(int(w.r.group.Load()))
	if size != w.bytes || ticks != w.ticks {
		w.bytes, w.ticks, w.moved = size, ticks, now
	}
	return now - w.moved
}
