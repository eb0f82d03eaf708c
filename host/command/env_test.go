package command_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/command"
)

// Case48: nothing of our environment is passed on that was not named.
func TestEnviron(t *testing.T) {
	ours := map[string]string{"HOME": "/home/x", "AWS_SECRET": "s", "EMPTY": "", "SPEC_KITTY_WORKER": "w", "SPEC_KITTY_TOKEN": "a forged one"}
	lookup := func(name string) (string, bool) { v, ok := ours[name]; return v, ok }
	got := command.Environ([]string{"HOME", "EMPTY", "UNSET", "SPEC_KITTY_TOKEN"}, map[string]string{"SPEC_KITTY_TOKEN": "T"}, lookup)
	if diff := cmp.Diff([]string{"EMPTY=", "HOME=/home/x", "SPEC_KITTY_TOKEN=T"}, got); diff != "" {
		t.Error(diff)
	}
	if got := command.Environ(nil, nil, lookup); len(got) != 0 {
		t.Errorf("without grants: %q", got)
	}
}
