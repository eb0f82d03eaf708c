package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// commands are all commands of a tree, by the words that call them.
func commands(cmd *cobra.Command) map[string]*cobra.Command {
	all := map[string]*cobra.Command{strings.TrimPrefix(cmd.CommandPath(), "spec-kitty "): cmd}
	for _, c := range cmd.Commands() {
		for path, found := range commands(c) {
			all[path] = found
		}
	}
	return all
}

// A branch has the name that its command has: a call that names a command builds no
// other, and finds the one that the whole tree has.
func TestTreeOfACall(t *testing.T) {
	whole := commands(newRoot(&app{}))
	if len(whole) < 60 {
		t.Fatalf("the tree has %d commands only", len(whole))
	}
	for path, want := range whole {
		if !want.HasParent() {
			continue
		}
		args := strings.Fields(path)
		root := newRoot(&app{process: process{args: args}})
		got, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			t.Errorf("%s: %v, left over: %v", path, err, rest)
			continue
		}
		if diff := cmp.Diff(want.UsageString(), got.UsageString()); diff != "" {
			t.Errorf("%s (-whole tree +tree of the call):\n%s", path, diff)
		}
		if !want.HasSubCommands() && len(commands(root)) > len(args)+2 { // with help, and the root
			t.Errorf("%s: %d commands were built", path, len(commands(root)))
		}
	}
}
