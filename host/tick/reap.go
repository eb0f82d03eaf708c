package tick

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/worktree"
)

// reap comes before everything else of a tick, also where the loop is paused,
// halted or retired: a claim whose runner is dead is ended, and what its run left
// running is killed. The token is burnt first. A runner that wakes
// meanwhile either beat in time, which is read again under the lock, or can write
// nothing from then on; only then its group is killed, with no lock held.
//
//	reaper                              runner, thought dead
//	reads: the lease is over
//	                                    wakes, beats
//	commits: sees the beat, refused
//
//	commits: the token is burnt
//	                                    wakes; its outcome is stale_token
//	kills the group                     ends what it started itself, too
//	commits: buried
func (o *opened) reap(ctx context.Context, by loop.By) error {
	o.endSendings()
	c := o.state.Claim
	if c != nil && o.state.Standing(o.l.facts(o.name, o.state), o.l.now()).Over {
		if err := o.takeOver(ctx, by, *c); err != nil && !refusedAs(err, loop.LeaseLive, loop.StaleToken) {
			return err
		}
	}
	for _, orphan := range o.state.Orphans {
		if err := o.bury(ctx, by, orphan); err != nil && !refusedAs(err, loop.OrphanAlive, loop.NoOrphan) {
			return err
		}
	}
	return nil
}

// takeOver ends a dead claim: its landing is finished, its outcome recorded if it
// left one, else its token is burnt.
func (o *opened) takeOver(ctx context.Context, by loop.By, c loop.Claim) error {
	own := loop.Tick{By: by, UID: o.state.UID, Token: c.Token}
	if c.Phase == loop.InLanding {
		return o.finishLanding(ctx, own, c)
	}
	if t := leftIn(o.l.runDir(o.name, c.Token), own); t != nil && o.groupGone(c) {
		if _, err := o.commit(ctx, t); err == nil || !errors.As(err, new(*loop.Refusal)) {
			return err
		}
	}
	used := readUsage(o.l.runDir(o.name, c.Token))
	_, err := o.commit(ctx, loop.Reap{Tick: own, Usage: used})
	o.l.hook(PointReaped)
	return err
}

// groupGone tells whether nothing of a claim's programs runs any more.
func (o *opened) groupGone(c loop.Claim) bool {
	return c.Group == nil || o.l.host.orphanLives(o.state.UID, loop.Orphan{Token: c.Token, Runner: c.Runner, Group: *c.Group}) == loop.Gone
}

// finishLanding does the swap of a dead claim again, with no lock held, and keeps
// the books by where the branch is then. The branch is the one on record. Moving it
// runs git's hooks, so it wants the user's consent like all else of the loop: a
// state that came with a clone moves nothing.
func (o *opened) finishLanding(ctx context.Context, own loop.Tick, c loop.Claim) error {
	src, err := o.l.ground.Source(o.name)
	if err == nil {
		err = o.l.ground.Trusted(src)
	}
	if err != nil {
		return err
	}
	branch := cmp.Or(c.Branch, src.Worktree.Branch)
	if lock := o.l.repo.Lock(branch); lock != "" && c.Runner.Host != o.l.host.Name {
		return &worktree.LockedError{Ref: "branch " + branch, Path: lock, Why: "run " + itoa(c.Token) + ", which died, ran on " + c.Runner.Host + ", where its git may go on"}
	}
	head, err := o.l.swap(ctx, o.name, branch, c.Base, c.Result, fmt.Sprintf("loop %s, run %d, finished after a crash", o.name, c.Token))
	if err != nil {
		return err
	}
	_, err = o.commit(ctx, loop.FinishLanding{Tick: own, Head: head})
	return err
}

// bury kills what a run left and records its end. What cannot be told from
// somebody else's processes is left alone.
func (o *opened) bury(ctx context.Context, by loop.By, orphan loop.Orphan) error {
	if o.l.host.orphanLives(o.state.UID, orphan) == loop.Alive {
		command.EndGroup(orphan.Group.ID)
	}
	_, err := o.commit(ctx, loop.Bury{By: by, Token: orphan.Token})
	return err
}

// readUsage is what a dead run told; what cannot be read is unknown.
func readUsage(dir string) loop.Usage {
	u, _ := usageOf(readFile(dir, usageName))
	return u
}

// RecoverRequest asks for what a tick does first, and no more.
type RecoverRequest struct {
	Loop       string
	Who        string
	DryRun     bool
	AssumeDead bool // an operator's word that the orphans are dead
	Reason     string
}

// Recover ends a dead claim and its orphans, as a tick does first. With AssumeDead
// an operator vouches for orphans that cannot be told from other processes; those
// that are seen alive are never believed dead.
func (l *Loops) Recover(ctx context.Context, q RecoverRequest) (Report, error) {
	by := l.by(q.Who)
	if by.Inside != "" && !q.DryRun {
		return Report{}, insideRun("recovering a loop", by)
	}
	o, err := l.open(ctx, q.Loop)
	if err != nil {
		return Report{}, err
	}
	defer o.close()
	what := o.toRecover()
	if q.DryRun || what == "" {
		return o.report(Done, code(what == "", "nothing", "dry_run"), cmp.Or(what, "there is nothing to recover")), nil
	}
	if err := o.reap(ctx, by); err != nil {
		return Report{}, err
	}
	if q.AssumeDead {
		for _, orphan := range o.state.Orphans {
			if _, err := o.commit(ctx, loop.Bury{By: by, Token: orphan.Token, AssumeDead: true, Reason: q.Reason}); err != nil {
				return Report{}, err
			}
		}
	}
	if branch, lock := o.locked(); lock != "" {
		if err := o.l.repo.Unlock(ctx, branch); err != nil {
			return Report{}, err
		}
	}
	if left := o.toRecover(); left != "" {
		return o.report(Failed, string(loop.OrphanAlive), left), nil
	}
	return o.report(Done, "recovered", what), nil
}

func code(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// locked is the branch whose lock file lies there while no run is at work that may hold
// it, and that file; "" for none.
func (o *opened) locked() (branch, path string) {
	if src, err := o.l.ground.Source(o.name); err == nil {
		branch = src.Worktree.Branch
	}
	c := o.state.Claim
	if c != nil {
		branch = cmp.Or(c.Branch, branch)
	}
	if branch != "" {
		path = o.l.repo.Lock(branch)
	}
	if path == "" || c != nil && !o.state.Standing(o.l.facts(o.name, o.state), o.l.now()).Over {
		return "", ""
	}
	return branch, path
}

// unlocking is what is to be done about such a file.
func unlocking(name, path string) string {
	by := "a tick, or `spec-kitty loop recover " + name + "`, removes it where no git is at work in this repository; if that is refused: "
	if !worktree.Unlocks {
		by = "where no git is at work in this repository: "
	}
	return by + worktree.RemoveBy(path)
}

// toRecover says what a recovery would do; "" for nothing.
func (o *opened) toRecover() string {
	facts := o.l.facts(o.name, o.state)
	if c := o.state.Claim; c != nil {
		if standing := o.state.Standing(facts, o.l.now()); standing.Over {
			text := fmt.Sprintf("run %d died in phase %s: %s", c.Token, c.Phase, standing.Why)
			if _, lock := o.locked(); lock != "" {
				text += "; " + lock + " is left of its git"
			}
			return text
		}
	}
	for _, orphan := range o.state.Orphans {
		switch facts.Orphans[orphan.Token] {
		case loop.Alive:
			return fmt.Sprintf("process group %d of run %d still runs", orphan.Group.ID, orphan.Token)
		case loop.Unknown:
			return fmt.Sprintf("process group %d of run %d on %s may still run: what runs there cannot be told from other processes", orphan.Group.ID, orphan.Token, orphan.Runner.Host)
		case loop.Gone:
			return fmt.Sprintf("process group %d of run %d is gone, which is not on record yet", orphan.Group.ID, orphan.Token)
		}
	}
	if branch, lock := o.locked(); lock != "" {
		return "branch " + branch + " is locked by " + lock + ", and no run is at work"
	}
	return ""
}
