package tick

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/mission"
)

// opened is one loop, and one look at it.
type opened struct {
	l     *Loops
	name  string
	store store
	state loop.State
}

// open reads a loop. It takes no lock and leaves no file. A loop that is not there
// is refused as untracked.
func (l *Loops) open(ctx context.Context, name string) (*opened, error) {
	o, err := l.found(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := o.read(ctx); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// found finds a loop and does not read it.
func (l *Loops) found(ctx context.Context, name string) (*opened, error) {
	if err := mission.CheckName(name); err != nil {
		return nil, &loop.Refusal{Code: loop.BadRequest, Message: fmt.Sprintf("%q is no name of a loop: %v", name, err)}
	}
	s, err := l.folders.Open(ctx, name)
	if err != nil {
		return nil, named(name, err)
	}
	return &opened{l: l, name: name, store: s}, nil
}

// Sound reads the whole journal of a loop, and compares its view. The error says all
// that is wrong with it; *GoneError or a refusal as untracked where there is none.
func (l *Loops) Sound(ctx context.Context, name string) error {
	o, err := l.found(ctx, name)
	if err != nil {
		return err
	}
	defer o.close()
	return o.sound(ctx)
}

// sound reads the whole journal, which other looks do not: they trust the view as far
// as it goes.
func (o *opened) sound(ctx context.Context) error {
	report, err := o.store.Verify(ctx)
	return named(o.name, errors.Join(append(report.Problems, err)...))
}

func (o *opened) read(ctx context.Context) error {
	snap, err := o.store.Read(ctx)
	if err != nil {
		return named(o.name, err)
	}
	o.state = snap.State
	switch {
	case o.state.Removed:
		return untracked(o.name)
	case o.state.Name != o.name:
		return &loop.Refusal{Code: Misplaced, Message: fmt.Sprintf("the folder of loop %s holds the state of loop %s: it was renamed, or copied; put it back to where it was, or away", o.name, o.state.Name)}
	}
	return nil
}

// commit commits one transition, and takes over the state that it left or met.
func (o *opened) commit(ctx context.Context, t transition) (commit.Outcome[loop.State, loop.Event], error) {
	if err := o.l.soundLock(o.name); err != nil {
		return commit.Outcome[loop.State, loop.Event]{}, err
	}
	out, err := o.store.Commit(ctx, t)
	if out.ID != "" && out.Revision > 0 {
		o.state = out.State
	}
	return out, named(o.name, err)
}

// BadLock refuses to lock what is no file: to open a pipe may take for ever, and a
// link leads to another lock than everybody else's.
const BadLock loop.Code = "bad_lock"

// Misplaced refuses a loop whose folder came from another one's: its claims and
// requests are about that.
const Misplaced loop.Code = "misplaced"

func (l *Loops) lockPath(name string) string {
	return filepath.Join(l.dir(), name, "state.json.lock")
}

func (l *Loops) soundLock(name string) error {
	info, err := os.Lstat(l.lockPath(name))
	if err == nil && !info.Mode().IsRegular() {
		return &loop.Refusal{Code: BadLock, Message: l.lockPath(name) + " is no regular file: remove what lies there; nothing can be recorded meanwhile"}
	}
	return nil // what else is wrong with it, locking tells
}

func (o *opened) close() { o.store.Close() }

func untracked(name string) error {
	return &loop.Refusal{Code: loop.Untracked, Message: fmt.Sprintf("there is no loop %q: `spec-kitty loop create %s` makes it, once the project defines it", name, name)}
}

// GoneError says that a loop's folder was removed under a tick.
type GoneError struct{ Name string }

func (e *GoneError) Error() string {
	return "the folder of loop " + e.Name + " was removed while a tick was at work: its work was stopped, nothing was made anew"
}

// named gives the commit core's errors the words of loops.
func named(name string, err error) error {
	other := new(commit.SupersededError)
	switch {
	case errors.Is(err, commit.ErrNoRun):
		return untracked(name)
	case errors.As(err, &other):
		return &loop.Refusal{Code: loop.LoopReplaced, Message: "loop " + name + " was removed and made anew since: nothing was recorded in the new one"}
	}
	return err
}

// gone tells whether an error says that the loop is not there any more.
func gone(err error) bool { return refusedAs(err, loop.Untracked) }

// refusedAs tells whether an error is a refusal of one of some codes.
func refusedAs(err error, codes ...loop.Code) bool {
	refusal := new(loop.Refusal)
	return errors.As(err, &refusal) && slices.Contains(codes, refusal.Code)
}

// runFolder is the folder of one run, by a handle on the loop's folder: after that
// one was removed, or made anew, what is written fails and lands nowhere.
type runFolder struct {
	loop *os.Root
	root *os.Root
	path string
}

const runsName = "runs"

// openRun makes the folder of a run.
func (l *Loops) openRun(name string, token uint64) (*runFolder, error) {
	base, err := os.OpenRoot(filepath.Join(l.dir(), name))
	if err != nil {
		return nil, err
	}
	r := &runFolder{loop: base, path: l.runDir(name, token)}
	inside := filepath.Join(runsName, itoa(token))
	if err := base.MkdirAll(inside, 0o755); err != nil {
		base.Close()
		return nil, err
	}
	if r.root, err = base.OpenRoot(inside); err != nil {
		base.Close()
		return nil, err
	}
	return r, nil
}

// maxLog is how much a program of a run may write to its log: a runaway one would
// fill the disk, and with it stop all other runs.
const maxLog = 256 << 20 // bytes

// flooded tells whether a program's log is over maxLog.
func (r *runFolder) flooded() bool {
	for _, part := range Parts() {
		if info, err := r.root.Stat(part + logSuffix); err == nil && info.Size() > maxLog {
			return true
		}
	}
	return false
}

func (r *runFolder) close() {
	r.root.Close()
	r.loop.Close()
}

// create opens a file to be written anew. It refuses what the work put there and is no
// file: to write to a pipe would wait for a reader.
func (r *runFolder) create(name string) (*os.File, error) {
	f, err := r.root.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|readonly.NoWait, 0o644)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &readonly.NotRegularError{Name: filepath.Join(r.path, name), Mode: info.Mode()}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// replace writes a whole file or none, not synced: what is lost with the power is
// a view, or a heartbeat, which means nothing after a restart.
func (r *runFolder) replace(name string, data []byte) error {
	temp := "." + name + ".tmp"
	f, err := r.create(temp)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return r.root.Rename(temp, name)
}

// removeTemps removes what a write that was killed left.
func (r *runFolder) removeTemps() {
	for _, name := range []string{beatName, verdictName} {
		_ = r.root.Remove("." + name + ".tmp") // it only takes space
	}
}
