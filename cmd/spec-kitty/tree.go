package main

import "github.com/spf13/cobra"

// branch is a command of the tree, with what builds it and its own branches.
type branch struct {
	name  string // the first word of the command's Use
	build func(*app) *cobra.Command
}

// grow gives a command those of its branches that the call can need: the one that its
// first words name, or else all, for help, suggestions, and flags before the command.
// To build the whole tree is a tenth of a small call.
func (a *app) grow(cmd *cobra.Command, depth int, branches ...branch) {
	if depth < len(a.args) {
		for _, b := range branches {
			if b.name == a.args[depth] {
				cmd.AddCommand(b.build(a))
				return
			}
		}
	}
	if depth == 0 && len(a.args) == 1 && a.args[0] == "--version" {
		return
	}
	for _, b := range branches {
		cmd.AddCommand(b.build(a))
	}
}
