// Package worktree is a loop's view of a git repository: where its branch
// stands, a folder of its own to work in, a clean one to verify in, and the move
// of its branch to a result. It promises that it changes only what is the loop's:
// the two folders that it is given, refs under its own prefix, and the one branch,
// which it moves by git's own compare-and-swap. It never resets, cleans or removes
// a folder that git does not list as a worktree of this repository at that path, but
// for one that it had begun to make into one itself.
//
// It calls the git program; hooks and filters of the user's run in it, so it takes
// no lock. All methods may be called concurrently, but for those of one folder.
package worktree

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// Limits of one call of git.
const (
	DefaultTimeout = 2 * time.Minute // hooks may be slow
	maxOutput      = 16 << 20        // bytes
	maxComplaint   = 2 << 10         // bytes of what it, or a hook, complains of
)

// NoCommit stands for the commit of a ref that is not there.
const NoCommit = "0000000000000000000000000000000000000000"

// Repo is a repository, by a folder in its main worktree.
type Repo struct {
	Root    string        // absolute
	Timeout time.Duration // of one call; 0: DefaultTimeout
	Program string        // ""; "git"
	Env     []string      // NAME=VALUE: what git and its hooks are told beside our own
	Own     []string      // folders of the caller's own: a branch that is checked out there may be moved
	Disk    durable.Disk  // that git's files lie on; nil: the real one
	// Started is called for each git that changes a worktree's folder, once it is
	// there and before it may begin; an error keeps it from beginning. See
	// command.Command.
	Started func(command.Process) error
	// SetAside is told where something went that lay in a folder which was begun to be
	// made a worktree, and may be somebody's; nil: nobody is told.
	SetAside func(path string)
}

// GitError is a call of git that failed.
type GitError struct {
	Call   string // as a person would type it
	Exit   int    // -1: it did not end by itself
	Stderr string // its end, where it is long
	Err    error  // why it was not started, where it was not
}

func (e *GitError) Unwrap() error { return e.Err }

func (e *GitError) Error() string {
	text := strings.TrimSpace(e.Stderr)
	if text == "" {
		text = fmt.Sprintf("exit code %d", e.Exit)
	}
	return e.Call + ": " + text
}

// git calls git in a folder and gives its standard output.
func (r Repo) git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	r.Started = nil
	return r.call(ctx, dir, args...)
}

// change is git for calls that change a worktree's folder. What such a call leaves
// there is what the commit says: hooks are not run and no part is left out, since the
// work can install a hook, and can have git leave files out, in the repository that
// its worktree shares with all others.
func (r Repo) change(ctx context.Context, dir string, args ...string) ([]byte, error) {
	plain := []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.sparseCheckout=false"}
	return r.call(ctx, dir, append(plain, args...)...)
}

func (r Repo) call(ctx context.Context, dir string, args ...string) ([]byte, error) {
	program := r.Program
	if program == "" {
		program = "git"
	}
	timeout := r.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	argv := append([]string{program, "-c", "advice.detachedHead=false", "-c", "gc.auto=0", "-c", "core.fsmonitor=false"}, args...)
	done := command.Run(ctx, command.Command{Name: "git", Argv: argv, Dir: dir, Env: append(environ(), r.Env...), Timeout: timeout, Output: maxOutput, Started: r.Started})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	failed := &GitError{Call: "git " + strings.Join(args, " "), Exit: done.Exit, Stderr: ending(done.Stderr.Kept)}
	switch {
	case done.End == command.NotStarted:
		failed.Stderr, failed.Err = fmt.Sprintf("git could not be started: %v", done.Err), done.Err
	case done.End != command.Exited:
		failed.Stderr = done.String()
	case done.Exit == 0 && done.Stdout.Truncated:
		failed.Stderr = fmt.Sprintf("it wrote more than %d bytes", maxOutput)
	case done.Exit == 0:
		return done.Stdout.Kept, nil
	}
	return nil, failed
}

// ending is the end of what was complained of: the reason stands there, and a whole
// flood of it would go into the records.
func ending(text []byte) string {
	return strings.ToValidUTF8(string(text[max(0, len(text)-maxComplaint):]), "")
}

// passed is what git gets of our environment. Hooks and filters run in it, and the
// work that we look after can install some: what would lead git to another
// repository is not passed, and no secret that nobody named.
func passed() []string {
	return []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM",
		"GIT_EXEC_PATH", "SYSTEMROOT", "USERPROFILE", "APPDATA", "TEMP", "TMP"}
}

// environ is the environment of git, without questions to a person.
func environ() []string {
	var env []string
	for _, name := range passed() {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
}

// line is the only line of an output.
func line(out []byte) string { return string(bytes.TrimRight(out, "\n")) }
