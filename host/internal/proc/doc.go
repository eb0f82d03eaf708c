// Package proc is what the packages that start programs know of processes: what the
// kernel tells of them, that one has ended before it is reaped, and the end of a group.
// It starts nothing and promises no more than one look shows: by the next a process may
// be gone, and its id another's. All functions may be called concurrently.
package proc
