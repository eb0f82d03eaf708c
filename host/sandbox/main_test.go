package sandbox

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets this binary be its own plugin child, as a program's main does.
func TestMain(m *testing.M) {
	ChildMain()
	goleak.VerifyTestMain(m)
}
