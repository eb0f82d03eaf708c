package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/runner"
)

// noArgs refuses arguments; of a group, it names the nearest command.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasSubCommands() {
		return unknownCommand(cmd, args[0])
	}
	return usage("leave it out", "%s takes no argument, but there is %q", cmd.CommandPath(), args[0])
}

// atMost refuses more than n arguments.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		return usage("put a text with blanks into quotes", "%s takes at most %d arguments, but there is also %q", cmd.CommandPath(), n, args[n])
	}
}

// unknownCommand names the nearest command, or all of them.
func unknownCommand(parent *cobra.Command, name string) error {
	var known []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			known = append(known, c.Name())
		}
	}
	next := "`" + strings.Replace(parent.CommandPath(), "spec-kitty", "spec-kitty help", 1) + "` lists the commands"
	return nearest(usage(next, "%s has no command %q", parent.CommandPath(), name), name, known)
}

// nearest has an error about a name that is not known offer the nearest of those that
// are, or else all.
func nearest(e *runner.Error, name string, known []string) error {
	e.Candidates = known
	if near := mission.Nearest(name, known); near != "" {
		e.Candidates = []string{near}
		e.Message += "; did you mean " + near + "?"
	}
	return e
}

// given refuses flags without a value of their own, as an empty shell variable
// makes them: nothing is decided by a blank, and no flag is eaten by another.
func (a *app) given(cmd *cobra.Command, _ []string) error {
	var fault error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		switch {
		case f.Value.Type() != "string" || f.Name == "answer":
		case strings.TrimSpace(value) == "":
			fault = usage("give it a value, or leave it out", "--%s is empty", f.Name)
		case strings.HasPrefix(value, "--") && f.Name != "reason":
			a.raw = true // what was eaten may have been --json
			fault = usage("give it a value, or leave it out", "--%s has the value %q, which looks like a flag", f.Name, value)
		}
	})
	return fault
}

// flagError words pflag's errors as ours and names the nearest flag.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	e := usage("`"+strings.Replace(cmd.CommandPath(), "spec-kitty", "spec-kitty help", 1)+"` explains the flags", "%v", err)
	if invalid := new(pflag.InvalidValueError); errors.As(err, &invalid) {
		e.Message = fmt.Sprintf("--%s %q %s", invalid.GetFlag().Name, brief(invalid.GetValue()), isNot(invalid.GetFlag().Value.Type(), err))
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		collect := func(f *pflag.Flag) { names = append(names, f.Name) }
		cmd.Flags().VisitAll(collect)
		cmd.InheritedFlags().VisitAll(collect)
		e.Message = fmt.Sprintf("%s has no flag --%s", cmd.CommandPath(), unknown.GetSpecifiedName())
		if near := mission.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			e.Candidates = []string{"--" + near}
			e.Message += "; did you mean --" + near + "?"
		}
	}
	return e
}

// isNot says what a value is not that does not fit its flag.
func isNot(kind string, err error) string {
	switch {
	case errors.Is(err, strconv.ErrRange):
		return "is too large"
	case strings.HasPrefix(kind, "uint"):
		return "is no whole number from 0 upwards"
	case strings.HasPrefix(kind, "int"):
		return "is no whole number"
	case strings.HasPrefix(kind, "float"):
		return "is no number"
	case kind == "bool":
		return "is neither true nor false"
	}
	return "does not fit: a " + kind + " was expected"
}

// synopsis is how a command is called, for errors of the command line.
func synopsis(cmd *cobra.Command) string {
	switch {
	case cmd.Example != "":
		return "Usage:\n" + cmd.Example + "\n"
	case cmd.HasSubCommands():
		return "Usage:\n  " + cmd.CommandPath() + " COMMAND\n"
	}
	return "Usage:\n  " + strings.TrimSuffix(cmd.UseLine(), " [flags]") + "\n"
}
