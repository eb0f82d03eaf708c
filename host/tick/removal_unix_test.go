//go:build unix

package tick

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spec-kitty/step-runner/host/loop"
)

// A retired loop's last run ends while its removal asks git what is kept: what the run
// leaves in that moment is not given up.
func TestRemoveBesideARunsEnd(t *testing.T) {
	y := newYard(t, commits, func(d *loop.Definition) { d.Verify = &loop.Verifier{Check: *sh("exit 1")} })
	y.create("deps")
	real, err := exec.LookPath("git")
	must(t, err)
	bin, hold := t.TempDir(), filepath.Join(y.root, "hold")
	// Once, where hold is there: what is kept was listed, and is not told yet.
	write(t, filepath.Join(bin, "git"), `#!/bin/sh
case "$*" in *for-each-ref*) ;; *) exec '`+real+`' "$@" ;; esac
rm '`+hold+`' 2>/dev/null || exec '`+real+`' "$@"
'`+real+`' "$@"; code=$?
touch '`+hold+`.listed'
while ! test -e '`+hold+`.go'; do sleep 0.05; done
exit $code
`)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))

	worked, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan Report, 1)
	go func() {
		r, err := y.loops(hooked(func(point string) {
			if point == PointWorked {
				close(worked)
				<-goOn
			}
		})).Tick(t.Context(), Request{Loop: "deps", Who: "tick", ByHand: true})
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	<-worked
	_, err = y.loops().Retire(t.Context(), "deps", "human:me", "", false)
	must(t, err)
	write(t, hold, "")
	removed := make(chan error, 1)
	go func() {
		_, err := y.loops().Remove(t.Context(), "deps", "human:me", false)
		removed <- err
	}()
	waitFor(t, "the removal is refused, or has asked git", func() bool { return len(removed) > 0 || exists(hold+".listed") })
	_ = os.Remove(hold) // nobody else is held
	close(goOn)
	y.want(<-ended, Halted, string(loop.HaltVerify))
	write(t, hold+".go", "")
	wantRefusal(t, <-removed, loop.ClaimLive)
	_, err = y.loops().Remove(t.Context(), "deps", "human:me", false)
	wantRefusal(t, err, loop.Unlanded)
}
