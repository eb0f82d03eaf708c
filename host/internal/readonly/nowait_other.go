//go:build !unix

package readonly

// NoWait is nothing where a folder cannot hold a named pipe.
const NoWait = 0
