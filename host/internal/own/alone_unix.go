//go:build unix

package own

import (
	"io/fs"
	"os"
	"syscall"
)

// Alone tells whether what was looked at is ours, and nobody else may read or write it.
func Alone(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
