package sandbox

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// nothingLeft tells of children that are still there, and of one that had more
// memory than any may have. The peak counts what this process had when it started
// the child as well.
func nothingLeft(t *testing.T) {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%s/children", task.Name()))
		if left := strings.TrimSpace(string(raw)); err == nil && left != "" {
			t.Errorf("children are left: %s", left)
		}
	}
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &used); err != nil {
		t.Fatal(err)
	}
	if most := dataLimit(defaultMemory) >> 10; used.Maxrss > most {
		t.Errorf("a child had %d MiB, at most %d are allowed", used.Maxrss>>10, most>>10)
	}
}
