//go:build linux || darwin

package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

// Where a process may be told to die: in a commit, or in a start.
var commitPoints = []string{
	runner.PointRead, runner.PointPlanned, commit.PointLockAcquired, commit.PointRepaired, commit.PointBeforeAppend,
	commit.PointAfterAppend, commit.PointAfterSync, commit.PointBeforePublish, commit.PointAfterPublish,
	commit.PointBeforeRelease, commit.PointReleased, runner.PointCommitted,
}

// filePoints are met by few calls, so whoever is to die there dies in the first of them.
var filePoints = []string{runner.PointPublishing, commit.PointPublished}

// loopPoints are those of ticks, and the commits of all that is done with a loop.
var loopPoints = []string{
	tick.PointRead, tick.PointClaimed, tick.PointGated, tick.PointPlacing, tick.PointWorking, tick.PointWorked, tick.PointVerified,
	tick.PointIntended, tick.PointLanded, tick.PointFinished, tick.PointReaped, tick.PointEnding,
	commit.PointLockAcquired, commit.PointBeforeAppend, commit.PointAfterAppend, commit.PointAfterSync, commit.PointAfterPublish, commit.PointReleased,
}

var startPoints = []string{
	commit.PointStartLocked, commit.PointStartPrivate, commit.PointStartSynced, commit.PointStartRenamed,
	commit.PointStartIndexed, commit.PointStartReleased, commit.PointHealLocked, commit.PointHealReleased,
}

// acknowledged is a call and what its caller was told.
type acknowledged struct {
	agent string
	call  call
	told  told
}

// log is what all agents told.
type log struct {
	root, home string

	mu     sync.Mutex
	acks   []acknowledged // recorded
	killed int            // processes that died inside of a call
	inLoop int            // of them, in one on the loop
	deaths map[string]int // by fate
	errors map[string]int // by code
	faults []string
}

// torment is what the outside does to a process.
type torment struct {
	fate  string
	after int           // calls begun
	delay time.Duration // and then
	stop  time.Duration // how long it is stopped
	kill  bool
}

// fate draws what becomes of the next process of an agent.
func fate(rng *rand.Rand, l *life) torment {
	l.Seed, l.Calls, l.KillCall = rng.Uint64(), 1+rng.IntN(8), rng.IntN(3)
	points, most := commitPoints, 4000 // µs
	if l.Loop {
		points, most = loopPoints, 400_000
	}
	t := torment{after: 1 + rng.IntN(3), delay: time.Duration(rng.IntN(most)) * time.Microsecond}
	switch dice := rng.IntN(20); {
	case l.Loop && dice%4 == 0: // a run has many points to die at, and is to come to its end sometimes
		t.fate = "left alone"
	case dice < 9:
		t.fate, l.KillAt = "killed at a point", points[rng.IntN(len(points))]
	case dice < 12 && l.Loop:
		t.fate, l.KillWork = "killed at work", true
	case dice < 11:
		t.fate, l.KillAt, l.KillCall = "killed at files", filePoints[rng.IntN(len(filePoints))], -1
	case dice < 12:
		t.fate, l.KillAt = "killed in a start", startPoints[rng.IntN(len(startPoints))]
	case dice < 16:
		t.fate, t.kill = "killed at random", true
	case dice < 18:
		t.fate, t.stop, t.kill = "stopped", time.Duration(rng.IntN(20))*time.Millisecond, rng.IntN(2) == 0
	case dice < 19:
		t.fate, l.Limited, l.Room = "disk full", true, rng.Int64N(1500)
	default:
		t.fate = "left alone"
	}
	return t
}

// agent is one agent: process after process, while there is more to be done.
func (lg *log) agent(who life, rng *rand.Rand, more func() bool) {
	for more() {
		l := who
		t := fate(rng, &l)
		who.Again = lg.run(l, t)
	}
	who.Calls = 1
	lg.run(who, torment{fate: "left alone"}) // the last word
}

// run is the life of one process. It returns the call that it died in.
func (lg *log) run(l life, t torment) (open *call) {
	raw, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), lifeVariable+"="+string(raw))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		lg.fault("start: %v", err)
		return l.Again
	}
	open = lg.listen(l.Agent, cmd.Process, stdout, t)
	err = cmd.Wait()
	lg.mu.Lock()
	defer lg.mu.Unlock()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		lg.deaths[t.fate]++
		if open != nil {
			lg.killed++
			lg.inLoop += count(l.Loop)
		}
		if status := exit.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
			lg.faults = append(lg.faults, fmt.Sprintf("%s ended: %v: %s", t.fate, err, firstLines(stderr.String())))
		}
	}
	return open
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func firstLines(text string) string {
	lines := strings.SplitN(text, "\n", 12)
	return strings.Join(lines[:min(len(lines), 11)], "\n")
}

// listen reads what a process tells, to its end, and torments it meanwhile.
func (lg *log) listen(agent string, p *os.Process, out io.Reader, t torment) (open *call) {
	begun := 0
	for d := json.NewDecoder(out); ; {
		var l line
		if err := d.Decode(&l); err != nil {
			return open // the end, or a line that was cut short
		}
		switch {
		case l.Fault != "":
			lg.fault("%s: %s", t.fate, l.Fault)
		case l.Begin != nil:
			open = l.Begin
			if begun++; begun == t.after {
				t.strike(p)
			}
		case open != nil:
			lg.hear(acknowledged{agent, *open, *l.End})
			open = nil
		}
	}
}

// strike does its worst, beside the listening. A process that is gone by then
// has had it.
func (t torment) strike(p *os.Process) {
	if !t.kill && t.stop == 0 {
		return
	}
	go func() {
		time.Sleep(t.delay)
		if t.stop > 0 {
			_ = p.Signal(syscall.SIGSTOP)
			time.Sleep(t.stop)
		}
		if t.kill {
			_ = p.Kill()
		}
		_ = p.Signal(syscall.SIGCONT)
	}()
}

// dead is the number of commits that were killed so far.
func (lg *log) dead() int {
	lg.mu.Lock()
	defer lg.mu.Unlock()
	return lg.killed
}

// unproven tells whether nothing was killed yet of either kind, which a short run on a
// busy machine gets some more time for.
func (lg *log) unproven(began time.Time) bool {
	lg.mu.Lock()
	defer lg.mu.Unlock()
	return (lg.inLoop == 0 || lg.inLoop == lg.killed) && time.Since(began) < time.Minute
}

func (lg *log) hear(a acknowledged) {
	lg.mu.Lock()
	defer lg.mu.Unlock()
	if a.told.Recorded {
		lg.acks = append(lg.acks, a)
	}
	if code, _, _ := strings.Cut(a.told.Error, ":"); code != "" {
		lg.errors[code]++
		if !expected(code) && !(code == string(runner.CodeUsage) && a.call.Op == "retry") { // of several packages it wants one named
			lg.faults = append(lg.faults, fmt.Sprintf("%s: %+v: %s", a.agent, a.call, a.told.Error))
		}
	}
}

// expected are the errors that these agents may meet: they race for the same
// questions and starts, move what lies there already and retry what did not fail,
// and some have no room to write.
func expected(code string) bool {
	switch runner.Code(code) {
	case runner.CodeRunExists, runner.CodeDecisionConflict, "decision_not_found", runner.CodeNotRecorded, runner.CodeNothingIssued,
		runner.Code(cursor.NothingToRetry), runner.Code(cursor.NothingToRewind), runner.Code(cursor.IllegalMove), runner.Code(cursor.PackageNotFound):
		return true
	}
	return false
}

func (lg *log) fault(format string, args ...any) {
	lg.mu.Lock()
	defer lg.mu.Unlock()
	lg.faults = append(lg.faults, fmt.Sprintf(format, args...))
}
