//go:build unix

package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
)

func link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, name); err != nil {
		t.Skip("no symbolic links here:", err)
	}
}

// A worktree behind a link is no workspace, wherever the link leads: the answer
// says so, plugins are not shown it, and no command works in it.
func TestLinkedWorktreeIsNoWorkspace_P5(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "secret")
	write(t, filepath.Join(outside, "m-lane-a", "secret"), "secret")
	for name, lay := range map[string]func(root string){
		"the worktree":   func(root string) { link(t, outside, filepath.Join(root, ".worktrees", "m-lane-a")) },
		"all worktrees":  func(root string) { link(t, outside, filepath.Join(root, ".worktrees")) },
		"in the project": func(root string) { link(t, "../kitty-specs", filepath.Join(root, ".worktrees", "m-lane-a")) },
		"relative, dots": func(root string) {
			link(t, "../../"+filepath.Base(outside), filepath.Join(root, ".worktrees", "m-lane-a"))
		},
		"a file, no link": func(root string) { write(t, filepath.Join(root, ".worktrees", "m-lane-a"), "text") },
	} {
		t.Run(name, func(t *testing.T) {
			p, root := inWorkspace(t)
			lay(root)
			a := must(t, p, report("a", cursor.Success))
			if a.WorkspacePath != nil || !warned(a, WarnWorkspace) {
				t.Errorf("workspace %s, warnings %v", value(a.WorkspacePath), a.Warnings)
			}
			wantBlocked(t, must(t, p, report("a", cursor.Success)), "guard_error")
			if _, err := os.Stat(filepath.Join(outside, "here")); err == nil {
				t.Error("a command worked outside")
			}
			r, err := p.read(context.Background(), "m")
			if err != nil {
				t.Fatal(err)
			}
			call := p.grants(r.mission, frozenPlugin{Read: []string{"{workspace}"}}, "WP01")
			if len(call.Mounts) != 1 || len(call.Reads) != 0 {
				t.Errorf("a plugin is shown %v of %v", call.Reads, call.Mounts)
			}
		})
	}
}

// A worktree that is a folder stays one where the project is reached by a link.
func TestWorktreeOfALinkedProject(t *testing.T) {
	_, root := inWorkspace(t)
	write(t, filepath.Join(root, ".worktrees", "m-lane-a", "x"), "x")
	alias := filepath.Join(t.TempDir(), "alias")
	link(t, root, alias)
	p := open(t, alias)
	a := must(t, p, report("a", cursor.Success))
	if !strings.HasSuffix(value(a.WorkspacePath), filepath.Join(".worktrees", "m-lane-a")) || warned(a, WarnWorkspace) {
		t.Errorf("workspace %s, warnings %v", value(a.WorkspacePath), a.Warnings)
	}
	r, err := p.read(context.Background(), "m")
	if err != nil {
		t.Fatal(err)
	}
	call := p.grants(r.mission, frozenPlugin{Read: []string{"{workspace}"}}, "WP01")
	if len(call.Mounts) != 2 || call.Mounts[1].Below != ".worktrees/m-lane-a" {
		t.Errorf("mounts %v", call.Mounts)
	}
}

func inWorkspace(t *testing.T) (*Project, string) {
	t.Helper()
	p, root := commandProject(t, `
[commands.check]
run = ["sh", "-c", "echo here >here"]
cwd = "workspace"
[[missions.t.steps]]
id = "implement"
guards = [{ command = "check" }]
work_packages = { take = ["planned"], claim = "in_progress", success = "for_review", failed = "planned", until = ["for_review"] }`, "", true)
	mission := filepath.Join(root, "kitty-specs", "m")
	for name, content := range packages(2) {
		write(t, filepath.Join(mission, name), content)
	}
	write(t, filepath.Join(mission, "lanes.json"), `{"lanes":[{"lane_id":"lane-a","wp_ids":["WP01","WP02"]}]}`)
	return p, root
}

func warned(a Answer, code string) bool {
	for _, w := range a.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

// A link in the project that leads the runs' state elsewhere is told of in every
// answer, and by doctor: what lies there is believed.
func TestLinkedStateRootIsTold_Case54(t *testing.T) {
	root, elsewhere := makeProject(t, "\n[missions.t]\nsteps = [{ id = \"A\" }, { id = \"B\" }]", nil), t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, ".kittify"), 0o755); err != nil {
		t.Fatal(err)
	}
	link(t, elsewhere, filepath.Join(root, ".kittify", "step-runner"))
	p := open(t, root)
	answers := []Answer{must(t, p, report("a", cursor.Success)), must(t, p, report("a", cursor.Success))}
	query, err := p.Query(t.Context(), "m", Caller{Agent: "a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range append(answers, query) {
		if !warned(a, "state_linked") {
			t.Errorf("%s: warnings %v", a.Kind, a.Warnings)
		}
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "runs")); err != nil {
		t.Error(err)
	}
	h, err := p.Doctor(t.Context())
	if err != nil || !slices.ContainsFunc(h.Findings, func(f Finding) bool { return f.Code == "state_linked" }) {
		t.Errorf("%+v, %v", h.Findings, err)
	}
}

// A mission whose folder is a link is refused by name, and the lane log that the
// link leads to stays as it is.
func TestLinkedMissionIsRefused(t *testing.T) {
	root := inLog(t, packaged, 2)
	mission := filepath.Join(root, "kitty-specs", "m")
	outside := filepath.Join(t.TempDir(), "m")
	if err := os.Rename(mission, outside); err != nil {
		t.Fatal(err)
	}
	link(t, outside, mission)
	log := read(t, filepath.Join(outside, "status.events.jsonl"))
	_, err := open(t, root).Next(context.Background(), report("a", cursor.Success))
	var failed *Error
	if !errors.As(err, &failed) || failed.Code != CodeDefinitionInvalid || !strings.Contains(failed.Message, "is a link") {
		t.Errorf("%v", err)
	}
	if read(t, filepath.Join(outside, "status.events.jsonl")) != log {
		t.Error("the log outside was written to")
	}
}

// A plugin's own folder that a link leads out of the project is not packed: a pin
// of it would show the plugin whatever lies there.
func TestLinkedPluginFolderIsRefused_P5(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "secret"), "secret")
	link(t, outside, filepath.Join(root, "own"))
	cfg := &config.Config{Root: root}
	_, err := packOwn(cfg, config.Plugin{Name: "x", Dir: "own"})
	if !errors.As(err, new(*Error)) || !strings.Contains(err.Error(), "leads out of the project") {
		t.Errorf("%v", err)
	}
	if _, err := readInside(cfg, filepath.Join(root, "own", "secret")); !errors.As(err, new(*config.OutsideError)) {
		t.Errorf("a module: %v", err)
	}
}
