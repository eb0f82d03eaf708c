package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// result is what the parent saw of a child.
type result struct {
	report   *report // nil: the child ended without one
	stdout   []byte
	log      []byte
	ready    bool
	stopped  Code   // why the parent killed it; "" where it ended by itself
	end      string // how the process ended, where not by exit 0
	protocol error  // what was wrong with its frames

	interpreted bool
}

// converse starts a child, feeds it, drains all its pipes at once and waits for
// its end. It kills the child when ctx is done, when its time is up by our own
// clock, and when it writes more than it may.
func converse(ctx context.Context, exe string, j job, input [][]byte) (result, error) {
	p, err := launch(exe, j)
	if err != nil {
		return result{}, err
	}
	t := &talk{process: p, job: j, ready: make(chan struct{}), full: make(chan Code, 2)}
	t.readers.Add(2)
	go t.readLog()
	go t.readFrames()
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		t.feed(input)
	}()
	stopped := t.watch(ctx)
	t.readers.Wait()
	_ = p.stdin.Close()
	<-fed
	p.closePipes()
	t.res.stopped = stopped
	if p.waitErr != nil {
		t.res.end = p.waitErr.Error()
	} else if !p.state.Success() {
		t.res.end = p.state.String()
	}
	return t.res, ctx.Err()
}

// talk is one conversation. Each field of res is written by one goroutine and
// read when all have ended.
type talk struct {
	*process
	job     job
	res     result
	ready   chan struct{} // closed when the child has loaded the module
	full    chan Code     // a cap was passed
	readers sync.WaitGroup
}

// feed writes the job, the module and the request. An error means that the
// child has ended, which is told otherwise. stdin stays open where its end would
// tell the child that we died.
func (t *talk) feed(input [][]byte) {
	if err := writeFrame(t.stdin, frameJob, t.job); err != nil {
		return
	}
	for _, b := range input {
		if _, err := t.stdin.Write(b); err != nil {
			return
		}
	}
	if !hasLifeline {
		_ = t.stdin.Close()
	}
}

// watch waits for the child's end and kills it if need be.
func (t *talk) watch(ctx context.Context) (stopped Code) {
	ready, limit := t.ready, t.job.firstLimit()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	stop := func(why Code) {
		if stopped == "" {
			stopped = why
			t.kill()
		}
	}
	done := ctx.Done()
	for {
		select {
		case <-t.exited:
			return stopped
		case <-done:
			done = nil
			stop(ChildFailed)
		case <-ready:
			ready = nil
			if t.job.Mode == compile {
				timer.Reset(t.job.Limits.Timeout + grace)
			}
		case <-timer.C:
			if ready != nil && (t.job.Mode == compile || t.job.Mode == fill) {
				stop(CompileLimit)
			} else {
				stop(TimeLimit)
			}
		case why := <-t.full:
			stop(why)
		}
	}
}

// firstLimit is how long the child may take until it is ready, or, where
// loading is part of the call, until its end.
func (j job) firstLimit() time.Duration {
	if j.Mode == compile || j.Mode == fill {
		return j.Limits.CompileTime + grace
	}
	return j.Limits.Timeout - j.Spent + grace
}

// crashText is how much a child may write to stderr beyond the guest's log: the
// words of Go's runtime when it dies.
const crashText = 64 << 10

func (t *talk) readLog() {
	defer t.readers.Done()
	most := t.job.Limits.Log + crashText
	log, err := io.ReadAll(io.LimitReader(t.stderr, most+1))
	if int64(len(log)) > most {
		t.full <- LogLimit
		_, _ = io.Copy(io.Discard, t.stderr)
	} else if err != nil && !errors.Is(err, os.ErrClosed) {
		log = fmt.Appendf(log, "\n(%v)", err)
	}
	t.res.log = log[max(0, int64(len(log))-t.job.Limits.Log):]
}

func (t *talk) readFrames() {
	defer t.readers.Done()
	if err := t.frames(); err != nil && !errors.Is(err, io.EOF) {
		t.res.protocol = err
	}
	if n, _ := io.Copy(io.Discard, io.LimitReader(t.stdout, 1)); n > 0 {
		t.res.protocol = errors.New("the child wrote more than its report")
		t.full <- OutputLimit
		_, _ = io.Copy(io.Discard, t.stdout)
	}
}

func (t *talk) frames() error {
	r := &report{}
	kind, err := readFrame(t.stdout, r, frameReady, frameDone)
	if err != nil {
		return err
	}
	if kind == frameReady {
		t.res.ready = true
		close(t.ready)
		if _, err = readFrame(t.stdout, r, frameDone); err != nil {
			return err
		}
	}
	if r.Output < 0 || r.Output > t.job.Limits.Output {
		return fmt.Errorf("the child reports %d bytes of output", r.Output)
	}
	t.res.stdout = make([]byte, r.Output)
	if _, err = io.ReadFull(t.stdout, t.res.stdout); err != nil {
		return err
	}
	t.res.report = r
	return nil
}
