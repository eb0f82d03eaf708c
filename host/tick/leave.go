package tick

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/host/loop"
)

// The outcome of a run that could not be committed is left beside it. The file is
// made, with room, when the run begins: a disk that is full by then does not keep
// it from being written.
const (
	outcomeName = "outcome.json"
	outcomeRoom = 8 << 10 // bytes
)

// left is an outcome as it is left: exactly one of its fields is set.
type left struct {
	CloseGate  *loop.CloseGate  `json:"close_gate,omitempty"`
	FailRun    *loop.FailRun    `json:"fail,omitempty"`
	FailVerify *loop.FailVerify `json:"fail_verify,omitempty"`
	HitLimit   *loop.HitLimit   `json:"limit,omitempty"`
	CancelRun  *loop.CancelRun  `json:"cancel,omitempty"`
	FinishRun  *loop.FinishRun  `json:"finish,omitempty"`
}

func leftOf(t transition) (left, bool) {
	switch t := t.(type) {
	case loop.CloseGate:
		return left{CloseGate: &t}, true
	case loop.FailRun:
		return left{FailRun: &t}, true
	case loop.FailVerify:
		return left{FailVerify: &t}, true
	case loop.HitLimit:
		return left{HitLimit: &t}, true
	case loop.CancelRun:
		return left{CancelRun: &t}, true
	case loop.FinishRun:
		return left{FinishRun: &t}, true
	}
	return left{}, false
}

func (l left) transition() transition {
	switch {
	case l.CloseGate != nil:
		return *l.CloseGate
	case l.FailRun != nil:
		return *l.FailRun
	case l.FailVerify != nil:
		return *l.FailVerify
	case l.HitLimit != nil:
		return *l.HitLimit
	case l.CancelRun != nil:
		return *l.CancelRun
	case l.FinishRun != nil:
		return *l.FinishRun
	}
	return nil
}

// room makes the file that an outcome may have to be left in.
func (r *runFolder) room() error {
	f, err := r.create(outcomeName)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, outcomeRoom))
	return errors.Join(err, f.Sync(), f.Close())
}

// leave writes an outcome over the room that was made for it.
func (r *running) leave(t transition) error {
	kept, ok := leftOf(t)
	if !ok {
		return nil
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	if len(raw) >= outcomeRoom {
		return fmt.Errorf("the outcome has %d bytes", len(raw))
	}
	f, err := r.folder.root.OpenFile(outcomeName, os.O_WRONLY|readonly.NoWait, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(append(raw, '\n'), 0)
	return errors.Join(err, f.Sync(), f.Close())
}

// leftIn is the outcome that a dead tick left; nil where it left none.
func leftIn(dir string, own loop.Tick) transition {
	raw, err := readFile(dir, outcomeName)
	end := bytes.IndexByte(raw, '\n')
	if err != nil || end < 0 {
		return nil
	}
	var kept left
	d := json.NewDecoder(bytes.NewReader(raw[:end]))
	d.DisallowUnknownFields()
	if d.Decode(&kept) != nil {
		return nil
	}
	t := kept.transition()
	if t == nil || tickOf(t) != (loop.Tick{By: tickOf(t).By, UID: own.UID, Token: own.Token}) {
		return nil
	}
	return t
}

func tickOf(t transition) loop.Tick {
	switch t := t.(type) {
	case loop.CloseGate:
		return t.Tick
	case loop.FailRun:
		return t.Tick
	case loop.FailVerify:
		return t.Tick
	case loop.HitLimit:
		return t.Tick
	case loop.CancelRun:
		return t.Tick
	case loop.FinishRun:
		return t.Tick
	}
	return loop.Tick{}
}
