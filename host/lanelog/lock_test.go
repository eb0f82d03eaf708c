package lanelog_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spec-kitty/step-runner/host/lanelog"
)

// Case 49: the lock is the existing tool's, the same from every worktree: in
// git's common folder.
func TestLockPath_Case49(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"p/.git/config": "", "p/sub/x": "", "p/.git/worktrees/w/commondir": "../..\n",
		"w/.git": "gitdir: ../p/.git/worktrees/w\n", "w/sub/x": "",
		"p/lib/.git": "gitdir: ../.git/modules/lib\n", "p/.git/modules/lib/HEAD": "",
		"plain/x": "",
	} {
		path := filepath.Join(top, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string]string{
		"p": "p/.git", "p/sub": "p/.git", "w": "p/.git", "w/sub": "p/.git", "p/lib": "p/.git/modules/lib", "plain": "plain/.kittify",
	} {
		got, err := lanelog.LockPath(filepath.Join(top, filepath.FromSlash(from)), "034-pay")
		want := filepath.Join(top, filepath.FromSlash(want), "spec-kitty-locks", "034-pay.status.lock")
		if err != nil || got != want {
			t.Errorf("from %s: %s, %v; want %s", from, got, err, want)
		}
		if info, err := os.Stat(filepath.Dir(want)); err != nil || !info.IsDir() {
			t.Errorf("the lock's folder is not there: %v", err)
		}
	}
}
