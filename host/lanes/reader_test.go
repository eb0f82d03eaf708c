package lanes_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/lanes"
)

func packageText(id, title string) string {
	return "---\nwork_package_id: " + id + "\ntitle: " + title + "\n---\n"
}

func task(dir, name string) string { return filepath.Join(dir, lanes.TasksFolder, name) }

func read(t *testing.T, r *lanes.Reader) []lanes.Package {
	t.Helper()
	all, err := r.Packages()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFileOrder(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"WP10", "WP9", "WP1", "WP02", "WP100", "WP2-b", "WP"} {
		write(t, task(dir, id+".md"), packageText(id, "T"))
	}
	write(t, task(dir, "README.md"), "not a package")
	write(t, task(dir, "WP03.txt"), "not a package")
	var ids []string
	for _, p := range read(t, lanes.NewReader(dir)) {
		ids = append(ids, p.ID)
		if p.Path != task(dir, p.ID+".md") {
			t.Errorf("path %s", p.Path)
		}
	}
	if got, want := strings.Join(ids, " "), "WP WP1 WP2-b WP02 WP9 WP10 WP100"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

func TestNoPackages(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Join(dir, "nowhere")} {
		if all, err := lanes.NewReader(d).Packages(); err != nil || len(all) != 0 {
			t.Errorf("%s: %v, %v", d, all, err)
		}
	}
	write(t, filepath.Join(dir, lanes.TasksFolder), "a file in its place")
	if _, err := lanes.NewReader(dir).Packages(); len(faults(err)) == 0 {
		t.Errorf("%v, want that tasks is no folder", err)
	}
}

func TestReaderListsAllFaults(t *testing.T) {
	dir := t.TempDir()
	write(t, task(dir, "WP01.md"), "no front matter")
	write(t, task(dir, "WP02.md"), "---\nx: [\n---\n")
	write(t, filepath.Join(task(dir, "WP03.md"), "x"), "a folder")
	write(t, task(dir, "WP04.md"), packageText("WP04", "T"))
	_, err := lanes.NewReader(dir).Packages()
	if n := len(faults(err)); n != 3 {
		t.Errorf("%d faults, want 3: %v", n, err)
	}
	wantFault(t, err, 0, "WP03.md", "a folder")
}

// A link out of the mission's folder is not read.
func TestReaderStaysInside(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "WP01.md")
	write(t, outside, packageText("WP01", "secret"))
	if err := os.MkdirAll(filepath.Join(dir, lanes.TasksFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, task(dir, "WP01.md")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	_, err := lanes.NewReader(dir).Packages()
	wantFault(t, err, 0, "leads out")
}

// replaceInPlace changes a file's bytes and leaves its size, time and identity.
func replaceInPlace(t *testing.T, path, text string, when time.Time) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

// A file that was at rest when it was read is not read again while nothing about
// it changes; one that was changed a moment before it was read is, since its time
// proves nothing.
func TestReaderReadsAgainWhatMayHaveChanged(t *testing.T) {
	now := time.Now()
	cases := map[string]struct {
		age  time.Duration
		want string
	}{
		"at rest": {time.Hour, "old"},
		"young":   {0, "new"},
		"future":  {-time.Hour, "new"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir, when := t.TempDir(), now.Add(-c.age)
			write(t, task(dir, "WP01.md"), packageText("WP01", "old"))
			replaceInPlace(t, task(dir, "WP01.md"), packageText("WP01", "old"), when)
			r := lanes.NewReader(dir)
			read(t, r)
			replaceInPlace(t, task(dir, "WP01.md"), packageText("WP01", "new"), when)
			if got := read(t, r)[0].Title; got != c.want {
				t.Errorf("title %s, want %s", got, c.want)
			}
		})
	}
}

func TestReaderSeesChanges(t *testing.T) {
	dir, old := t.TempDir(), time.Now().Add(-time.Hour)
	path := task(dir, "WP01.md")
	write(t, path, packageText("WP01", "one"))
	replaceInPlace(t, path, packageText("WP01", "one"), old)
	r := lanes.NewReader(dir)
	first := read(t, r)[0]

	write(t, path, packageText("WP01", "two"))
	second := read(t, r)[0]
	if second.Title != "two" || first.Title != "one" {
		t.Errorf("after a change: %+v", second)
	}

	write(t, path+".new", packageText("WP01", "six"))
	replaceInPlace(t, path+".new", packageText("WP01", "six"), old)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if got := read(t, r)[0].Title; got != "six" {
		t.Errorf("after a rename over it: %s", got)
	}

	write(t, path, "damaged")
	if _, err := r.Packages(); err == nil {
		t.Error("damage was not seen")
	}
	write(t, path, packageText("WP01", "fixed"))
	write(t, task(dir, "WP02.md"), packageText("WP02", "more"))
	if all := read(t, r); len(all) != 2 || all[0].Title != "fixed" {
		t.Errorf("after mending: %+v", all)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if all := read(t, r); len(all) != 1 || all[0].ID != "WP02" {
		t.Errorf("after removing: %+v", all)
	}
}

func TestReaderIsSharedByGoroutines(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"WP01", "WP02", "WP03"} {
		write(t, task(dir, id+".md"), packageText(id, "T"))
	}
	r := lanes.NewReader(dir)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if packages, err := r.Packages(); err != nil || len(packages) != 3 {
				t.Errorf("%d packages, %v", len(packages), err)
			}
		})
	}
	all.Wait()
}

// Case 22: reading leaves every byte as it was, and makes no file.
func TestReadingWritesNothing(t *testing.T) {
	dir := missions(t)
	folder := filepath.Join(dir, "034-pay-by-link")
	write(t, task(folder, "WP01.md"), packageText("WP01", "T"))
	write(t, filepath.Join(folder, lanes.LogFile), move("1", "WP01", "planned", `"a"`)+`{"torn`)
	write(t, filepath.Join(folder, lanes.WorkspacesFile), `{"lanes":[{"lane_id":"lane-a","wp_ids":["WP01"]}]}`)
	before := tree(t, dir)
	for _, handle := range []string{"034-pay-by-link", "34", "no-such", "47"} {
		m, err := lanes.Resolve(dir, handle)
		if err != nil {
			continue
		}
		_, _ = lanes.Workspaces(dir, m)
		_, _ = lanes.NewReader(m.Dir).Packages()
		_, _ = lanes.NewLogReader(m.Dir).Read()
		_, _ = lanes.Choose(lanes.Auto, m.Dir)
	}
	after := tree(t, dir)
	if len(before) != len(after) {
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
	for path, text := range before {
		if after[path] != text {
			t.Errorf("%s was changed", path)
		}
	}
}
