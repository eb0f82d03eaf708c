//go:build unix

package sandbox

import "golang.org/x/sys/unix"

// neutralDir is the child's working folder: no relative path leads anywhere,
// and it holds nobody's folder busy.
const neutralDir = "/"

func childEnv() []string { return []string{} }

// reapFiller collects a filler that has ended, so that none stays as a zombie.
// It tells whether nothing is left to collect.
func reapFiller(pid int, wait bool) bool {
	options := unix.WNOHANG
	if wait {
		options = 0
	}
	for {
		got, err := unix.Wait4(pid, nil, options, nil)
		if err == unix.EINTR {
			continue
		}
		return err != nil || got == pid
	}
}
