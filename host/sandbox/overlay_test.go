package sandbox

import (
	"context"
	"testing"
)

// Staged files lie over the folder: they are read and listed where the grants
// reach, in place of what the disk has, and are no facts of it.
func TestStagedFilesLieOverTheFolder(t *testing.T) {
	root, _ := project(t)
	h := newHost(t)
	call := filesCall(root)
	call.Mounts[0].Staged = map[string][]byte{
		"docs/a.md":            []byte("changed"),
		"docs/new/deep.md":     []byte("new"),
		"docs/sub/c.md":        []byte("c"),
		"secret.md":            []byte("not granted"),
		"docs/.kittify/x":      []byte("hidden"),
		"docs/.git/x":          []byte("hidden"),
		"kitty-specs/035/x.md": []byte("not granted"),
	}
	for _, c := range []struct{ op, path, want string }{
		{"r", "docs/a.md", "changed"},
		{"r", "docs/new/deep.md", "new"},
		{"r", "docs/sub/b.md", "b"},
		{"l", "docs/sub", ".\n..\nb.md\nc.md\n"},
		{"l", "docs/new", ".\n..\ndeep.md\n"},
		{"l", "docs", ".\n..\na.md\nabsolute\nacross\ndangling\nfolder\ngitlink\ngood\nhidden\nnew\nrelative\nround\nstate\nsub\n"},
		{"l", "kitty-specs", ".\n..\n034\n"},
		{"r", "secret.md", noEntry},
		{"r", "docs/.kittify/x", noEntry},
		{"r", "docs/.git/x", noEntry},
		{"r", "docs/hidden", notPerm},
		{"w", "docs/new/deep.md", readOnlyE},
	} {
		a, err := h.Call(context.Background(), plugin(t, "files", c.op, c.path), call)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(a.Stdout); got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.op, c.path, got, c.want)
		}
		unstaged := call
		unstaged.Mounts = []Mount{{Guest: "/project", Host: root}}
		if changed, err := unstaged.Changed(a.Read); err != nil || len(changed) > 0 {
			t.Errorf("%s %s: facts that the disk does not have: %v, %v", c.op, c.path, changed, err)
		}
	}
}
