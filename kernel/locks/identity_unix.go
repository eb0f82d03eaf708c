//go:build unix

package locks

import (
	"io/fs"
	"syscall"
)

// identity is the file's device and number, however it was reached.
func identity(path string, info fs.FileInfo) any {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return [2]uint64{uint64(st.Dev), uint64(st.Ino)}
	}
	return path
}
