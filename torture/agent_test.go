//go:build linux || darwin

package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

// An agent is this test binary, run again: it works on the mission and tells on
// stdout what it begins and what it is told, one line each.

const lifeVariable = "SPEC_KITTY_TORTURE_LIFE"

// life is what one process of an agent does, and what becomes of it.
type life struct {
	Root  string
	Home  string // of its user: consents and compiled plugins
	Agent string
	Loop  bool // it fires the loop and is its operator, instead of working on the mission
	Seed  uint64
	Calls int
	Again *call // what the process before it was killed in

	KillAt   string // the named point to die at
	KillCall int    // in which call, from 0; below: in any
	KillWork bool   // to die while the loop's work is under way

	Limited bool // files must not grow beyond what the journal has, and Room
	Room    int64
}

// call is one call that may commit.
type call struct {
	Op       string // next, failed, answer, start, claim, move, retry, rewind or publish; of the loop, see loopCall
	Token    string
	Decision string
	Value    string
	Package  string
	To       string // the lane, or the step
	Reason   string // of a report: what its executor writes into the changelog
}

// told is what came of it. A call whose process dies is told nothing.
type told struct {
	Run      string
	Revision uint64
	Recorded bool // by this call: not by an earlier one that it repeats
	Replayed bool
	Token    string // of the work that was handed out
	Claim    uint64 // of the loop: the token of the run that the answer is about
	Code     string // of the loop
	Error    string
}

// line is one line of an agent's output.
type line struct {
	Begin *call `json:",omitempty"`
	End   *told `json:",omitempty"`
	Fault string
}

// living is an agent at work.
type living struct {
	life
	project *runner.Project
	rng     *rand.Rand
	out     *json.Encoder
	n       int    // calls made
	last    string // the token that it reported last
	hook    func(point string)
}

func live(raw string) error {
	l := living{out: json.NewEncoder(os.Stdout)}
	if err := json.Unmarshal([]byte(raw), &l.life); err != nil {
		return err
	}
	l.rng = rand.New(rand.NewPCG(l.Seed, 1))
	defer func() { l.project.Close() }()
	if err := l.open(); err != nil {
		return err
	}
	if l.Limited {
		if err := l.limit(); err != nil {
			return err
		}
	}
	if l.Again != nil {
		l.make(*l.Again)
	}
	for l.n < l.Calls {
		if err := l.step(); err != nil {
			return l.out.Encode(line{Fault: err.Error()})
		}
	}
	return nil
}

// open opens the project, as a program does for each call, with the hook that
// it may die by.
func (l *living) open() (err error) {
	if l.project != nil {
		l.project.Close()
	}
	hook := func(point string) {
		if point == l.KillAt && (l.n == l.KillCall || l.KillCall < 0) {
			die()
		}
		if l.KillWork && point == tick.PointWorking {
			time.AfterFunc(100*time.Millisecond, die)
		}
	}
	l.hook = hook
	options := userOptions(l.Root, l.Home)
	options.Hook, options.Commit = hook, commit.Options{Hook: hook}
	l.project, err = runner.Open(options)
	return err
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// limit is a disk that is nearly full: a write beyond it fails, after some of
// its bytes were written. (The signal that goes with it, Go's runtime ignores.)
func (l *living) limit() error {
	pattern := filepath.Join("runs", "*", "run.events.jsonl")
	if l.Loop {
		pattern = filepath.Join("loops", loopName, "loop.events.jsonl")
	}
	journals, err := filepath.Glob(filepath.Join(l.project.Config.StateRoot(), pattern))
	if err != nil {
		return err
	}
	most := int64(0) // the size of the latest run's journal
	for _, name := range journals {
		if info, err := os.Stat(name); err == nil {
			most = info.Size()
		}
	}
	room := uint64(most + l.Room)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: room, Max: room})
}

func (l *living) caller() runner.Caller { return runner.Caller{Agent: l.Agent} }

// step looks how things stand and makes the call that fits, or one that a
// confused agent would make.
func (l *living) step() error {
	if l.rng.IntN(3) == 0 {
		if err := l.open(); err != nil {
			return err
		}
	}
	if l.Loop {
		return l.stepLoop()
	}
	a, err := l.project.Query(context.Background(), mission, l.caller())
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	l.make(l.choose(a))
	return nil
}

// make makes a call and tells of it, before and after.
func (l *living) make(c call) {
	_ = l.out.Encode(line{Begin: &c})
	end, err := l.call(c)
	l.n++
	if err != nil {
		end = told{Error: codeOf(err)}
	}
	_ = l.out.Encode(line{End: &end})
}

func (l *living) call(c call) (told, error) {
	if l.Loop {
		return l.loopCall(c)
	}
	a, err := l.missionCall(c)
	end := told{Revision: a.Revision, Recorded: a.Recorded && !a.Replayed, Replayed: a.Replayed}
	if a.RunID != nil {
		end.Run = *a.RunID
	}
	if a.Token != nil {
		end.Token = *a.Token
	}
	return end, err
}

// codeOf is an error as the program tells it.
func codeOf(err error) string {
	if known := new(runner.Error); errors.As(runner.Classify(err), &known) {
		return string(known.Code) + ": " + known.Message
	}
	return err.Error()
}
