package durable

import (
	"io/fs"
	"strconv"
	"syscall"
)

// stampOf goes by the file's number and its change time, which nobody can set.
func stampOf(info fs.FileInfo) string {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return changed(info)
	}
	return strconv.FormatUint(sys.Ino, 36) + "." + strconv.FormatInt(sys.Ctim.Nano(), 36)
}
