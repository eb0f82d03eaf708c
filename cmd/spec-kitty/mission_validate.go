package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newMissionValidate(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "validate",
		Short: "Check the configuration and all it names",
		Long: `Checks spec-kitty.toml, every mission type with its prompts, and the plugins'
bytes against their pins. All that is wrong is listed at once; then it ends with
exit code 3. A sound definition by which work packages can come to lie where nobody is
handed them is warned of. All keys: ` + "`spec-kitty help writing-missions`" + `.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := runner.Validate(a.root)
			if err != nil {
				return err
			}
			return a.print(found, func() string { return validText(found) })
		},
	}
}

func validText(v runner.Validation) string {
	p := &page{}
	p.WriteString(printable(fmt.Sprintf("%s is valid.\n%s", v.File, typesText(v.Missions))))
	p.warnings(v.Warnings)
	return p.String()
}

func typesText(types []runner.MissionType) string {
	var out strings.Builder
	for _, m := range types {
		fmt.Fprintf(&out, "  %s  %s %s, %d steps, in %s\n", m.Type, m.Name, m.Version, m.Steps, m.Path)
	}
	return out.String()
}
