// Package locks is the one lock between processes: a file that is locked as a
// whole, for as long as a function runs.
//
// A lock belongs to an open file, so it ends with its process, however that
// ends. The file is made when it is missing; it is never removed, truncated or
// judged by its age or content. Nobody polls: whoever finds the lock busy
// waits in the kernel's queue, and the goroutine that gets the lock does the
// work itself.
package locks
