package lanes_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/lanes"
)

func loadMeta(t *testing.T, slug, text string) (lanes.Mission, error) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, slug, lanes.MetaFile), text)
	m, err := lanes.Load(dir, slug)
	if m.Dir != "" && m.Dir != filepath.Join(dir, slug) {
		t.Errorf("folder %s, want %s", m.Dir, filepath.Join(dir, slug))
	}
	m.Dir = ""
	return m, err
}

func TestMetaIsReadAsItComes(t *testing.T) {
	full := lanes.Mission{Slug: "034-pay", Number: "34", ID: "01KN2371WSJ7573ZG5D21WP82P", Type: "software-dev", Topology: "lanes", HasMeta: true}
	cases := map[string]struct {
		text string
		want lanes.Mission
	}{
		"whole":                          {`{"mission_id":"01KN2371WSJ7573ZG5D21WP82P","mission_number":34,"mission_slug":"034-pay","slug":"034-pay","mission_type":"software-dev","topology":"lanes","created":{"by":[1]}}`, full},
		"mark, small id, number as text": {"\xef\xbb\xbf" + `{"mission_id":"01kn2371wsj7573zg5d21wp82p","mission_number":"034","slug":"034-pay","mission_type":" software-dev ","topology":"lanes"}`, full},
		"nulls and odd types":            {`{"mission_id":null,"mission_type":["x"],"topology":7}`, lanes.Mission{Slug: "034-pay", Number: "34", Topology: "7", HasMeta: true}},
		"another slug, old type": {`{"mission_slug":"pay-more","mission":"research"}`,
			lanes.Mission{Slug: "034-pay", Number: "34", Alias: "pay-more", Type: "research", HasMeta: true}},
		"empty object": {`{}`, lanes.Mission{Slug: "034-pay", Number: "34", HasMeta: true}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := loadMeta(t, "034-pay", c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Case 10: damage is named with file and line.
func TestDamagedMeta(t *testing.T) {
	for text, line := range map[string]int{"": 1, "[]": 1, "null": 1, "{\n\n bad": 3, "{} {}": 1, `"text"`: 1} {
		_, err := loadMeta(t, "034-pay", text)
		wantFault(t, err, line, lanes.MetaFile)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "m", lanes.MetaFile, "file"), "a folder in its place")
	_, err := lanes.Load(dir, "m")
	wantFault(t, err, 0, "a folder")
	if _, err := lanes.Load(dir, "nowhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want not exist", err)
	}
}

func TestNumberComesFromTheFolder(t *testing.T) {
	for slug, want := range map[string]string{"034-pay": "34", "000-zero": "0", "pay": "", "7": "", "3d-print": "", "12-x-7": "12"} {
		if m, err := loadMeta(t, slug, `{"mission_number": 99}`); err != nil || m.Number != want {
			t.Errorf("%s: number %q, %v; want %q", slug, m.Number, err, want)
		}
	}
}

func TestCoordIsRefusedNamingTheWorktree(t *testing.T) {
	project := t.TempDir()
	id := "01M0B0MXJ6BT5VXEBAED2XXVAP"
	cases := []struct{ slug, topology, worktree string }{
		{"wave4-01M0B0MX", "coord", "wave4-01M0B0MX-coord"},
		{"034-pay", "lanes_with_coord", "034-pay-01M0B0MX-coord"},
	}
	for _, c := range cases {
		err := lanes.Mission{Slug: c.slug, ID: id, Topology: c.topology}.CheckTopology(project)
		var coord *lanes.CoordError
		if !errors.As(err, &coord) || coord.Worktree != filepath.Join(project, ".worktrees", c.worktree) {
			t.Errorf("%s: %v, want a refusal naming %s", c.slug, err, c.worktree)
		}
	}
	for _, topology := range []string{"", "lanes", "single_branch", "something new"} {
		if err := (lanes.Mission{Slug: "x", Topology: topology}).CheckTopology(project); err != nil {
			t.Errorf("topology %q: %v", topology, err)
		}
	}
}
