//go:build unix

package sandbox

import "golang.org/x/sys/unix"

// reserve maps fresh zero pages; nil where the system gives none, so that the
// guest's first page is refused.
func reserve(size uint64) []byte {
	b, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return b
}

func release(b []byte) {
	if b != nil {
		_ = unix.Munmap(b)
	}
}
