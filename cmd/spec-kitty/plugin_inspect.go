package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newPluginInspect(a *app) *cobra.Command {
	own := runner.FileOptions{}
	cmd := &cobra.Command{
		Use:   "inspect PLUGIN",
		Short: "Show a module's imports, exports, memory, digest and description",
		Long: `Shows what a module imports and exports, its memory at the start, size and sha256,
and asks it to describe itself: with no files, in a process of its own. Of a file
that is no plugin it says why.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := only(cmd, args, aPlugin, namePlain)
			if err != nil {
				return err
			}
			found, err := a.kit().WithFile(own).Inspect(cmd.Context(), target)
			if err != nil {
				return err
			}
			return a.print(found, func() string { return inspectText(found) })
		},
	}
	fileFlags(cmd, &own)
	return cmd
}

func inspectText(p runner.PluginInspection) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s  %s\n  %d bytes, sha256 %s\n", p.Name, p.File, p.Size, p.SHA256)
	if p.Pinned != nil && *p.Pinned != p.SHA256 {
		fmt.Fprintf(&out, "  pinned are other bytes: %s\n", *p.Pinned)
	}
	if d := p.Dir; d != nil && d.Found != nil {
		fmt.Fprintf(&out, "  shown at /plugin: %s, %d files, sha256 %s\n", d.Folder, *d.Files, *d.Found)
		if d.Pinned != nil && *d.Pinned != *d.Found {
			fmt.Fprintf(&out, "  pinned are other files: %s\n", *d.Pinned)
		}
	}
	if p.Problem != nil {
		fmt.Fprintf(&out, "  it is no plugin: %s\n", *p.Problem)
	}
	fmt.Fprintf(&out, "  memory at the start: %d KiB\n", p.Memory>>10)
	for _, i := range p.Imports {
		fmt.Fprintf(&out, "  imports %s.%s (%s)\n", i.Module, i.Name, i.Kind)
	}
	for _, e := range p.Exports {
		fmt.Fprintf(&out, "  exports %s (%s)\n", e.Name, e.Kind)
	}
	switch {
	case p.Failure != nil:
		fmt.Fprintf(&out, "  describe: %s\n", failureText(p.Failure))
		if p.Log != "" {
			fmt.Fprintf(&out, "  its log: %s\n", strings.ReplaceAll(strings.TrimRight(p.Log, "\n"), "\n", "\n           "))
		}
	case p.Problem == nil:
		fmt.Fprintf(&out, "  describe: %s\n", p.Describe)
	}
	return printable(out.String())
}

func failureText(f *runner.PluginFailure) string { return f.Code + ": " + f.Detail }
