package tick

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/explorer"
	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
)

// P3: a real tick does what the explorer's model of loops does, in the model's
// order: its records, by their kinds, and what lies between them. The model knows one
// program of a run, its work; what a tick puts on record of further ones (regroup), as
// of git that makes the worktree, is the same held start once more.
func TestTickStepsAreReal(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	var steps []string
	known := len(y.kinds())
	hook := func(point string) {
		kinds := y.kinds()
		steps = append(steps, slices.DeleteFunc(slices.Clone(kinds[known:]), func(kind string) bool { return kind == "regroup" })...)
		known = len(kinds)
		switch point {
		case PointRead:
			steps = append(steps, "read")
		case PointWorking: // called right before
			steps = append(steps, "let go")
		case PointIntended:
			wantBranch(t, y, "loop/deps", "main")
		case PointLanded:
			if y.head() == git(t, y.root, "rev-parse", "main") {
				t.Error("the branch was not moved")
			}
			steps = append(steps, "swap")
		}
	}
	y.want(y.tick(y.loops(hooked(hook))), Done, "success")
	if diff := cmp.Diff(explorer.TickSteps(), steps); diff != "" {
		t.Errorf("a tick (-model +real):\n%s", diff)
	}
}

func wantBranch(t *testing.T, y *yard, branch, at string) {
	t.Helper()
	if is, want := git(t, y.root, "rev-parse", branch), git(t, y.root, "rev-parse", at); is != want {
		t.Errorf("%s is at %s, %s at %s", branch, is, at, want)
	}
}

// kinds are those of the loop's records.
func (y *yard) kinds() []string {
	y.t.Helper()
	var all []string
	err := y.loops().Log(context.Background(), "deps", 1, func(r commit.Record[loop.Event]) error {
		all = append(all, r.Kind)
		return nil
	})
	must(y.t, err)
	return all
}
