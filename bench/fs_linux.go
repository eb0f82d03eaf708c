package main

import (
	"fmt"
	"syscall"
)

// fileSystem names the kind of disk, because the sync's time is the disk's.
func fileSystem(path string) string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return "an unknown file system"
	}
	switch uint32(st.Type) {
	case 0xef53:
		return "ext4"
	case 0x58465342:
		return "xfs"
	case 0x9123683e:
		return "btrfs"
	case 0x2fc12fc1:
		return "zfs"
	case 0x794c7630:
		return "overlayfs"
	case 0x01021994:
		return "tmpfs (where a sync costs nothing: name a disk with -dir)"
	}
	return fmt.Sprintf("file system %#x", uint32(st.Type))
}

// flush writes out what the making of projects left in memory: it would come
// on top of the first syncs that are measured.
func flush() { syscall.Sync() }
