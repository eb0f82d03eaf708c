//go:build unix

package tick

import (
	"os"
	"path/filepath"
	"testing"
)

// githook puts a hook into the repository. Root is the project's folder in it.
func (y *yard) githook(name, script string) {
	y.t.Helper()
	write(y.t, filepath.Join(y.root, ".git", "hooks", name), "#!/bin/sh\nROOT='"+y.root+"'\n"+script+"\n")
}

// Rows 17 and 18, within git's own swap: the runner is killed while git moves the
// branch, before and after it is moved. The next tick finishes it, once.
func TestKilledInUpdateRef_Row17_Row18(t *testing.T) {
	for _, stage := range []string{"prepared", "committed"} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			y := newYard(t, commits)
			y.create("deps")
			// The first swap makes the branch, the second one lands.
			y.githook("reference-transaction", `
grep -q refs/heads/loop/deps && test "$1" = `+stage+` || exit 0
echo x >> "$ROOT/swaps"
test "$(wc -l < "$ROOT/swaps")" -lt 2 || kill -9 "$(cat "$ROOT/hand")"
exit 0`)
			hand := y.hand("")
			write(t, filepath.Join(y.root, "hand"), itoa(uint64(hand.Process.Pid)))
			hand.Wait()
			if hand.ProcessState.Success() {
				t.Fatalf("the hand was not killed: %s", said(t, hand))
			}
			must(t, os.Remove(filepath.Join(y.root, ".git", "hooks", "reference-transaction")))
			y.want(y.tick(y.loops()), Done, "success") // the second run: the first's landing is finished before
			if s := y.status(); s.Count.Runs != 2 || s.Count.Failures != 0 || y.landed() != 2 {
				t.Errorf("%d landed: %+v", y.landed(), s)
			}
		})
	}
}
