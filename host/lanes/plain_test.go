package lanes

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// FuzzPlain holds the plain reading of front matter against the YAML package:
// where it takes a text, both read the same.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{
		"work_package_id: WP01\ntitle: A title - with: colon\n", "work_package_id: WP01\ntitle: 'quoted: #1'\ndependencies: \"[]\"\n",
		"work_package_id: WP03\ndependencies: [WP01, WP02]\nsubtasks:\n- T001\n# why\n- T002\n\n- 'T 3'\nlane: planned\n",
		"work_package_id: WP03\ndependencies:\n  - WP01\n  - WP02\ntitle: Łucja 👋\nsubtasks: []\n", "work_package_id: WP01 # id\n",
		"work_package_id: WP01\ntitle: a\n  b\n", "work_package_id: WP01\ntitle: null\nsubtasks: ~\ndependencies:\n", "a: b\nwork_package_id: 0x1F\ntitle: 2026-08-19T20:16:36Z\n",
		"work_package_id: WP01\ntitle:\n- a\n", "work_package_id: WP01\nx: [a, [b]]\n", "work_package_id: WP01\nx:  \"\"\ny: [ ]\n...\n", "work_package_id: WP01\ntitle: a\u2028b\n",
		"work_package_id: WP01\nsubtasks: [a: b]\n", "work_package_id: WP01\n? x\n", "work_package_id: WP01\ntitle: y\n- z\n", "work_package_id: WP01\n#\xff\n", "y: 'a''b'\nwork_package_id: WP01\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, front string) {
		plain, ok := readPlain([]byte(front))
		var got, want Package
		if !ok || !plain.into(&got) {
			return
		}
		if err := want.yaml([]byte(front)); err != nil {
			t.Fatalf("taken, and YAML refuses it: %v", err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%+v, YAML reads %+v", got, want)
		}
	})
}

// Nearly every real package is plain, so the fast way is the usual one.
func TestRealPackagesArePlain(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "kitty-specs", "*", "tasks", "WP*.md"))
	if len(files) == 0 {
		t.Skip("no real missions beside the project")
	}
	var plain int
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		front, _, err := split(path, data)
		if err != nil {
			t.Fatal(err)
		}
		var p Package
		if read, ok := readPlain(front); ok && read.into(&p) {
			plain++
		}
	}
	t.Logf("%d of %d are plain", plain, len(files))
	if plain*10 < len(files)*8 {
		t.Errorf("%d of %d real packages are plain, want 80%%", plain, len(files))
	}
}
