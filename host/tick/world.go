package tick

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/host/loop"
)

// The types of the commit core, over the loop's.
type (
	store      = commit.Store[loop.State, loop.Facts, loop.Event]
	transition = commit.Transition[loop.State, loop.Facts, loop.Event]
)

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// dir is the folder of all loops' state.
func (l *Loops) dir() string { return filepath.Join(l.ground.State, "loops") }

// runDir is the folder of one run; only the holder of its token writes there.
func (l *Loops) runDir(name string, token uint64) string {
	return filepath.Join(l.dir(), name, "runs", itoa(token))
}

// world reads the facts, under the lock: files and process tables, and nothing
// that runs.
type world struct{ l *Loops }

// Facts implements commit.Outside.
func (w world) Facts(_ context.Context, s loop.State, t transition) (loop.Facts, error) {
	name := s.Name
	if create, ok := t.(loop.Create); ok {
		name = create.Name
	}
	f := w.l.facts(name, s)
	if remove, ok := t.(removal); ok {
		f.Unlanded = remove.unlanded
	}
	return f, nil
}

// facts are what is known of the world around a loop.
func (l *Loops) facts(name string, s loop.State) loop.Facts {
	f := loop.Facts{Here: l.host.place(), Orphans: map[uint64]loop.Liveness{}}
	src, err := l.ground.Source(name)
	if err == nil {
		f.Definition = src.Digest
		f.Shared = l.shared(name, src)
	}
	if kept, err := l.repo.NewestKept(name); err == nil {
		f.Kept = kept
	}
	if c := s.Claim; c != nil {
		f.Beat = readBeat(l.runDir(name, c.Token))
		f.Runner = l.host.runnerLives(c.Runner)
	}
	for _, o := range s.Orphans {
		f.Orphans[o.Token] = l.host.orphanLives(s.UID, o)
	}
	if s.Approval != nil && err == nil {
		f.Subject = l.subject(name, s.Approval, src)
	}
	return f
}

// shared is another loop that has the same branch; the worktree's folder follows
// from the loop's name, so it is the loop's own.
func (l *Loops) shared(name string, src Source) string {
	for _, other := range l.ground.Names() {
		if other == name {
			continue
		}
		if d, err := l.ground.Source(other); err == nil && d.Worktree.Branch == src.Worktree.Branch {
			return other
		}
	}
	return ""
}

// subject is what a request is about, as it is now; nil where that cannot be told.
func (l *Loops) subject(name string, a *loop.Approval, src Source) *loop.Subject {
	now := a.Subject
	now.Definition = src.Digest
	base, err := l.repo.Tip(src.Worktree.Branch)
	if err == nil && base == "" {
		base, err = l.repo.Tip(src.Worktree.Base)
	}
	if err != nil {
		return nil
	}
	if base != "" { // else the base is a tag or a commit, which a branch name does not lead to
		now.Base = base
	}
	if now.Stage == loop.ToStart {
		return &now
	}
	kept, err := l.repo.KeptAt(name, a.Token)
	if err != nil {
		return nil
	}
	if kept != a.Subject.Result {
		now.Result, now.Tree = kept, ""
	}
	now.Verify = verdictIn(l.runDir(name, a.Token))
	return &now
}

// maxOwn bounds what is read of a file that a loop, or a run, has beside its journal,
// in bytes.
const maxOwn = 1 << 20

// readFile reads such a file; nil where there is none, for which damage is never
// taken.
func readFile(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readIn(root, name)
}

// readIn is readFile by a handle. The work of a run can write to its folder, and put
// there what is no file, or has no end: nobody waits for it or holds it all.
func readIn(root *os.Root, name string) ([]byte, error) {
	raw, _, err := readonly.File(root, name, maxOwn)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return raw, err
}

// readBeat is the newest heartbeat; nil where there is none that can be read: then
// the claim's own time counts.
func readBeat(dir string) *loop.Beat {
	raw, err := readFile(dir, beatName)
	var beat loop.Beat
	if err != nil || raw == nil || json.Unmarshal(raw, &beat) != nil {
		return nil
	}
	return &beat
}

// removal is a Remove with the commits that would be given up.
type removal struct {
	loop.Remove
	unlanded []string
	early    error // what refused it when those were not looked for yet
}

// Decide refuses also what was refused as the loop was read.
func (t removal) Decide(s loop.State, f loop.Facts, now time.Time) ([]loop.Event, error) {
	events, err := t.Remove.Decide(s, f, now)
	if err == nil && t.early != nil {
		return nil, t.early
	}
	return events, err
}
