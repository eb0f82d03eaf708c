package sandbox

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/spec-kitty/step-runner/host/bundle"
)

func packed(t *testing.T, files ...bundle.File) []byte {
	t.Helper()
	b, err := bundle.Pack(files)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A plugin's own folder is read as it was packed, whole and without a grant, and
// nothing can be changed in it.
func TestGuestSeesItsOwnFolder(t *testing.T) {
	h := newHost(t)
	own := packed(t, bundle.File{Name: "main.js", Data: []byte("main")}, bundle.File{Name: "lib/a.js", Data: []byte("a")}, bundle.File{Name: "lib/deep/b.js"})
	prepared(t, h, plugin(t, "files"))
	for _, c := range []struct{ op, path, want string }{
		{"r", "main.js", "main"},
		{"r", "lib/a.js", "a"},
		{"r", "lib/deep/b.js", ""},
		{"r", "lib/../main.js", "main"},
		{"r", "none.js", noEntry},
		{"s", "none.js", noEntry},
		{"r", "main.js/x", "!54"},
		{"r", "../main.js", notPerm},
		{"r", "../etc/passwd", notPerm},
		{"l", ".", ".\n..\nlib\nmain.js\n"},
		{"l", "lib", ".\n..\na.js\ndeep\n"},
		{"w", "main.js", readOnlyE},
		{"c", "new.js", readOnlyE},
		{"t", "main.js", readOnlyE},
		{"m", "new", readOnlyE},
		{"u", "main.js", readOnlyE},
	} {
		p := plugin(t, "files", c.op, c.path)
		p.Bundle = own
		a, err := h.Call(context.Background(), p, guardCall())
		if err != nil || string(a.Stdout) != c.want || len(a.Read) > 0 {
			t.Errorf("%s %s: %q, %v, want %q; facts %v", c.op, c.path, a.Stdout, err, c.want, a.Read)
		}
	}
}

// With a bundle the project is still the first folder, and shows what it did.
func TestOwnFolderComesLast(t *testing.T) {
	root, _ := project(t)
	p := plugin(t, "files", "l", ".")
	p.Bundle = packed(t, bundle.File{Name: "main.js"})
	a, err := newHost(t).Call(context.Background(), p, filesCall(root))
	if err != nil || string(a.Stdout) != ".\n..\ndocs\nkitty-specs\n" {
		t.Errorf("%q, %v", a.Stdout, err)
	}
}

func TestOwnFolderIsChecked(t *testing.T) {
	h := newHost(t)
	p := plugin(t, "allow")
	p.Bundle = []byte("no bundle")
	_, err := h.Call(context.Background(), p, guardCall())
	if f := mustFail(t, err, ChildFailed); !strings.Contains(f.Detail, "no bundle") {
		t.Error(f)
	}
	c := guardCall()
	c.Mounts = []Mount{{Guest: "/plugin", Host: t.TempDir()}}
	_, err = h.Call(context.Background(), plugin(t, "allow"), c)
	mustFail(t, err, ChildFailed)
}

// The parts that no guest of ours reaches.
func TestShelf(t *testing.T) {
	d := newDesk(context.Background(), 2, &strings.Builder{})
	s := newShelf([]bundle.File{{Name: "a", Data: []byte("abc")}, {Name: "b/c"}}, d)
	f, errno := s.OpenFile("a", 0, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	buf := make([]byte, 2)
	for _, c := range []struct {
		to     int64
		whence int
		want   int64
		errno  sys.Errno
	}{{1, 0, 1, 0}, {-1, 1, 0, 0}, {-1, 2, 2, 0}, {-4, 2, 0, sys.EINVAL}, {1 << 62, 1, 1<<62 + 2, 0}, {-1 << 63, 1, 0, sys.EINVAL}, {0, 9, 0, sys.EINVAL}} {
		if got, errno := f.Seek(c.to, c.whence); got != c.want || errno != c.errno {
			t.Errorf("seek %d %d: %d %v", c.to, c.whence, got, errno)
		}
	}
	if n, errno := f.Read(buf); n != 0 || errno != 0 {
		t.Errorf("far behind the end: %d %v", n, errno)
	}
	if n, errno := f.Pread(buf, 2); n != 1 || errno != 0 || buf[0] != 'c' {
		t.Errorf("%d %v", n, errno)
	}
	if _, errno := f.Pread(buf, -1); errno != sys.EINVAL {
		t.Error(errno)
	}
	dir, errno := s.OpenFile("b", sys.O_DIRECTORY, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	if _, errno := s.OpenFile("a", 0, 0); errno != sys.EAGAIN {
		t.Errorf("the third open: %v", errno)
	}
	for range 2 { // closing twice gives one descriptor back
		dir.Close()
	}
	if _, errno := s.OpenFile("a", sys.O_DIRECTORY, 0); errno != sys.ENOTDIR {
		t.Error(errno)
	}
	if _, errno := s.Readlink("a"); errno != sys.EINVAL {
		t.Error(errno)
	}
	if d.files != 1 {
		t.Errorf("%d descriptors are free", d.files)
	}
	all, errno := dir.Readdir(-1)
	if diff := cmp.Diff([]sys.Dirent{{Name: "c"}}, all); diff != "" || errno != 0 {
		t.Error(diff, errno)
	}
}
