package commit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// press is a machine whose records carry text that is to be made into a file.
type press struct{}

type pressState struct {
	Wrote   []string
	Pending uint64
	Made    int
}

type pressEvent struct{ Text, Made string }

func (press) Version() int             { return 1 }
func (press) Zero() pressState         { return pressState{} }
func (press) Finished(pressState) bool { return false }
func (press) Evolve(s pressState, m Meta, e pressEvent) pressState {
	if e.Text != "" {
		s.Wrote, s.Pending = append(slices.Clone(s.Wrote), e.Text), m.Revision
	} else {
		s.Pending, s.Made = 0, s.Made+1
	}
	return s
}
func (press) EncodeEvent(e pressEvent) (json.RawMessage, error) { return json.Marshal(e) }
func (press) DecodeEvent(raw json.RawMessage) (e pressEvent, err error) {
	return e, json.Unmarshal(raw, &e)
}

// write records a text. The same one twice is a no-op.
type write struct{ text string }

func (write) Kind() string  { return "write" }
func (write) Actor() string { return "me" }
func (w write) Decide(s pressState, _ int, _ time.Time) ([]pressEvent, error) {
	if slices.Contains(s.Wrote, w.text) {
		return nil, nil
	}
	return []pressEvent{{Text: w.text}}, nil
}

// printer makes the files.
type printer struct {
	made []string
	fail error
}

func (*printer) Facts(context.Context, pressState, Transition[pressState, int, pressEvent]) (int, error) {
	return 0, nil
}
func (*printer) Pending(s pressState) uint64 { return s.Pending }
func (p *printer) Publish(_ context.Context, _ pressState, rec Record[pressEvent]) ([]pressEvent, error) {
	if p.fail != nil {
		return nil, p.fail
	}
	text := rec.Events[0].Event.Text
	p.made = append(p.made, text)
	return []pressEvent{{Made: text}}, nil
}

func pressRun(t *testing.T, d durable.Disk, p *printer) Store[pressState, int, pressEvent] {
	t.Helper()
	f := NewFiles[pressState, int, pressEvent]("/s", press{}, p, Options{Disk: d, Locks: locks.Local()})
	s, err := f.Lookup(t.Context(), "a")
	if errors.Is(err, ErrNoRun) {
		s, _, err = f.Start(t.Context(), "a", New[pressState, int, pressEvent]{ID: "01J", First: write{"t0"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A record's files are made after it, under the same lock, and a second record
// says so, without a sync of its own.
func TestPublisher(t *testing.T) {
	faulty := &durable.Faulty{Disk: durable.NewMem()}
	p := &printer{}
	s := pressRun(t, faulty, p)
	// The start left its own for the first commit, which finishes it first.
	out, err := s.Commit(t.Context(), write{"t1"})
	if err != nil || out.Revision != 4 || out.State.Made != 2 || out.State.Pending != 0 || fmt.Sprint(p.made) != "[t0 t1]" {
		t.Fatalf("%+v, %v, made %v", out, err, p.made)
	}
	faulty.Reset()
	if out, err = s.Commit(t.Context(), write{"t2"}); err != nil || out.Revision != 6 {
		t.Fatalf("%+v, %v", out, err)
	}
	if n := faulty.Kind("sync"); n != 2 { // the unsynced record before, this one
		t.Errorf("%d syncs", n)
	}
	// A refusal of the printer is a warning, then the next call's first work.
	p.fail = errors.New("no paper")
	out, err = s.Commit(t.Context(), write{"t3"})
	if err != nil || !out.Committed || len(out.Warnings) != 1 || out.Warnings[0].Code != WarnNotPublished {
		t.Fatalf("%+v, %v", out, err)
	}
	if out, err := s.Commit(t.Context(), write{"t4"}); !errors.Is(err, p.fail) || out.Committed {
		t.Fatalf("%+v, %v", out, err)
	}
	p.fail = nil
	out, err = s.Commit(t.Context(), write{"t3"}) // a no-op that finishes it
	if err != nil || out.Committed || out.State.Pending != 0 || fmt.Sprint(p.made) != "[t0 t1 t2 t3]" {
		t.Fatalf("%+v, %v, made %v", out, err, p.made)
	}
	if r, err := s.Verify(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("verify %+v, %v", r, err)
	}
}

// The power fails before each operation: no acknowledged text is lost, and the
// next call makes what is still to be made.
func TestSweepCrashesOfPublisher(t *testing.T) {
	for name, choose := range map[string]durable.Chooser{"nothing": durable.Nothing, "everything": durable.Everything} {
		for n := 0; ; n++ {
			mem := durable.NewMem()
			var left *durable.Mem
			var acked, told []string
			faulty := &durable.Faulty{Disk: mem, Before: func(i int, _ durable.Op) {
				if i == n {
					left, told = mem.Crash(512, choose), slices.Clone(acked)
				}
			}}
			s := pressRun(t, faulty, &printer{})
			acked = append(acked, "t0")
			for _, text := range []string{"t1", "t2"} {
				if _, err := s.Commit(t.Context(), write{text}); err != nil {
					t.Fatal(err)
				}
				acked = append(acked, text)
			}
			if left == nil {
				break
			}
			p := &printer{}
			s = pressRun(t, left, p)
			out, err := s.Commit(t.Context(), write{"next"})
			if err != nil || out.State.Pending != 0 || out.State.Made != len(out.State.Wrote) {
				t.Fatalf("%s survived of operation %d: %+v, %v", name, n, out, err)
			}
			if want := append(told, "next"); fmt.Sprint(intersect(out.State.Wrote, want)) != fmt.Sprint(want) {
				t.Fatalf("%s survived of operation %d: %v, acknowledged %v", name, n, out.State.Wrote, told)
			}
		}
	}
}

func intersect(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}
