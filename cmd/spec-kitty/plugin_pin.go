package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newPluginPin(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "pin NAME",
		Short: "Write a plugin's sha256 into spec-kitty.toml",
		Long: `Looks at the module of a configured plugin, compiles it into the cache, and writes
the sha256 of its bytes into the plugin's table in spec-kitty.toml; with ` + "`dir`" + ` also
dir_sha256, over the files of that folder. Every other byte of spec-kitty.toml stays
as it was. A module that is no plugin is refused.

A pin says that the bytes are the same, not that they are good: look at what
changed before you pin it.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := only(cmd, args, "a plugin's name", "name a plugin of spec-kitty.toml")
			if err != nil {
				return err
			}
			done, err := a.kit().Pin(cmd.Context(), name)
			if err != nil {
				return err
			}
			return a.print(done, func() string { return printable(pinnedText(done)) })
		},
	}
}

func pinnedText(p runner.PluginPin) string {
	text := pinLine(p.Name, p.SHA256, place(p.Config, p.Line), p.Changed)
	if d := p.Dir; d != nil {
		text += pinLine(fmt.Sprintf("its folder (%d files)", d.Files), d.SHA256, place(p.Config, d.Line), d.Changed)
	}
	return text
}

func pinLine(what, sum, at string, changed bool) string {
	if !changed {
		return fmt.Sprintf("%s is pinned to %s already.\n", what, sum)
	}
	return fmt.Sprintf("%s is pinned to %s\n  in %s\n", what, sum, at)
}
