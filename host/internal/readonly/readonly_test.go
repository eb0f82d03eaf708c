package readonly_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
)

const limit = 1 << 10

func folder(t *testing.T) (string, *os.Root) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return dir, root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skip("no symbolic links here:", err)
	}
}

func TestFileReadsWhatIsInside(t *testing.T) {
	dir, root := folder(t)
	write(t, filepath.Join(dir, "docs", "a.md"), "text")
	link(t, filepath.Join("docs", "a.md"), filepath.Join(dir, "inside.md"))
	for _, name := range []string{"docs/a.md", "inside.md"} {
		data, info, err := readonly.File(root, name, limit)
		if err != nil || string(data) != "text" || info.Size() != 4 {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

func TestFileRefusesWhatLeadsOut(t *testing.T) {
	dir, root := folder(t)
	outside := filepath.Join(t.TempDir(), "secret")
	write(t, outside, "secret")
	link(t, outside, filepath.Join(dir, "out.md"))
	link(t, filepath.Dir(outside), filepath.Join(dir, "folder"))
	link(t, "nowhere", filepath.Join(dir, "dangling.md"))
	link(t, "ring.md", filepath.Join(dir, "ring.md"))
	cases := map[string]string{"out.md": "out.md", "folder/secret": "folder", "ring.md": "ring.md", "dangling.md": "dangling.md"}
	for name, first := range cases {
		_, _, err := readonly.File(root, name, limit)
		var out *readonly.OutsideError
		if !errors.As(err, &out) || out.Link != first {
			t.Errorf("%s: %v, want a link that leads out at %s", name, err, first)
		}
	}
	for _, name := range []string{"../secret", "docs/../../secret", outside} {
		if data, _, err := readonly.File(root, name, limit); err == nil {
			t.Errorf("%s was read: %q", name, data)
		}
	}
}

func TestFileTellsWhatIsMissing(t *testing.T) {
	dir, root := folder(t)
	write(t, filepath.Join(dir, "a.md"), "text")
	for _, name := range []string{"b.md", "no/b.md", "a.md/b.md"} {
		if _, _, err := readonly.File(root, name, limit); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want not exist", name, err)
		}
	}
}

func TestFileRefusesFolders(t *testing.T) {
	dir, root := folder(t)
	if err := os.Mkdir(filepath.Join(dir, "a.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, _, err := readonly.File(root, "a.md", limit)
	var not *readonly.NotRegularError
	if !errors.As(err, &not) || !strings.Contains(err.Error(), "a folder") {
		t.Errorf("%v, want that it is a folder", err)
	}
}

func TestFileStopsAtTheLimit(t *testing.T) {
	dir, root := folder(t)
	write(t, filepath.Join(dir, "full"), strings.Repeat("x", limit))
	write(t, filepath.Join(dir, "over"), strings.Repeat("x", limit+1))
	if data, _, err := readonly.File(root, "full", limit); err != nil || len(data) != limit {
		t.Errorf("a file of the limit: %d bytes, %v", len(data), err)
	}
	var large *readonly.TooLargeError
	if _, _, err := readonly.File(root, "over", limit); !errors.As(err, &large) {
		t.Errorf("a file over the limit: %v", err)
	}
}
