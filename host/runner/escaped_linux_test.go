package runner

import (
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// A process that a command guard left outside of its group is told of where it can be
// seen, also where the guard allows.
func TestCommandLeavesAProcess(t *testing.T) {
	t.Parallel()
	p, root := commandProject(t, checked, `setsid sh -c 'echo $$ >escaped; exec sleep 60' &
		while [ ! -s escaped ]; do sleep 0.01; done; exit 0`, true)
	must(t, p, report("a", cursor.Success))
	a := must(t, p, report("a", cursor.Success))
	pid, err := strconv.Atoi(strings.TrimSpace(read(t, filepath.Join(root, "escaped"))))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("it did not escape: %v", err)
	}
	wantStep(t, a, "B")
	if !hasCode(a.Warnings, "escaped_process") {
		t.Errorf("warnings %v", a.Warnings)
	}
}
