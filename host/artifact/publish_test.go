package artifact

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// tree is every file below a folder with its content; temporary ones too.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		files[filepath.ToSlash(rel)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func two() []File {
	return []File{
		{Path: "docs/deep/new.md", Data: []byte("new"), Replaces: Absent},
		{Path: "docs/a.md", Data: []byte("a, changed"), Replaces: Digest([]byte("a"))},
	}
}

// All files come to their places, with the folders on the way; what a dead
// writer left beside them is gone, and doing it again changes nothing.
func TestPublish(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "docs", "a.md"), "a")
	write(t, filepath.Join(root, "docs", ".a.md.tmp-0123456789abcdef"), "left")
	if err := os.Chmod(filepath.Join(root, "docs", "a.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"docs/deep/new.md": "new", "docs/a.md": "a, changed"}
	for range 2 {
		if err := At(root, nil).Publish(two()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, tree(t, root)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
	info, err := os.Stat(filepath.Join(root, "docs", "a.md"))
	if err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("the mode of the file that was replaced is gone: %v, %v", info.Mode(), err)
	}
}

// Other content in one place: none is written, and what stands there stays.
func TestConflict(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, root string){
		"changed":             func(t *testing.T, root string) { write(t, filepath.Join(root, "docs", "a.md"), "somebody's") },
		"something appeared":  func(t *testing.T, root string) { write(t, filepath.Join(root, "docs", "deep", "new.md"), "somebody's") },
		"a file for a folder": func(t *testing.T, root string) { write(t, filepath.Join(root, "docs", "deep"), "a file") },
		"a folder for a file": func(t *testing.T, root string) { write(t, filepath.Join(root, "docs", "deep", "new.md", "x"), "x") },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, filepath.Join(root, "docs", "a.md"), "a")
			spoil(t, root)
			before := tree(t, root)
			err := At(root, nil).Publish(two())
			if !errors.As(err, new(*ConflictError)) && !errors.As(err, new(*InTheWayError)) {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(before, tree(t, root)); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
		})
	}
}

// What was to be replaced is gone: nothing is overwritten, so the new content comes to
// its place, as after a conflict whose file somebody moved away.
func TestReplacedFileIsGone(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "docs", "a.md")
	write(t, file, "somebody's")
	if err := At(root, nil).Publish(two()); !errors.As(err, new(*ConflictError)) {
		t.Fatalf("error %v", err)
	}
	remove(t, file)
	if err := At(root, nil).Publish(two()); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"docs/deep/new.md": "new", "docs/a.md": "a, changed"}
	if diff := cmp.Diff(want, tree(t, root)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Somebody writes to a place after its last look: what was to be new is never
// laid over theirs, and what was to be replaced only by who writes between the
// last look and the rename.
func TestWrittenMeanwhile(t *testing.T) {
	for name, tt := range map[string]struct {
		kind, path string // of the operation before which they write
		file       string
	}{
		"a new file, right before it comes":         {"link", "new.md", "docs/deep/new.md"},
		"a new file, when its content is synced":    {"sync", "new.md", "docs/deep/new.md"},
		"a replaced file, when content is synced":   {"sync", "a.md", "docs/a.md"},
		"a replaced file, when content was written": {"close", ".a.md.tmp", "docs/a.md"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, filepath.Join(root, "docs", "a.md"), "a")
			written := false
			disk := &durable.Faulty{Disk: &rooted{root: root}, Before: func(_ int, op durable.Op) {
				if op.Kind == tt.kind && strings.Contains(op.Path, tt.path) && !written {
					written = true
					write(t, filepath.Join(root, filepath.FromSlash(tt.file)), "theirs")
				}
			}}
			err := At(root, disk).Publish(two())
			var conflict *ConflictError
			if !written || !errors.As(err, &conflict) || conflict.Paths[0] != tt.file {
				t.Errorf("written %v, error %v", written, err)
			}
			if got := tree(t, root)[tt.file]; got != "theirs" {
				t.Errorf("%s has %q", tt.file, got)
			}
		})
	}
}

// On a file system without links the file is looked at right before the rename.
func TestWithoutLinks(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "docs", "a.md"), "a")
	disk := &durable.Faulty{Disk: &rooted{root: root}, Fail: func(_ int, op durable.Op) error {
		if op.Kind == "link" {
			return errors.ErrUnsupported
		}
		return nil
	}}
	if err := At(root, disk).Publish(two()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"docs/deep/new.md": "new", "docs/a.md": "a, changed"}, tree(t, root)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// No link is followed: not on the way, not in the place, not one that was put
// there between the look and the writing. Case 54.
func TestNoLinkOnTheWay_Case54(t *testing.T) {
	for name, link := range map[string]string{"folder": "docs/deep", "file": "docs/deep/new.md", "first folder": "docs"} {
		t.Run(name, func(t *testing.T) {
			root, outside := t.TempDir(), t.TempDir()
			at := filepath.Join(root, filepath.FromSlash(link))
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(outside, at); err != nil {
				t.Skip("no links here: ", err)
			}
			var inTheWay *InTheWayError
			if err := At(root, nil).Publish(two()[:1]); !errors.As(err, &inTheWay) || !strings.Contains(inTheWay.Why, "a link") {
				t.Errorf("error %v", err)
			}
			if left := tree(t, outside); len(left) > 0 {
				t.Errorf("written outside: %v", left)
			}
			if _, err := At(root, nil).Look("docs/deep/new.md"); !errors.As(err, &inTheWay) {
				t.Errorf("look: %v", err)
			}
		})
	}
}

// A folder that becomes a link after it was looked at leads nobody out.
func TestFolderReplacedByALink_Case54(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, "docs", "deep", "x.md"), "x")
	probe := filepath.Join(root, "probe")
	if err := os.Symlink(outside, probe); err != nil {
		t.Skip("no links here: ", err)
	}
	swapped := false
	disk := &durable.Faulty{Disk: &rooted{root: root}, Before: func(_ int, op durable.Op) {
		if op.Kind == "open" && strings.Contains(op.Path, "new.md") && !swapped {
			swapped = true
			deep := filepath.Join(root, "docs", "deep")
			if err := errors.Join(os.Rename(deep, deep+".was"), os.Rename(probe, deep)); err != nil {
				t.Error(err)
			}
		}
	}}
	err := At(root, disk).Publish(two()[:1])
	if err == nil || !swapped {
		t.Errorf("error %v, swapped %v", err, swapped)
	}
	if left := tree(t, outside); len(left) > 0 {
		t.Errorf("written outside: %v", left)
	}
}

// Whatever operation fails, no file is half-written, a file that was changed by
// somebody is not overwritten, and the next publication finishes the work.
func TestSweepErrors(t *testing.T) {
	for n := 0; ; n++ {
		root := t.TempDir()
		write(t, filepath.Join(root, "docs", "a.md"), "a")
		disk := &durable.Faulty{Disk: &rooted{root: root}, Fail: durable.FailAt(n), Short: 3}
		err := At(root, disk).Publish(two())
		for path, content := range tree(t, root) {
			whole := content == "a" || content == "a, changed" || content == "new"
			if !durable.IsTemp(filepath.Base(path)) && !whole {
				t.Fatalf("operation %d failed: %s has %q", n, path, content)
			}
		}
		if again := At(root, nil).Publish(two()); again != nil {
			t.Fatalf("after operation %d failed: %v", n, again)
		}
		if diff := cmp.Diff(map[string]string{"docs/deep/new.md": "new", "docs/a.md": "a, changed"}, tree(t, root)); diff != "" {
			t.Fatalf("after operation %d failed (-want +got):\n%s", n, diff)
		}
		if disk.Count() <= n {
			if err != nil || n < 15 {
				t.Fatalf("the sweep met %d operations, %v", n, err)
			}
			return
		}
	}
}

func TestLookBoundsWhatIsReplaced(t *testing.T) {
	root := t.TempDir()
	f, err := os.Create(filepath.Join(root, "large"))
	if err == nil {
		err = errors.Join(f.Truncate(maxReplaced+1), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := At(root, nil).Look("large"); !errors.As(err, new(*InTheWayError)) {
		t.Errorf("%v", err)
	}
	for _, none := range []string{"none", "none/at/all"} {
		if digest, err := At(root, nil).Look(none); digest != Absent || err != nil {
			t.Errorf("%s: %s, %v", none, digest, err)
		}
	}
}

// Paths that lead out are refused below whoever checked them before.
func TestDiskStaysInItsFolder(t *testing.T) {
	root := t.TempDir()
	d := &rooted{root: filepath.Join(root, "in")}
	for _, path := range []string{filepath.Join(root, "out"), root, filepath.Dir(root)} {
		if _, err := d.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
			t.Errorf("%s was opened", path)
		}
		if err := d.Mkdir(path+"x", 0o755); err == nil {
			t.Errorf("%sx was made", path)
		}
	}
	if left := tree(t, root); len(left) > 0 {
		t.Error(fmt.Sprint(left))
	}
}
