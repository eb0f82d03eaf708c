package command

import (
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/spec-kitty/step-runner/host/internal/proc"
)

// Process is a process by its identity: an id alone may be another process's
// tomorrow.
type Process struct {
	PID   int    // also the id of its group
	Start string // when it started, in the kernel's own words; "" where that is not to be had
	Boot  string // the boot in which PID and Start mean something; "" where that is not to be had
}

// Lives tells whether the process of this identity has not ended. Where the
// system tells no start times, another process with its id counts as it.
func (p Process) Lives() bool {
	now, err := Identify(p.PID)
	return err == nil && now == p
}

// process is a started program.
type process struct {
	proc   *os.Process
	ended  chan struct{} // closed when the program has ended
	reaped chan struct{} // closed when its group is gone and it was waited for

	// To be looked at once reaped is closed.
	state      *os.ProcessState
	endedAt    time.Time
	leftovers  int
	unkillable bool

	mu  sync.Mutex
	let bool // the id may be used anew from here on: no more signals; guarded by mu
}

// launch starts the program and waits for it in one goroutine that keeps its
// thread: the kernel takes a child's parent to be the thread that started it,
// and would tell the child of its parent's death when Go retires that thread.
func launch(c Command, program string, files []*os.File) (*process, error) {
	p := &process{ended: make(chan struct{}), reaped: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var err error
		p.proc, err = startHeld(c, program, files)
		started <- err
		if err == nil {
			p.attend()
		}
	}()
	return p, <-started
}

// attend waits for the program's end and ends what it left of its group. Until
// the program was reaped its id, which is its group's, is no one else's: so no
// signal meets a stranger.
func (p *process) attend() {
	seen := proc.AwaitEnd(p.proc)
	if !seen { // cannot be told from the reaping here
		p.state, _ = p.proc.Wait()
	}
	p.endedAt = time.Now()
	close(p.ended)
	p.leftovers, p.unkillable = EndGroup(p.proc.Pid)
	p.mu.Lock()
	p.let = true
	p.mu.Unlock()
	if seen {
		p.state, _ = p.proc.Wait()
	}
	close(p.reaped)
}

func (p *process) terminate() { p.signal(terminateGroup) }
func (p *process) kill()      { p.signal(proc.KillGroup) }

func (p *process) signal(send func(*os.Process)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.let {
		send(p.proc)
	}
}

func (p *process) outcome() (end End, exit int, signal string) {
	if p.state == nil {
		return Signaled, -1, "unknown"
	}
	if name, ok := signalOf(p.state); ok {
		return Signaled, -1, name
	}
	return Exited, p.state.ExitCode(), ""
}
