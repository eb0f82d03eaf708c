package durable

import "testing"

func TestSharedKinds(t *testing.T) {
	for magic, want := range map[uint32]string{
		0x6969: "NFS", 0xff534d42: "SMB", 0x65735546: "FUSE", 0x01021997: "9p",
		0xef53: "" /* ext4 */, 0x794c7630: "" /* overlay */, 0x01021994: "" /* tmpfs */, 0x9123683e: "", /* btrfs */
	} {
		if got := sharedKind(magic); got != want {
			t.Errorf("%#x: %q", magic, got)
		}
	}
}

func TestKind(t *testing.T) {
	for magic, want := range map[uint32]string{0xef53: "ext", 0x01021994: "tmpfs", 0x6969: "NFS", 0x1234: "0x1234"} {
		if got := kindName(magic); got != want {
			t.Errorf("%#x: %q, want %q", magic, got, want)
		}
	}
	if Kind(t.TempDir()) == "" {
		t.Error("the kind of the temporary folder is not known")
	}
}
