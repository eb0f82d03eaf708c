package worktree

// gitSyncs: here git waits for all that it writes, and a file that was opened for
// reading cannot be synced.
const gitSyncs = true
