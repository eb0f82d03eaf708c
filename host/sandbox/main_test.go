package sandbox

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets this binary be its own plugin child, as a program's main does.
func TestMain(m *testing.M) {
	ChildMain()
	if os.Getenv("SANDBOX_TEST_PARENT") != "" {
		hangForever()
		return
	}
	if os.Getenv(engineWord) != "" {
		withoutCode()
		return
	}
	goleak.VerifyTestMain(m)
}
