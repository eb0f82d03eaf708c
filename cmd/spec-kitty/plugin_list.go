package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newPluginList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the configured plugins, their pins and grants",
		Long: `Lists the plugins that spec-kitty.toml configures: file, size, whether the pin fits
the file's bytes, what is granted, and whether the machine code is cached. It runs
no plugin and writes nothing.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			found, err := a.kit().List()
			if err != nil {
				return err
			}
			return a.print(found, func() string { return pluginsListText(found) })
		},
	}
}

func pluginsListText(l runner.PluginList) string {
	if len(l.Plugins) == 0 {
		return "There are no plugins; `spec-kitty help writing-plugins` says how to write one.\n"
	}
	var out strings.Builder
	for _, p := range l.Plugins {
		fmt.Fprintf(&out, "%s  %s", p.Name, p.State)
		if p.Size != nil {
			fmt.Fprintf(&out, ", %d bytes", *p.Size)
		}
		if p.Cached {
			out.WriteString(", cached")
		}
		fmt.Fprintf(&out, "\n  %s\n", p.File)
		pinText(&out, p)
		grantsText(&out, p.Grants)
	}
	return printable(out.String())
}

func pinText(out *strings.Builder, p runner.PluginRow) {
	if p.Problem != nil {
		fmt.Fprintf(out, "  it cannot be read: %s\n", *p.Problem)
	}
	sumText(out, "", p.Pinned, p.Found)
	if d := p.Dir; d != nil {
		fmt.Fprintf(out, "  dir    %s\n", d.Folder)
		if d.Problem != nil {
			fmt.Fprintf(out, "         cannot be shown to it: %s\n", *d.Problem)
		}
		sumText(out, "dir ", d.Pinned, d.Found)
	}
	switch p.State {
	case runner.PinDiffers:
		fmt.Fprintf(out, "  look at what changed, then `spec-kitty plugin pin %s`\n", p.Name)
	case runner.PinMissing:
		fmt.Fprintf(out, "  `spec-kitty plugin pin %s` pins it\n", p.Name)
	}
}

// sumText shows one digest, or both where the pin does not fit.
func sumText(out *strings.Builder, of string, pinned, found *string) {
	switch {
	case found == nil:
	case pinned == nil:
		fmt.Fprintf(out, "  %sfound  %s\n", of, *found)
	case *pinned != *found:
		fmt.Fprintf(out, "  %spinned %s\n  %sfound  %s\n", of, *pinned, of, *found)
	default:
		fmt.Fprintf(out, "  %ssha256 %s\n", of, *found)
	}
}

func grantsText(out *strings.Builder, g runner.PluginGrants) {
	part := func(name string, values []string) {
		if len(values) > 0 {
			fmt.Fprintf(out, "  %-6s %s\n", name, strings.Join(values, ", "))
		}
	}
	part("reads", g.Read)
	part("writes", g.Write)
	part("args", g.Args)
	part("env", g.Env)
	fmt.Fprintf(out, "  limits memory %d MiB, %d ms, output %d KiB, log %d KiB, %d rounds\n", g.Memory>>20, g.TimeoutMS, g.Output>>10, g.Log>>10, g.MaxRounds)
}
