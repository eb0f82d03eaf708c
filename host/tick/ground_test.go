package tick

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
)

// A project that is one of several in a repository: its programs run in its own folder
// of each checkout, what judges the work is protected there, and a decision holds.
func TestProjectBelowTheTop(t *testing.T) {
	y := newYard(t, `echo exit 0 > verify.sh && pwd > where.txt && git add . && git commit -qm work`, func(d *loop.Definition) {
		d.Verify = &loop.Verifier{Check: loop.Check{Run: []string{"./verify.sh"}, Timeout: 10 * time.Second}}
		d.Goal = sh("test -s where.txt && touch $SPEC_KITTY_ROOT/judged")
	})
	y.root = filepath.Join(y.root, "services", "shop")
	must(t, os.MkdirAll(y.root, 0o755))
	y.script("verify.sh", "test -s where.txt")
	git(t, y.root, "branch", "loop/deps", "main~1")
	y.create("deps")
	y.want(y.tick(y.loops()), Failed, "base_missing") // the branch begins before the project
	git(t, y.root, "branch", "-f", "loop/deps", "main")
	y.want(y.tick(y.past()), Waiting, "waiting")
	a := y.status().Approval
	if !slices.Equal(a.Subject.Protected, []string{"services/shop/verify.sh"}) || !exists(filepath.Join(y.root, "judged")) {
		t.Errorf("%+v", a)
	}
	if _, err := y.loops().Approve(t.Context(), "deps", "human:me", a.ID, ""); err != nil {
		t.Fatal(err)
	}
	y.want(y.tick(y.past()), Done, "success")
	if got, want := git(t, y.root, "show", "loop/deps:services/shop/where.txt"), filepath.Join(y.loops().worktreePath("deps"), "services", "shop"); got != want {
		t.Errorf("the work was done in %s, want %s", got, want)
	}
}

// past are loops at a time when no backoff is in the way.
func (y *yard) past() *Loops {
	return y.loops(func(o *Options) { o.Now = func() time.Time { return time.Now().Add(time.Hour) } })
}
