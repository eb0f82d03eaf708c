package sandbox

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// Again looks a second time at what a guest saw, through the same mounts and
// grants, and gives the digest of what is there now: Fact.SHA256 of an unchanged
// fact, something else otherwise. It runs no guest and is quick enough to be
// called under a lock: one file, folder or stat.
func Again(c Call, seen Fact) (string, error) {
	desk := newDesk(context.Background(), 1, io.Discard)
	for _, m := range c.Mounts {
		if seen.Path != m.Guest && !strings.HasPrefix(seen.Path, strings.TrimSuffix(m.Guest, "/")+"/") {
			continue
		}
		v, err := openView(m, c.Reads, c.Hide, desk)
		if err != nil {
			return "", err
		}
		defer v.root.Close()
		return v.again(seen)
	}
	return "", fmt.Errorf("%s lies below no mount", seen.Path)
}

func (v *view) again(seen Fact) (string, error) {
	name := strings.TrimPrefix(strings.TrimPrefix(seen.Path, v.guest), "/")
	if name == "" {
		name = "."
	}
	link := seen.SHA256 == hexSum([]byte("link"))
	_, info, errno := v.look(path.Clean(name), !link)
	switch {
	case errno == sys.ENOENT && seen.Kind == FactAbsent:
		return seen.SHA256, nil
	case errno != 0:
		return "gone", nil
	case seen.Kind == FactStat:
		return statFact(seen.Path, info).SHA256, nil
	case seen.Kind == FactAbsent:
		return "present", nil
	}
	v.reread(name)
	if v.desk.facts[seen] {
		return seen.SHA256, nil
	}
	return "changed", nil
}

// reread does what a guest does to learn a content: it reads a file, lists a
// folder, reads a link. What it finds is noted on the desk.
func (v *view) reread(name string) {
	if f, errno := v.OpenFile(name, sys.O_RDONLY, 0); errno == 0 {
		if isDir, _ := f.IsDir(); isDir {
			_, _ = f.Readdir(-1)
		} else {
			_, _ = f.Read(make([]byte, 1))
		}
		_ = f.Close()
	}
	_, _ = v.Readlink(name)
}
