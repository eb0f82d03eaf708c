package lanes_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/lanes"
)

func TestWorkspaces(t *testing.T) {
	project := t.TempDir()
	m := lanes.Mission{Slug: "034-pay", Dir: filepath.Join(project, "specs", "034-pay")}
	in := func(name string) string { return filepath.Join(project, ".worktrees", name) }
	cases := map[string]struct {
		text string
		want map[string]string
	}{
		"as the tool writes it": {`{"version": 1, "mission_slug": "x", "lanes": [
			{"lane_id": "lane-a", "wp_ids": ["WP01", "WP02"], "write_scope": ["a/**"], "parallel_group": 0},
			{"lane_id": "lane-b", "wp_ids": ["WP03"]},
			{"lane_id": "lane-planning", "wp_ids": ["WP04"]}]}`,
			map[string]string{"WP01": in("034-pay-lane-a"), "WP02": in("034-pay-lane-a"), "WP03": in("034-pay-lane-b")}},
		"empty": {`{}`, map[string]string{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			write(t, filepath.Join(m.Dir, lanes.WorkspacesFile), c.text)
			got, err := lanes.Workspaces(project, m)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWorkspacesWithoutAFile(t *testing.T) {
	m := lanes.Mission{Slug: "x", Dir: filepath.Join(t.TempDir(), "x")}
	if got, err := lanes.Workspaces(t.TempDir(), m); err != nil || len(got) != 0 {
		t.Errorf("no folder: %v, %v", got, err)
	}
	write(t, filepath.Join(m.Dir, "spec.md"), "text")
	if got, err := lanes.Workspaces(t.TempDir(), m); err != nil || len(got) != 0 {
		t.Errorf("no file: %v, %v", got, err)
	}
}

func TestDamagedWorkspaces(t *testing.T) {
	m := lanes.Mission{Slug: "x", Dir: t.TempDir()}
	for text, line := range map[string]int{
		"":                                1,
		"{\n\"lanes\": 3}":                2,
		`{"lanes":[{"lane_id":"../up"}]}`: 0,
		`{"lanes":[{"lane_id":""}]}`:      0,
		`{"lanes":[{"lane_id":"a","wp_ids":["WP01"]},{"lane_id":"b","wp_ids":["WP01"]}]}`: 0,
	} {
		write(t, filepath.Join(m.Dir, lanes.WorkspacesFile), text)
		_, err := lanes.Workspaces(t.TempDir(), m)
		wantFault(t, err, line, lanes.WorkspacesFile)
	}
}
