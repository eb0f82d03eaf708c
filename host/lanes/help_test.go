package lanes_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/lanes"
)

// write makes a file and the folders it lies in.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tree is every file below a folder with its bytes.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// wantFault looks for a *FileError in all that is joined in err, at a line and
// with words.
func wantFault(t *testing.T, err error, line int, words ...string) {
	t.Helper()
	for _, fault := range faults(err) {
		if fault.Line == line && hasAll(fault.Error(), words) {
			return
		}
	}
	t.Errorf("no fault at line %d with %q in: %v", line, words, err)
}

func faults(err error) []*lanes.FileError {
	var one *lanes.FileError
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*lanes.FileError
		for _, e := range joined.Unwrap() {
			all = append(all, faults(e)...)
		}
		return all
	}
	if errors.As(err, &one) {
		return []*lanes.FileError{one}
	}
	return nil
}

func hasAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
