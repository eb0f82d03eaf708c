package tick

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/worktree"
)

// Create makes a loop that the project defines. It takes no lock.
func (l *Loops) Create(ctx context.Context, name, who string) (Report, error) {
	src, err := l.ground.Source(name)
	if err != nil {
		return Report{}, err
	}
	if err := l.grounded(ctx, src); err != nil {
		return Report{}, err
	}
	uid := newUID()
	first := loop.Create{By: l.by(who), UID: uid, Name: name, Definition: src.Digest}
	s, out, err := l.folders.Create(ctx, name, uid, first)
	exists := new(commit.ExistsError)
	if errors.As(err, &exists) && l.halfRemoved(ctx, name, who) {
		s, out, err = l.folders.Create(ctx, name, uid, first)
	}
	if errors.As(err, &exists) {
		return Report{}, &loop.Refusal{Code: loop.Exists, Message: fmt.Sprintf("loop %s is there already (%s): retire and remove it first, or take another name", name, cmp.Or(exists.ID, "something else lies in its folder"))}
	}
	if err != nil {
		return Report{}, err
	}
	o := &opened{l: l, name: name, store: s, state: out.State}
	defer o.close()
	report := o.report(Done, "created", "loop "+name+" is ready; no schedule fires it yet: `spec-kitty loop schedule install "+name+"`, or `spec-kitty loop tick "+name+"` by hand")
	report.warn(out.Warnings)
	return report, nil
}

// grounded refuses a definition that git cannot follow.
func (l *Loops) grounded(ctx context.Context, src Source) error {
	if err := l.repo.CheckBranch(ctx, src.Worktree.Branch); err != nil {
		return &loop.Refusal{Code: loop.BadRequest, Message: "[worktree] branch: " + err.Error()}
	}
	_, err := l.repo.Resolve(ctx, src.Worktree.Base)
	if errors.As(err, new(*worktree.NotFoundError)) {
		return &loop.Refusal{Code: loop.BadRequest, Message: "[worktree] base: " + err.Error() + ": name there the branch, tag or commit that the loop begins at"}
	}
	if _, untold := l.repo.Tip(src.Worktree.Branch); errors.Is(untold, worktree.ErrNotTold) && len(src.Approval.Before) > 0 {
		return &loop.Refusal{Code: loop.BadRequest, Message: "[approval] before: a decision is held against where branch " + src.Worktree.Branch +
			" is, which this repository does not tell without git: its refs are no files (`git refs migrate --ref-format=files`), or the branch is symbolic"}
	}
	return err
}

// newUID is a loop's id: no two loops have the same, whatever their names.
func newUID() string {
	raw := make([]byte, 16)
	rand.Read(raw) // it does not fail
	return hex.EncodeToString(raw)
}
