package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newInit(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make a project that validates and runs",
		Long: `Writes a spec-kitty.toml, a mission type of three steps with prompts and guards,
and the folder of the missions, into DIR, --root or the working folder. It
overwrites nothing: where one of its files is there already, none is written.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := a.newRoot(args)
			if err != nil {
				return err
			}
			made, err := runner.Init(dir)
			if err != nil {
				return err
			}
			return a.print(made, func() string { return madeText(made) })
		},
	}
}

// newRoot is the folder of a new project; "" is the working folder.
func (a *app) newRoot(args []string) (string, error) {
	switch dir := first(args); {
	case len(args) > 0 && dir == "":
		return "", usage("name a folder, or leave it out for the working folder", "DIR is empty")
	case dir != "" && a.root != "" && dir != a.root:
		return "", usage("name the folder once", "the argument names the folder %q, --root names %q", dir, a.root)
	case dir != "":
		return dir, nil
	}
	return a.root, nil
}

func madeText(made runner.Initiated) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Made a project in %s:\n", made.Root)
	for _, name := range made.Created {
		fmt.Fprintf(&out, "  %s\n", name)
	}
	for _, w := range made.Warnings {
		fmt.Fprintf(&out, "warning: %s: %s\n", w.Code, w.Message)
	}
	out.WriteString("Go on with:\n")
	for _, line := range made.Next {
		fmt.Fprintf(&out, "  %s\n", line)
	}
	return printable(out.String())
}
