//go:build !linux

package proc

import "os"

// AwaitEnd does not wait here: between a child's end and its reaping, an instant, its
// id may be nobody's, and a signal meet another process.
func AwaitEnd(*os.Process) bool { return false }
