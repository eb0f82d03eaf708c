//go:build !unix

package runner

import (
	"os"

	"github.com/spec-kitty/step-runner/host/commit"
)

func killSelf() { os.Exit(137) }

func handOptions(root string, hook func(string)) Options {
	return Options{Root: root, CacheDir: cacheDir(), Hook: hook, Commit: commit.Options{Hook: hook}}
}
