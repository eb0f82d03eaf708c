package durable_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// The temporary files of a process that is gone are removed, those of one at work
// are not, and neither is what is no temporary file.
func TestRemoveDeadTemps(t *testing.T) {
	gone := exec.Command(os.Args[0], "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	name := func(pid int) string { return fmt.Sprintf(".state.json.tmp-%08x%08x", uint32(pid), 7) }
	d, dead, alive := durable.NewMem(), name(gone.Process.Pid), name(os.Getpid())
	for _, file := range []string{dead, alive, ".x.tmp-ffffffff00000000", "state.json", ".a.tmp-1"} {
		if err := durable.Create(d, "/"+file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := durable.MkdirAll(d, "/prompts/"+dead, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := durable.RemoveDeadTemps(d, "/"); err != nil {
		t.Fatal(err)
	}
	left, want := namesIn(t, d, "/"), []string{".a.tmp-1", alive, "prompts", "state.json"}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}

// Before one file is written again, what a dead writer of it left goes: not what
// is of another file, or of a writer at work.
func TestRemoveDeadTempsOf(t *testing.T) {
	d, alive := durable.NewMem(), fmt.Sprintf(".a.tmp-%08x%08x", os.Getpid(), 1)
	for _, file := range []string{".a.tmp-ffffffff00000000", ".b.tmp-ffffffff00000000", alive, "a"} {
		if err := durable.Create(d, "/"+file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := durable.RemoveDeadTempsOf(d, "/a"); err != nil {
		t.Fatal(err)
	}
	if left, want := namesIn(t, d, "/"), []string{alive, ".b.tmp-ffffffff00000000", "a"}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}

func namesIn(t *testing.T, d durable.Disk, dir string) []string {
	t.Helper()
	entries, err := d.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
