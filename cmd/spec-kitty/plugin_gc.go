package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/runner"
)

func newPluginGC(a *app) *cobra.Command {
	keep, dry := "", false
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Drop compiled code that is not used",
		Long: `Compiled plugins lie in a cache in your own folder, which all projects share. This
drops those that were not used for longest, until the others have at most --keep
bytes. What the project pins stays and is not counted. What is dropped is compiled
again when it is called; no run and no plugin is touched.`,
		Example: `  spec-kitty plugin gc [--keep SIZE] [--dry-run]`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			bytes, ok := config.ParseSize(keep)
			if !ok {
				return usage("write --keep 256MiB: a whole number and a unit, one of B, KiB, MiB and GiB", "--keep %q is no size", keep)
			}
			found, err := a.kit().Collect(bytes, dry)
			if err != nil {
				return err
			}
			return a.print(found, func() string { return printable(gcText(found)) })
		},
	}
	cmd.Flags().StringVar(&keep, "keep", "256MiB", "the `SIZE` that code which is not pinned may have")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be dropped, and drop nothing")
	return cmd
}

func gcText(g runner.PluginGC) string {
	if g.Folder == nil {
		return "There is no cache.\n"
	}
	verb := "dropped"
	if g.DryRun {
		verb = "would be dropped"
	}
	var out strings.Builder
	for _, c := range g.Dropped {
		fmt.Fprintf(&out, "%s  %d bytes, last used %s\n", c.SHA256, c.Bytes, c.Used)
	}
	fmt.Fprintf(&out, "%d modules with %d bytes %s, %d with %d bytes stay in %s\n",
		len(g.Dropped), codeBytes(g.Dropped), verb, len(g.Kept), codeBytes(g.Kept), *g.Folder)
	return out.String()
}

func codeBytes(codes []runner.PluginCode) (sum int64) {
	for _, c := range codes {
		sum += c.Bytes
	}
	return sum
}
