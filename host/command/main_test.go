package command_test

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/spec-kitty/step-runner/host/command"
)

// dyingVar makes the test binary a caller that is killed.
const dyingVar = "COMMAND_TEST_DYING"

func TestMain(m *testing.M) {
	command.Main()
	switch kind := os.Getenv(dyingVar); {
	case filepath.IsAbs(kind):
		whoDiesWatching()
		return
	case kind != "":
		whoDies()
		return
	}
	goleak.VerifyTestMain(m)
}
