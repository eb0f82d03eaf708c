//go:build !linux

package worktree

// Unlocks tells whether it can be told here that no git is at work in a repository.
const Unlocks = false

// gitAt says why a git may be at work in one of the folders.
func gitAt([]string) string { return "whether a git holds it cannot be told on this system" }
