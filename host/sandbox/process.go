package sandbox

import (
	"os"
	"runtime"
	"strconv"
	"sync"

	"github.com/spec-kitty/step-runner/host/internal/proc"
)

// process is one running child, seen from the parent.
type process struct {
	proc    *os.Process
	stdin   *os.File
	stdout  *os.File
	stderr  *os.File
	exited  chan struct{} // closed when the child has ended and was reaped
	state   *os.ProcessState
	waitErr error

	mu    sync.Mutex
	ended bool // the child's id may be used anew from here on: no more signals
}

// ends of pipes that go to the child.
type childEnds struct{ in, out, err *os.File }

// launch starts a child. It is started and reaped by one goroutine that keeps
// its thread: the kernel takes a child's parent to be the thread that started
// it, and would end the child when Go retires that thread.
func launch(exe string, j job) (*process, error) {
	p := &process{exited: make(chan struct{})}
	ends, err := p.pipes()
	if err != nil {
		return nil, err
	}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var err error
		p.proc, err = startChild(exe, j, []*os.File{ends.in, ends.out, ends.err})
		ends.close()
		started <- err
		if err == nil {
			p.reap()
		}
	}()
	if err := <-started; err != nil {
		p.closePipes()
		return nil, err
	}
	return p, nil
}

// startChild starts this program anew: with its name, the limits it is to set
// itself, no environment, and no files but those given.
func startChild(exe string, j job, files []*os.File) (*os.Process, error) {
	m := string(j.Mode)
	if j.Background {
		m += backgroundMark
	}
	argv := []string{"spec-kitty", childWord, strconv.FormatInt(j.Limits.Memory, 10), m}
	return os.StartProcess(exe, argv, &os.ProcAttr{
		Dir:   neutralDir,
		Env:   append(childEnv(), raceEnv()...),
		Files: files,
		Sys:   childAttr(j.Background),
	})
}

func (p *process) pipes() (ends childEnds, err error) {
	defer func() {
		if err != nil {
			ends.close()
			p.closePipes()
		}
	}()
	if ends.in, p.stdin, err = os.Pipe(); err != nil {
		return ends, err
	}
	if p.stdout, ends.out, err = os.Pipe(); err != nil {
		return ends, err
	}
	p.stderr, ends.err, err = os.Pipe()
	return ends, err
}

func (e childEnds) close() { closeAll(e.in, e.out, e.err) }

func (p *process) closePipes() { closeAll(p.stdin, p.stdout, p.stderr) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// reap waits for the child's end. Until ended is set its id is its own, as it
// was not reaped yet; so a kill can never meet another process.
func (p *process) reap() {
	if proc.AwaitEnd(p.proc) {
		p.setEnded()
	}
	p.state, p.waitErr = p.proc.Wait()
	p.setEnded()
	close(p.exited)
}

func (p *process) setEnded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		proc.KillGroup(p.proc) // and all it might have started
	}
}
