//go:build unix

package runner

import (
	"os"
	"syscall"

	"github.com/spec-kitty/step-runner/host/commit"
)

func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until the signal comes
}

// handOptions have the same hook at the points of the runner and of the commit
// core: their names differ.
func handOptions(root string, hook func(string)) Options {
	return Options{Root: root, CacheDir: cacheDir(), Hook: hook, Commit: commit.Options{Hook: hook}}
}
