package main

import (
	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

// newPlugin groups the verbs of plugin authors.
func newPlugin(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Write, look at, pin and try plugins",
		Long: `A plugin is a WebAssembly module that guards or executes steps;
` + "`spec-kitty help writing-plugins`" + ` says how to write one. PLUGIN is a plugin that
spec-kitty.toml configures, or a .wasm file: what has a slash in it or ends in .wasm
is a file.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return noCommand(cmd) },
	}
	a.grow(cmd, 1,
		branch{"list", newPluginList},
		branch{"inspect", newPluginInspect},
		branch{"pin", newPluginPin},
		branch{"check", newPluginCheck},
		branch{"run", newPluginRun},
		branch{"request", newPluginRequest},
		branch{"test", newPluginTest},
		branch{"new", newPluginNew},
		branch{"gc", newPluginGC},
	)
	return cmd
}

// kit opens the kit of plugin authors.
func (a *app) kit() *runner.Kit {
	o := runner.Options{Root: a.root}
	if a.tune != nil {
		a.tune(&o)
	}
	return runner.OpenKit(o)
}

// only is the one argument of a command that needs it.
func only(cmd *cobra.Command, args []string, what, next string) (string, error) {
	if len(args) == 0 || args[0] == "" {
		return "", usage(next, "%s needs %s", cmd.CommandPath(), what)
	}
	return args[0], nil
}

const (
	aPlugin   = "a plugin"
	namePlain = "name a plugin of spec-kitty.toml, or a .wasm file"
)

// fileFlags are what a configuration would say of a module that is named as a file.
func fileFlags(cmd *cobra.Command, o *runner.FileOptions) {
	cmd.Flags().StringVar(&o.Dir, "dir", "", "of a file: the `FOLDER` that it is shown at /plugin")
	cmd.Flags().StringArrayVar(&o.Args, "arg", nil, "of a file: an argument `ARG` before the verb; repeatable")
}
