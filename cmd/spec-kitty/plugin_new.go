package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newPluginNew(a *app) *cobra.Command {
	lang := ""
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Begin a plugin: a guard that builds, with recorded calls",
		Long: `Makes the folder NAME with a small guard in Go, Rust, AssemblyScript or C that builds,
or in JavaScript, which needs no build. It passes ` + "`plugin check`" + ` and brings recorded
calls for ` + "`plugin test`" + `; the tools that build it are named, and the command. What reads
the request and writes the answer is copied into the folder: nothing else is fetched
but, for AssemblyScript, its compiler. Other languages need no starter:
` + "`spec-kitty help writing-plugins`" + ` has the whole contract.`,
		Example: `  spec-kitty plugin new NAME --lang go`,
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := only(cmd, args, "a name", "name the plugin")
			if err != nil {
				return err
			}
			made, err := runner.NewPlugin("", lang, name)
			if err != nil {
				return err
			}
			return a.print(made, func() string { return newText(made) })
		},
	}
	cmd.Flags().StringVar(&lang, "lang", "", "the `LANGUAGE`: go, rust, assemblyscript, c or javascript")
	return cmd
}

func newText(n runner.PluginNew) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s has the plugin %s:\n", n.Dir, n.Name)
	for _, file := range n.Created {
		fmt.Fprintf(&out, "  %s\n", file)
	}
	if n.Build == nil {
		fmt.Fprintf(&out, "\nThere is nothing to build:\n\n    cd %s\n", n.Name)
	} else {
		fmt.Fprintf(&out, "\nIt is built with %s:\n\n    cd %s\n    %s\n", n.Tools, n.Name, *n.Build)
	}
	flags := strings.Join(append([]string{""}, n.Flags...), " ")
	fmt.Fprintf(&out, "    spec-kitty plugin check %s%s\n    spec-kitty plugin test testdata%s\n", filepath.Base(n.Module), flags, flags)
	return printable(out.String())
}
