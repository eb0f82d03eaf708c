package tick

import (
	"context"
	"os"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/scheduler"
	"github.com/spec-kitty/step-runner/host/worktree"
)

// Source is a loop's definition as it stands now.
type Source struct {
	*loop.Definition
	Digest  string            // of the definition and the scripts that it names
	File    string            // absolute; the file that defines it
	Scripts map[string]string // absolute paths of its own scripts, to SHA-256
}

// Ground is what loops stand on: a project, and what it lends them. Its functions
// may be called concurrently.
type Ground struct {
	Root  string // the project's main worktree, absolute
	State string // the state root, absolute

	// Source reads a definition; its error is the caller's own. It is called under
	// a loop's lock too: it runs nothing and is quick.
	Source func(name string) (Source, error)
	// Names are the loops that the project defines, sorted.
	Names func() []string
	// Command gives a declared command.
	Command func(name string) (Declared, error)
	// Guard asks the guard verb of a plugin, in a process of its own.
	Guard func(ctx context.Context, plugin string, q Question) (Judgement, error)
	// Trusted refuses what the user has not consented to run; nil error: it may be.
	Trusted func(Source) error
}

// Declared is a declared command as a loop's check runs it: on the folder that is
// checked, with its own program and variables.
type Declared struct {
	Argv    []string // a program of the project by its absolute path
	Timeout time.Duration
	PassEnv []string
}

// Question is what a plugin is asked on behalf of a loop.
type Question struct {
	Loop  string
	UID   string
	Part  string // gate, verify or goal
	Token uint64
	Dir   string // the folder that it may read as its workspace
}

// Options are for tests; the zero value is the one to use.
type Options struct {
	Commit commit.Options
	Now    func() time.Time // nil: time.Now
	Host   *Host            // nil: this one
	Hook   func(point string)
	Getenv func(string) string // nil: os.Getenv
	// Schedulers are those of this machine where it is nil.
	Schedulers *scheduler.Host
	Program    func() (string, error) // path of the step runner; nil: os.Executable
}

// Loops are the loops of a project. Its methods may be called concurrently, also by
// several processes.
type Loops struct {
	ground  Ground
	folders *commit.Folders[loop.State, loop.Facts, loop.Event]
	repo    worktree.Repo
	host    *Host
	now     func() time.Time
	hook    func(point string)
	getenv  func(string) string

	schedulers *scheduler.Host
	program    func() (string, error)
}

// Named points of a tick, for Options.Hook, in the order in which a run meets
// them. Those of the commit core come between.
const (
	PointRead     = "read"       // the loop was read, without a lock
	PointClaimed  = "claimed"    // the claim is durable
	PointGated    = "gated"      // the gate has answered
	PointPlacing  = "placing"    // a git that changes a worktree is on record, and not yet let go
	PointWorking  = "working"    // the work's group is on record, the work not yet let go
	PointWorked   = "worked"     // the work has ended
	PointVerified = "verified"   // verifier and goal have answered
	PointIntended = "intended"   // the intent to land is durable
	PointLanded   = "landed"     // the branch is moved
	PointFinished = "finished"   // the outcome is durable
	PointNotified = "notified"   // notices are sent
	PointReaped   = "reaped"     // a dead claim's token is burnt, its group not yet killed
	PointEnding   = "before_end" // an outcome is about to be committed
)

// New gives the loops of a project. It touches nothing.
func New(g Ground, o Options) *Loops {
	l := &Loops{ground: g, repo: worktree.Repo{Root: g.Root}, host: o.Host, now: o.Now, hook: o.Hook, getenv: o.Getenv}
	if l.now == nil {
		l.now = time.Now
	}
	if l.hook == nil {
		l.hook = func(string) {}
	}
	if l.getenv == nil {
		l.getenv = os.Getenv
	}
	if l.schedulers, l.program = o.Schedulers, o.Program; l.schedulers == nil {
		l.schedulers = scheduler.ThisHost(g.Root, l.getenv)
	}
	if l.program == nil {
		l.program = os.Executable
	}
	if l.host == nil {
		l.host = ThisHost()
	}
	opts := o.Commit
	opts.Journal, opts.Watch = JournalName, true
	if opts.Now == nil {
		opts.Now = l.now
	}
	l.folders = commit.NewFolders(l.dir(), machine{}, commit.Outside[loop.State, loop.Facts, loop.Event](world{l}), opts)
	return l
}
