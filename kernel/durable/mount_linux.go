package durable

import (
	"fmt"
	"syscall"
)

// shared goes by the file system's magic number, see statfs(2).
func shared(path string) string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return ""
	}
	return sharedKind(uint32(st.Type))
}

func sharedKind(magic uint32) string {
	switch magic {
	case 0x6969:
		return "NFS"
	case 0x517b, 0xff534d42, 0xfe534d42:
		return "SMB"
	case 0x65735546:
		return "FUSE"
	case 0x01021997:
		return "9p"
	case 0x00c36400:
		return "Ceph"
	case 0x0bd00bd0:
		return "Lustre"
	case 0x5346414f, 0x6b414653:
		return "AFS"
	case 0x01161970:
		return "GFS2"
	case 0x7461636f:
		return "OCFS2"
	case 0x786f4256:
		return "vboxsf"
	}
	return ""
}

func kind(path string) string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return ""
	}
	return kindName(uint32(st.Type))
}

func kindName(magic uint32) string {
	switch magic {
	case 0xef53:
		return "ext"
	case 0x58465342:
		return "xfs"
	case 0x9123683e:
		return "btrfs"
	case 0x2fc12fc1:
		return "zfs"
	case 0xf2f52010:
		return "f2fs"
	case 0x01021994:
		return "tmpfs"
	case 0x794c7630:
		return "overlay"
	}
	if name := sharedKind(magic); name != "" {
		return name
	}
	return fmt.Sprintf("%#x", magic)
}
