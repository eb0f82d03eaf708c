//go:build !windows

package worktree

const gitSyncs = false
