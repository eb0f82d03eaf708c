//go:build unix

package tick

import (
	"testing"

	"github.com/spec-kitty/step-runner/host/loop"
)

// Work that checks the loop's branch out and commits on it, as people do: the branch
// is put back until the result is judged, and the loop goes on.
func TestWorkOnTheBranchItself(t *testing.T) {
	y := newYard(t, `git checkout -q loop/deps && `+commits, func(d *loop.Definition) {
		d.Verify = &loop.Verifier{Check: *sh(`test "$(git -C "$SPEC_KITTY_ROOT" rev-parse loop/deps)" = "$SPEC_KITTY_LOOP_BASE" && ! test -e bad`)}
	})
	y.create("deps")
	y.want(y.tick(y.loops()), Done, "success")
	y.want(y.tick(y.loops()), Done, "success")
	if n := y.landed(); n != 2 {
		t.Errorf("%d commits landed", n)
	}
	y.rework(`git checkout -q loop/deps && touch bad && ` + commits)
	before := y.head()
	y.want(y.tick(y.loops()), Halted, "verify_failed")
	if y.head() != before {
		t.Error("the branch is at what the verifier refused")
	}
}

// Row 19, where the work left nothing of its own: the branch is noticed all the same.
func TestBranchMovedByIdleWork_Row19(t *testing.T) {
	y := newYard(t, `git update-ref refs/heads/loop/deps "$(git commit-tree -m other 'HEAD^{tree}')"`)
	y.create("deps")
	y.want(y.tick(y.loops()), Halted, "branch_moved")
}

// The work shares a repository with its verifier, and can install hooks there and
// have files left out of checkouts: the verifier gets what the commit says.
func TestCheckoutToVerifyIsWhole(t *testing.T) {
	const common = `d=$(git rev-parse --git-common-dir) && touch bad && `
	for name, work := range map[string]string{
		"hook":   common + commits + ` && mkdir -p "$d/hooks" && printf '#!/bin/sh\nrm -f bad\n' > "$d/hooks/post-checkout" && chmod +x "$d/hooks/post-checkout"`,
		"sparse": common + commits + ` && git config core.sparseCheckout true && mkdir -p "$d/info" && printf '/*\n!/bad\n' > "$d/info/sparse-checkout" && for w in "$d"/worktrees/*; do mkdir -p "$w/info" && cp "$d/info/sparse-checkout" "$w/info"; done`,
		"marked": common + commits + ` && v="$PWD-verify" && if test -e "$v"; then touch "$v/bad" && git -C "$v" add bad && git -C "$v" update-index --skip-worktree bad && rm "$v/bad"; fi`,
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, commits, func(d *loop.Definition) { d.Verify = &loop.Verifier{Check: *sh("! test -e bad")} })
			y.create("deps")
			y.want(y.tick(y.loops()), Done, "success") // the checkout is there
			y.rework(work)
			y.want(y.tick(y.loops()), Halted, "verify_failed")
			if n := y.landed(); n != 1 {
				t.Errorf("%d commits landed", n)
			}
		})
	}
}

// rework has the loop do other work from now on.
func (y *yard) rework(work string) { y.defs["deps"].Work.Run = []string{"sh", "-c", work} }
