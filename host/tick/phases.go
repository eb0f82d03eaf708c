package tick

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/worktree"
)

// gate asks whether this tick may do anything. Everything but a plain yes or no is
// an error, so that a mistyped name is loud.
func (r *running) gate(ctx context.Context) (*conclusion, error) {
	defer r.l.hook(PointGated)
	if r.src.Gate == nil {
		return nil, nil
	}
	if end := r.unchanged(); end != nil {
		return end, nil
	}
	j, err := r.ask(ctx, "gate", *r.src.Gate, r.l.ground.Root, r.regroup)
	switch {
	case err != nil:
		return nil, err
	case j.Verdict == command.Refuse:
		return conclude(loop.CloseGate{Tick: r.mine(), Detail: j.Detail}), nil
	case j.Verdict != command.Allow:
		return conclude(loop.FailRun{Tick: r.mine(), Why: loop.WhyGate, Detail: j.Detail}), nil
	}
	return nil, nil
}

// prepare finds what the work begins at. A branch that is not there yet is made
// where the definition has it begin, so that a landing always moves it from one
// commit to another.
func (r *running) prepare(ctx context.Context) (*conclusion, error) {
	branch, repo := r.src.Worktree.Branch, r.l.repoOf(r.name)
	head, err := repo.Branch(ctx, branch)
	if errors.As(err, new(*worktree.NotFoundError)) {
		if head, err = repo.Resolve(ctx, r.src.Worktree.Base); err == nil {
			err = repo.Land(ctx, branch, worktree.NoCommit, head.ID, "loop "+r.name+" begins here")
		}
	}
	if err == nil {
		err = mayMove(ctx, repo, branch) // before the work, rather than after it
	}
	r.base = head
	return nil, err
}

// askStart asks a person before the work, where the definition wants that.
func (r *running) askStart(context.Context) (*conclusion, error) {
	if !r.src.Asks(loop.ToStart) || r.state.Claim.Grant != nil {
		return nil, nil
	}
	return conclude(loop.Ask{Tick: r.mine(), ID: ulid.Make().String(), Subject: loop.Subject{Stage: loop.ToStart, Definition: r.src.Digest, Base: r.base.ID}}), nil
}

// work sets the worktree up and does the work in it. Each of its programs is
// started, held back until its group is on record, and only then let go: so after
// a crash it is known what may still run.
func (r *running) work(ctx context.Context) (*conclusion, error) {
	path := r.l.worktreePath(r.name)
	if err := r.worktrees().Ensure(ctx, path, r.base.ID, false); err != nil {
		return nil, err
	}
	if end := r.homeless(path, r.base.ID); end != nil {
		return end, nil
	}
	r.began = r.l.now()
	if len(r.src.Worktree.Setup) > 0 {
		end, err := r.program(ctx, part{name: "setup", argv: r.src.argv(r.src.Worktree.Setup), dir: r.l.within(path), timeout: r.src.Work.Timeout}, "setup_failed")
		if end != nil || err != nil {
			return end, err
		}
	}
	watched, stop := r.watch(ctx)
	end, err := r.program(watched, part{name: "work", argv: r.src.argv(r.src.Work.Run), dir: r.l.within(path), stdin: []byte(r.src.Work.Prompt), timeout: r.src.Work.Timeout}, "exit_status")
	stop()
	r.l.hook(PointWorked)
	if cause := context.Cause(watched); watched.Err() != nil && ctx.Err() == nil {
		end, err = conclude(r.stopped(cause)), nil
	}
	if end != nil || err != nil {
		return end, err
	}
	return r.left(ctx, path)
}

// program runs one program of the work to its end. Anything but exit code 0 fails
// the run: no zero is ever inferred.
func (r *running) program(ctx context.Context, p part, why string) (*conclusion, error) {
	if end := r.unchanged(); end != nil {
		return end, nil
	}
	p.grace, p.session, p.started = r.src.Work.KillGrace, true, r.letGo
	done, err := r.run(ctx, p)
	switch {
	case err != nil:
		return nil, err
	case done.End == command.NotStarted && isOurs(done.Err):
		return nil, done.Err
	case ctx.Err() != nil:
		return nil, nil // its cause says what it means
	case done.End == command.Exited && done.Exit == 0:
		return nil, nil
	case done.End == command.TimedOut:
		why = "timeout"
	case done.End == command.NotStarted:
		why = "not_started"
	}
	detail := p.name + ": " + done.String()
	if done.Err != nil {
		detail = fmt.Sprintf("%s: %v", detail, done.Err)
	}
	if last := lastLine(r.tail(p.name)); last != "" {
		detail += ", its last line: " + last
	}
	return conclude(loop.FailRun{Tick: r.mine(), Why: why, Detail: detail, Usage: r.used()}), nil
}

// letGo puts a program's group on record. The first one begins the run.
func (r *running) letGo(p command.Process) error {
	if r.state.Claim == nil || r.state.Claim.Phase != loop.InGate {
		err := r.regroup(p)
		if err == nil {
			r.l.hook(PointWorking)
		}
		return err
	}
	r.group.Store(int64(p.PID))
	_, err := r.commit(context.Background(), loop.BeginWork{
		Tick: r.mine(), Group: loop.ProcessGroup{ID: p.PID, Start: p.Start}, Base: r.base.ID, BaseTree: r.base.Tree,
	})
	if err == nil {
		r.l.hook(PointWorking)
	}
	return held(err)
}

// regroup puts a program's group on record, and begins nothing.
func (r *running) regroup(p command.Process) error {
	r.group.Store(int64(p.PID))
	_, err := r.commit(context.Background(), loop.Regroup{Tick: r.mine(), Group: loop.ProcessGroup{ID: p.PID, Start: p.Start}})
	return held(err)
}

// held is why a program stays held back: a refusal, or an error of ours.
func held(err error) error {
	if err == nil || errors.As(err, new(*loop.Refusal)) {
		return err
	}
	return &notLetGo{err}
}

// worktrees is the repository for what changes a worktree's folder: each such git
// is held back until its group is on record, like the programs of the work.
//
//	runner                              next tick
//	starts git, held; it is on record
//	both are stopped for long
//	                                    burns the token, kills git's group, claims
//	wakes; starts the next git, held
//	cannot record it: stale_token
//	git ends without having begun
func (r *running) worktrees() worktree.Repo {
	repo := r.l.repoOf(r.name)
	repo.Env = []string{variable + "=" + mark(r.uid, r.token)}
	repo.SetAside = func(path string) { r.aside = append(r.aside, setAside(path)) }
	repo.Started = func(p command.Process) error {
		err := r.regroup(p)
		if err == nil {
			r.l.hook(PointPlacing)
		}
		return err
	}
	return repo
}

// left takes over what the work left: the commit that its worktree is at. What is
// in no commit does not count.
func (r *running) left(ctx context.Context, path string) (*conclusion, error) {
	head, err := r.l.repo.Head(ctx, path)
	if errors.As(err, new(*worktree.BusyError)) {
		return conclude(loop.FailRun{Tick: r.mine(), Why: "worktree_gone", Detail: err.Error(), Usage: r.used()}), nil
	}
	if err != nil {
		return nil, err
	}
	ours, err := r.l.repo.Descends(ctx, head.ID, r.base.ID)
	if err != nil {
		return nil, err
	}
	if !ours {
		return conclude(loop.FailRun{Tick: r.mine(), Why: "not_descendant", Usage: r.used(),
			Detail: fmt.Sprintf("the work left commit %s, which does not go on from %s: landing it would drop what was there", head.ID, r.base.ID)}), nil
	}
	r.result = head
	if r.usage, err = r.usageNow(); err != nil {
		r.untold = err.Error()
	}
	if files, err := r.l.repo.Uncommitted(ctx, path); err == nil && len(files) > 0 { // else it is not told
		r.unkept = "it left uncommitted, which does not count and is cleaned away: " + few(files)
	}
	if head.ID != r.base.ID {
		if err := r.l.repo.Keep(ctx, r.name, r.token, head.ID, r.base.ID); err != nil {
			return nil, err
		}
	}
	return r.branchStays(ctx)
}

// few names some of many files.
func few(files []string) string {
	const most = 5
	if len(files) <= most {
		return strings.Join(files, ", ")
	}
	return strings.Join(files[:most], ", ") + fmt.Sprintf(" and %d more", len(files)-most)
}

// branchStays wants the loop's branch where the run began: nobody has judged the work
// yet. Where the work moved it to its own result, as who checks the branch out to work
// on it does, it is put back; where anybody moved it elsewhere, the landing would fail.
func (r *running) branchStays(ctx context.Context) (*conclusion, error) {
	branch, repo := r.src.Worktree.Branch, r.l.repoOf(r.name)
	if r.result.ID != r.base.ID {
		if err := repo.Land(ctx, branch, r.result.ID, r.base.ID, "loop "+r.name+": taken back until it is judged"); err == nil {
			return nil, nil
		} else if !errors.As(err, new(*worktree.MovedError)) {
			return nil, err
		}
	}
	have, err := repo.Branch(ctx, branch)
	switch gone := errors.As(err, new(*worktree.NotFoundError)); {
	case err != nil && !gone:
		return nil, err
	case have.ID != r.base.ID:
		return conclude(loop.FailRun{Tick: r.mine(), Why: string(loop.HaltBranchMoved), Usage: r.usage,
			Detail: fmt.Sprintf("the work, or somebody else, moved branch %s from %s to %s, which was not verified: put it back, or clear this to go on from there; what the run left is kept as %s",
				branch, r.base.ID, cmp.Or(have.ID, "no commit"), r.result.ID)}), nil
	}
	return nil, nil
}

// verify judges the result on a clean checkout, by the definition as it stood at
// the claim, then asks whether the goal is met.
func (r *running) verify(ctx context.Context) (*conclusion, error) {
	defer r.l.hook(PointVerified)
	if end, err := r.verifying(); end != nil || err != nil {
		return end, err
	}
	judge := r.src.Verify != nil && r.result.Tree != r.base.Tree
	if !judge && r.src.Goal == nil {
		return nil, nil
	}
	path := r.l.verifyPath(r.name)
	if err := r.worktrees().Ensure(ctx, path, r.result.ID, true); err != nil {
		return nil, err
	}
	if end := r.homeless(path, r.result.ID); end != nil {
		return end, nil
	}
	if judge {
		if end, err := r.judge(ctx, path); end != nil || err != nil {
			return end, err
		}
	}
	return r.goal(ctx, path)
}

// verifying records what the work left and used. Where that is over a limit the
// run ends with it.
func (r *running) verifying() (*conclusion, error) {
	out, err := r.commit(context.Background(), loop.BeginVerify{Tick: r.mine(), Result: r.result.ID, Tree: r.result.Tree, Usage: r.usage, Untold: r.untold})
	if err == nil && r.state.Claim == nil {
		return &conclusion{events: out.Events}, nil
	}
	return nil, err
}

// judge asks the verifier. Whatever it ends with but a yes is a no.
func (r *running) judge(ctx context.Context, path string) (*conclusion, error) {
	if end := r.unchanged(); end != nil {
		return end, nil
	}
	j, err := r.ask(ctx, "verify", r.src.Verify.Check, r.l.within(path), r.letGo)
	if err != nil {
		return nil, err
	}
	r.verdict = j.Digest
	if j.Verdict != command.Allow {
		return conclude(loop.FailVerify{Tick: r.mine(), Verdict: j.Digest, Detail: j.Detail}), nil
	}
	return nil, r.folder.replace(verdictName, []byte(j.Digest+"\n"))
}

// goal asks whether the loop is finished with this result.
func (r *running) goal(ctx context.Context, path string) (*conclusion, error) {
	if r.src.Goal == nil {
		return nil, nil
	}
	if end := r.unchanged(); end != nil {
		return end, nil
	}
	j, err := r.ask(ctx, "goal", *r.src.Goal, r.l.within(path), r.letGo)
	switch {
	case err != nil:
		return nil, err
	case j.Verdict == command.Failed:
		return conclude(loop.FailRun{Tick: r.mine(), Why: "goal_error", Detail: j.Detail}), nil
	}
	r.met = j.Verdict == command.Allow
	return nil, nil
}

// verdictName is the file with the digest of the verifier's answer.
const verdictName = "verdict"

func verdictIn(dir string) string {
	raw, err := readFile(dir, verdictName)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// unchanged ends a run whose definition, or a script that it names, is not that of
// the claim any more: a gate may have pulled, and the work may reach the folder that
// they lie in. It is asked before each program: what was consented to is what runs.
func (r *running) unchanged() *conclusion {
	err := r.l.same(r.src)
	if err == nil {
		return nil
	}
	return conclude(loop.FailRun{Tick: r.mine(), Why: "definition_changed", Detail: err.Error(), Usage: r.used()})
}

// same tells whether a definition and its scripts are as they were.
func (l *Loops) same(src Source) error {
	now, err := l.ground.Source(src.Name)
	switch {
	case err != nil:
		return fmt.Errorf("the definition cannot be read any more: %w", err)
	case now.Digest != src.Digest:
		return errors.New("the definition, or a script that it names, was changed during the run")
	}
	return nil
}
