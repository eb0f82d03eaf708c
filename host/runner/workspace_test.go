//go:build unix

package runner

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

// A package's worktree: the answer names it, also where it is still to be made and
// for whoever asks, and null where lanes.json has none; a plugin that is granted
// {workspace} sees it at /workspace, and no more of the project.
func TestWorkspace(t *testing.T) {
	p, root := inWorkspace(t)
	write(t, filepath.Join(root, "kitty-specs", "m", "lanes.json"), `{"lanes":[{"lane_id":"lane-a","wp_ids":["WP01"]}]}`)
	tree := filepath.Join(root, ".worktrees", "m-lane-a")
	a := must(t, p, report("a", cursor.Success))
	query, err := p.Query(context.Background(), "m", Caller{Agent: "a"})
	if err != nil || value(a.WorkspacePath) != tree || value(query.WorkspacePath) != tree {
		t.Errorf("before it is made: %s, %s: %v", value(a.WorkspacePath), value(query.WorkspacePath), err)
	}
	write(t, filepath.Join(tree, "built.txt"), "it is built")
	if got := seenAt(t, p, "WP01", "built.txt"); got != "it is built" {
		t.Errorf("a plugin reads %q", got)
	}
	if got := seenAt(t, p, "WP01", "../../spec-kitty.toml"); got == "" || got[0] != '!' {
		t.Errorf("outside of the worktree a plugin reads %q", got)
	}
	b := must(t, p, report("b", cursor.Success))
	if value(b.WPID) != "WP02" || b.WorkspacePath != nil {
		t.Errorf("%s has the workspace %s", value(b.WPID), value(b.WorkspacePath))
	}
}

// seenAt is what a plugin with the grant {workspace} reads there: a file's content,
// or an exclamation mark and the error's number.
func seenAt(t *testing.T, p *Project, pkg, name string) string {
	t.Helper()
	r, err := p.read(context.Background(), "m")
	if err != nil {
		t.Fatal(err)
	}
	wasm, err := os.ReadFile(filepath.Join("..", "sandbox", "testdata", "files.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	call := p.grants(r.mission, frozenPlugin{Read: []string{"{workspace}"}}, pkg)
	if len(call.Mounts) != 2 {
		t.Fatalf("a plugin is shown %v", call.Mounts)
	}
	slices.Reverse(call.Mounts) // the guest reads in the first one
	call.Verb, call.Request = "guard", []byte("{}")
	answer, err := p.plugins.Call(context.Background(), sandbox.Plugin{Name: "files", Wasm: wasm, SHA256: hexSum(wasm), Args: []string{"r", name}}, call)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer.Stdout)
}
