package runner

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Recorded calls see their own files, else the shared ones, else none.
func TestRecordedFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "own.files", "x"), "")
	for at, want := range map[string]string{"own": "own.files", "other": ""} {
		got, err := recordedFiles(filepath.Join(dir, at))
		if err != nil || (want == "") != (len(got.Mounts) == 0) || want != "" && (got.Mounts[0].Host != dir || got.Mounts[0].Below != want) {
			t.Errorf("%s: %+v, %v", at, got, err)
		}
	}
	write(t, filepath.Join(dir, "files", "x"), "")
	got, err := recordedFiles(filepath.Join(dir, "other"))
	if err != nil || len(got.Mounts) != 1 || got.Mounts[0].Host != dir || got.Mounts[0].Below != "files" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestDiffLines(t *testing.T) {
	got := diffLines([]string{"{", "a", "b", "}"}, []string{"{", "a", "c", "d", "}"})
	if diff := cmp.Diff([]string{"- b", "+ c", "+ d"}, got); diff != "" {
		t.Error(diff)
	}
	if got := diffLines([]string{"a"}, []string{"a"}); got == nil || len(got) != 0 {
		t.Errorf("%#v", got)
	}
}
