package main

import (
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"
)

// fallbackVariable names the program that unknown commands are handed to.
const fallbackVariable = "SPEC_KITTY_FALLBACK"

// handOver hands a call with an unknown command to the fallback program, with
// all its arguments, for projects that use another tool beside this one. Where
// the system can, that program takes this process's place.
func (a *app) handOver(root *cobra.Command) (handed bool, code int, err error) {
	path := a.getenv(fallbackVariable)
	if path == "" || !unknown(root, a.args) {
		return false, 0, nil
	}
	program, err := exec.LookPath(path)
	if err != nil {
		return false, 0, usage("let "+fallbackVariable+" name a program, or unset it", "the program of %s cannot be started: %v", fallbackVariable, err)
	}
	if ourselves(program) {
		return false, 0, usage("let "+fallbackVariable+" name the other program by its full path", "%s=%s is this program itself", fallbackVariable, path)
	}
	code, err = replace(program, a.args, withoutFallback(os.Environ()))
	if err != nil {
		return false, 0, usage("let "+fallbackVariable+" name a program, or unset it", "%s: %s cannot be started: %v", fallbackVariable, program, err)
	}
	return true, code, nil
}

// unknown tells whether the call names a command that is not ours.
func unknown(root *cobra.Command, args []string) bool {
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(args)
	if err != nil {
		return true
	}
	if !cmd.HasSubCommands() {
		return false
	}
	rest = positional(cmd, rest)
	return len(rest) > 0
}

// positional are the arguments that are no flags, as far as it can be told
// before the flags are parsed.
func positional(cmd *cobra.Command, args []string) []string {
	var rest []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return append(rest, args[i+1:]...)
		case strings.HasPrefix(arg, "--") && !strings.Contains(arg, "="):
			if f := cmd.Flag(arg[2:]); f != nil && f.NoOptDefVal == "" {
				i++ // its value
			}
		case !strings.HasPrefix(arg, "-"):
			rest = append(rest, arg)
		}
	}
	return rest
}

// ourselves tells whether a path is the program that runs.
func ourselves(path string) bool {
	self, err := os.Executable()
	if err != nil {
		return false
	}
	a, errA := os.Stat(self)
	b, errB := os.Stat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// withoutFallback keeps two programs from handing a call to one another for
// ever.
func withoutFallback(env []string) []string {
	var kept []string
	for _, entry := range env {
		if !strings.HasPrefix(entry, fallbackVariable+"=") {
			kept = append(kept, entry)
		}
	}
	return kept
}
