package durable

import "syscall"

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
