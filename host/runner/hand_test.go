package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// A hand is another process that makes calls: this test binary, run again. It
// reads one order a line and writes one line for each thing that happens, so a
// test stops it at a named point and releases several at once, without sleeping.

const handVariable = "SPEC_KITTY_TEST_HAND"

// order is what a hand is told to do.
type order struct {
	Root    string
	Request *Request      // a report
	Start   *StartRequest // or a start
	Claim   *ClaimRequest // or a claim
	Release *OperatorRequest
	Query   bool // or a query, by By
	By      Caller
	Plan    bool   // save the report's plan instead of committing it
	Apply   []byte // or commit this one
	Stop    string // the point to stop at, until a line comes
	Kill    string // the point to be killed at
	Disk    *int   // or the operation of the disk
	Temps   bool   // counting those on temporary files only
	Trust   string // the digest that is consented to
}

// event is what a hand tells.
type event struct {
	Stopped bool
	Answer  *Answer
	Plan    []byte
	Error   string
	Code    Code
}

func beHand() int {
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var o order
		if err := json.Unmarshal(line, &o); err != nil {
			return 1
		}
		_ = out.Encode(o.obey(func() {
			_ = out.Encode(event{Stopped: true})
			_, _ = in.ReadBytes('\n')
		}))
	}
}

// obey makes the call on a project that is opened for it.
func (o order) obey(wait func()) event {
	hook := func(point string) {
		switch point {
		case o.Stop:
			wait()
		case o.Kill:
			killSelf()
		}
	}
	options := handOptions(o.Root, hook)
	options.Trust = o.Trust
	if o.Disk != nil {
		options.Commit.Disk = o.killing()
	}
	p, err := Open(options)
	if err != nil {
		return told(Answer{}, nil, err)
	}
	defer p.Close()
	return o.call(p)
}

// killing is the real disk, before one of whose operations the hand is killed.
func (o order) killing() durable.Disk {
	n := 0
	return &durable.Faulty{Disk: durable.OS(), Before: func(_ int, op durable.Op) {
		if o.Temps && op.Kind != "rename" && !durable.IsTemp(filepath.Base(op.Path)) {
			return
		}
		if n == *o.Disk {
			killSelf()
		}
		n++
	}}
}

// call makes the call on an open project.
func (o order) call(p *Project) event {
	ctx := context.Background()
	var plan []byte
	if o.Plan {
		o.Request.PlanOut = func(raw []byte) error {
			plan = raw
			return nil
		}
	}
	var a Answer
	var err error
	switch {
	case o.Query:
		a, err = p.Query(ctx, "m", o.By)
	case o.Start != nil:
		a, err = p.Start(ctx, *o.Start)
	case o.Claim != nil:
		a, err = p.WPClaim(ctx, *o.Claim)
	case o.Release != nil:
		a, err = p.WPRelease(ctx, *o.Release)
	case o.Apply != nil:
		a, err = p.Apply(ctx, o.Apply)
	default:
		a, err = p.Next(ctx, *o.Request)
	}
	return told(a, plan, err)
}

func told(a Answer, plan []byte, err error) event {
	if err == nil {
		return event{Answer: &a, Plan: plan}
	}
	e := event{Error: err.Error(), Code: CodeInternal}
	if known := new(Error); errors.As(err, &known) {
		e.Code = known.Code
	}
	return e
}

type hand struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

func startHand(t testing.TB) *hand {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), handVariable+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := &hand{t: t, cmd: cmd, in: in, out: json.NewDecoder(out)}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	return h
}

func (h *hand) tell(o order) {
	h.t.Helper()
	line, err := json.Marshal(o)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.in.Write(append(line, '\n')); err != nil {
		h.t.Fatal(err)
	}
}

// hear waits for what the hand tells next; an error when it died.
func (h *hand) hear() (event, error) {
	var e event
	err := h.out.Decode(&e)
	return e, err
}

// stopped waits until the hand stands at its point.
func (h *hand) stopped() {
	h.t.Helper()
	if e, err := h.hear(); err != nil || !e.Stopped {
		h.t.Fatalf("the hand did not stop at its point: %+v %v", e, err)
	}
}

func (h *hand) release() {
	if _, err := h.in.Write([]byte("\n")); err != nil {
		h.t.Fatal(err)
	}
}

// answer waits for the end of the hand's call.
func (h *hand) answer() Answer {
	h.t.Helper()
	e, err := h.hear()
	if err != nil || e.Answer == nil {
		h.t.Fatalf("the hand gave no answer: %s %v", e.Error, err)
	}
	fits(h.t, *e.Answer)
	return *e.Answer
}

// together has every hand make its call, released at once when all stand at the
// point after their first read.
func together(hands []*hand, orders []order) []Answer {
	for i, h := range hands {
		orders[i].Stop = PointRead
		h.tell(orders[i])
	}
	for _, h := range hands {
		h.stopped()
	}
	for _, h := range hands {
		h.release()
	}
	answers := make([]Answer, len(hands))
	var all sync.WaitGroup
	for i, h := range hands {
		all.Go(func() { answers[i] = h.answer() })
	}
	all.Wait()
	return answers
}
