//go:build !unix

package readonly

// noWait is nothing where a folder cannot hold a named pipe.
const noWait = 0
