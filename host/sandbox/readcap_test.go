package sandbox

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// What a guest reads is read again by the host under the run's lock, so one call
// reads so much and no more, however few files are open at a time.
func TestContentOfACallIsBounded(t *testing.T) {
	root := t.TempDir()
	const part = 12 << 20
	for _, name := range []string{"a", "b", "c"} {
		f, err := os.Create(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		must(t, f.Truncate(part))
		must(t, f.Close())
	}
	v, err := openView(Mount{Guest: "/project", Host: root}, []string{"/project"}, nil, newDesk(context.Background(), 8, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	defer v.root.Close()
	for name, want := range map[string]sys.Errno{"a": 0, "b": 0} {
		if got := readOne(t, v, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := readOne(t, v, "c"); got != sys.EIO {
		t.Errorf("more than %d MiB were read: %v", maxReadBytes>>20, got)
	}
}

func readOne(t *testing.T, v *view, name string) sys.Errno {
	t.Helper()
	f, errno := v.OpenFile(name, sys.O_RDONLY, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	defer f.Close()
	_, errno = f.Read(make([]byte, 1))
	return errno
}
