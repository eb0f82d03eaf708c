package sandbox

import (
	"context"
	"io"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// Changed tells which of a call's facts no longer hold, looking through the
// same mounts and grants that the guest had. It runs nothing foreign and needs
// no child, so it may be used under a lock. An error means that a mount is gone.
func (c Call) Changed(facts []Fact) ([]Fact, error) {
	d := newDesk(context.Background(), defaultFiles, io.Discard)
	views, err := openViews(c.Mounts, c.Reads, c.Hide, d)
	if err != nil {
		return nil, err
	}
	defer closeViews(views)
	var changed []Fact
	for _, f := range facts {
		if !holds(views, f) {
			changed = append(changed, f)
		}
	}
	return changed, nil
}

// holds learns the fact anew and looks whether it is the same.
func holds(views []*view, f Fact) bool {
	for _, v := range views {
		names := below(v.guest, []string{f.Path})
		if len(names) == 0 {
			continue
		}
		v.desk.facts, v.desk.factBytes = map[Fact]bool{}, 0
		v.learn(names[0], f.Kind)
		return v.desk.facts[f]
	}
	return false
}

// learn does what a guest does to learn a fact of this kind.
func (v *view) learn(name string, kind FactKind) {
	switch kind {
	case FactFile, FactDir:
		f, errno := v.OpenFile(name, sys.O_RDONLY, 0)
		if errno != 0 {
			return
		}
		defer f.Close()
		if kind == FactDir {
			_, _ = f.Readdir(-1)
		} else {
			_, _ = f.Read(make([]byte, 1))
		}
	case FactLink:
		_, _ = v.Readlink(name)
	default:
		_, _ = v.Stat(name)
		_, _ = v.Lstat(name)
	}
}
