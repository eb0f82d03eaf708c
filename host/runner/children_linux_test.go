package runner

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// children counts the child processes of a process.
func children(t *testing.T, pid int) int {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, task := range tasks {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if err == nil {
			n += len(strings.Fields(string(raw)))
		}
	}
	return n
}
