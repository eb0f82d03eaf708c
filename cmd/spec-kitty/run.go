package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

// process is what a call gets from outside.
type process struct {
	args   []string
	in     io.Reader
	out    io.Writer
	err    io.Writer
	getenv func(string) string
	tune   func(*runner.Options) // for tests; nil: the options as they are

	tuneLoops func(*tick.Options) // likewise
	alert     bool                // for tests: signals are heard from the beginning
}

// app is one call: its streams, the flags that all commands share, and the exit
// code that the answer asks for.
type app struct {
	process
	json bool
	root string
	code int
	raw  bool   // the flags could not be parsed
	help string // what an error of the command line points to
}

// run carries out one call and gives its exit code. It does not panic: a fault
// of ours is an internal error like any other.
func run(p process) (code int) {
	a := &app{process: p}
	defer func() {
		if fault := recover(); fault != nil {
			code = a.fail(panicked(a, fault))
		}
	}()
	root := newRoot(a)
	if handed, code, err := a.handOver(root); handed || err != nil {
		if err != nil {
			a.raw = true
			return a.fail(err)
		}
		return code
	}
	ctx, stop := withSignals(context.Background())
	defer stop()
	if p.alert {
		ctx.Done()
	}
	root.SetArgs(p.args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil {
		a.help = synopsis(cmd)
		return a.fail(interrupted(ctx, err))
	}
	return a.code
}

// wantsJSON looks at the raw arguments where the flags could not be parsed.
func (a *app) wantsJSON() bool {
	if a.json || !a.raw {
		return a.json
	}
	args := a.args
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		value, ok := strings.CutPrefix(arg, "--json")
		return ok && (value == "" || value == "=true" || value == "=1" || value == "=t")
	})
}

// open opens the project that the call is about. The caller closes it.
func (a *app) open() (*runner.Project, error) { return a.openWith(runner.Options{}) }

func (a *app) openWith(o runner.Options) (*runner.Project, error) {
	o.Root, o.Trust = a.root, a.getenv("SPEC_KITTY_TRUST")
	if a.tune != nil {
		a.tune(&o)
	}
	return runner.Open(o)
}

// onMission finds the mission that a call is about, by its argument or its flag,
// opens the project and closes it afterwards.
func (a *app) onMission(cmd *cobra.Command, args []string, flag string, work func(p *runner.Project, handle string) error) error {
	handle, err := a.mission(cmd, first(args), flag)
	if err != nil {
		return err
	}
	project, err := a.open()
	if err != nil {
		return err
	}
	defer project.Close()
	return work(project, handle)
}

// newRoot is the tree of commands.
func newRoot(a *app) *cobra.Command {
	showVersion := false
	root := &cobra.Command{
		Use:   "spec-kitty",
		Short: "Takes missions forward one step at a time",
		Long: `spec-kitty takes missions forward one step at a time. Ask for the next step,
do it, report the result, and get the next one:

    spec-kitty run start 034-pay-by-link --type software-dev
    spec-kitty next --mission 034-pay-by-link --agent NAME --result success

Several agents may call at the same moment, retry, or die half-way.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: a.given,
		Args:              noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if showVersion {
				return a.printVersion()
			}
			return a.printHelp(cmd)
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		a.raw = true
		return flagError(cmd, err)
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { a.helpFailed(a.printHelp(cmd)) })
	root.SetOut(a.out)
	root.SetErr(a.err)
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "print exactly one JSON document")
	flags.StringVar(&a.root, "root", "", "the project's `DIR`, or a folder in it (default: found from the working folder upwards)")
	flags.StringVar(&a.root, "owned-checkout", "", "the same as --root `DIR`, as existing callers know it")
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	a.grow(root, 0,
		branch{"next", newNext},
		branch{"run", newRun},
		branch{"wp", newWP},
		branch{"loop", newLoop},
		branch{"decision", newDecision},
		branch{"status", newStatus},
		branch{"mission", newMission},
		branch{"doctor", newDoctor},
		branch{"init", newInit},
		branch{"plugin", newPlugin},
		branch{"trust", newTrust},
	)
	root.SetHelpCommand(newHelp(a))
	return root
}
