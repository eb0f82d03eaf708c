//go:build !unix

package locks

import "os"

// openFlags open for reading, which suffices to lock.
const openFlags = os.O_CREATE | os.O_RDONLY
