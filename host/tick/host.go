package tick

import (
	"os"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/loop"
)

// Host is the machine that a tick runs on, and what can be known of processes on
// it.
type Host struct {
	Name string // tells machines, and what have processes of their own on one, apart
	Boot string
	Up   func() time.Duration // since the boot, sleep included
	// Awake is the same without sleep.
	Awake func() time.Duration
	// Self is this process.
	Self command.Process
	// Above is the mark of the run that a process above us is of; "" for none.
	Above func() string
	// Process and Group tell whether they still are there.
	Process func(command.Process) loop.Liveness
	Group   func(leader command.Process, mark string) loop.Liveness
}

// ThisHost is the machine that we are on.
func ThisHost() *Host {
	self, err := command.Identify(os.Getpid())
	if err != nil {
		self = command.Process{PID: os.Getpid()}
	}
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	return &Host{
		Name: name + processSpace(), Boot: self.Boot, Up: bootClock, Awake: awakeClock, Self: self,
		Above: markAbove, Process: processLives, Group: groupLives,
	}
}

// place is where and when a decision is made.
func (h *Host) place() loop.Place {
	return loop.Place{Host: h.Name, Boot: h.Boot, Up: loop.Span(h.Up())}
}

func (h *Host) runner(now time.Time) loop.Runner {
	return loop.Runner{Host: h.Name, Boot: h.Boot, PID: h.Self.PID, Start: h.Self.Start, Up: loop.Span(h.Up()), At: now}
}

// runnerLives is what is known of the process that holds a claim.
func (h *Host) runnerLives(r loop.Runner) loop.Liveness {
	switch {
	case r.Host != h.Name:
		return loop.Unknown
	case r.Boot != "" && h.Boot != "" && r.Boot != h.Boot:
		return loop.Gone
	}
	return h.Process(command.Process{PID: r.PID, Start: r.Start, Boot: r.Boot})
}

// orphanLives is what is known of a process group that a run left.
func (h *Host) orphanLives(uid string, o loop.Orphan) loop.Liveness {
	switch {
	case o.Runner.Host != h.Name:
		return loop.Unknown
	case o.Runner.Boot != "" && h.Boot != "" && o.Runner.Boot != h.Boot:
		return loop.Gone
	}
	leader := command.Process{PID: o.Group.ID, Start: o.Group.Start, Boot: o.Runner.Boot}
	return h.Group(leader, mark(uid, o.Token))
}

func processLives(p command.Process) loop.Liveness {
	if p.Lives() {
		return loop.Alive
	}
	return loop.Gone
}

// groupLives tells whether a group still is the one that a run started. An id
// alone proves nothing; these do:
//
//	the leader lives, by id and start time       it is ours
//	its id is another process's now              an id is given again only when the
//	                                             group is empty: ours is gone
//	nobody has the leader's id, others are in    one of them carries the run's mark
//	the group                                    in its environment: it is ours
func groupLives(leader command.Process, mark string) loop.Liveness {
	switch {
	case !command.GroupLives(leader.PID):
		return loop.Gone
	case leader.Start == "":
		return loop.Unknown
	case leader.Lives():
		return loop.Alive
	}
	if now, err := command.Identify(leader.PID); err == nil && now.Start != leader.Start {
		return loop.Gone
	}
	if memberMarked(leader.PID, mark) {
		return loop.Alive
	}
	return loop.Unknown
}

// variable is the environment variable that marks a run's processes.
const variable = "SPEC_KITTY_LOOP_RUN"

// noticeVariable marks the processes of a notice, which are in no run: they may do
// what a person may.
const noticeVariable = "SPEC_KITTY_LOOP_NOTICE"

func noticeMark(uid, key string) string { return uid + "/" + key }

// mark is what it holds: no other run of any loop has it.
func mark(uid string, token uint64) string { return uid + "/" + itoa(token) }

// marked is the loop's uid and token in a mark.
func marked(text string) (uid, token string, ok bool) { return strings.Cut(text, "/") }
