//go:build unix

package trust

import (
	"io/fs"
	"os"
	"syscall"
)

// private tells whether a file or folder is ours alone.
func private(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
