package main

import (
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

// who are the flags that say who calls.
type who struct{ agent, worker, as string }

func (w *who) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&w.agent, "agent", "", "the agent's `NAME`")
	f.StringVar(&w.worker, "worker", "", "the worker `ID`, where several share an agent's name (default: SPEC_KITTY_WORKER)")
	f.StringVar(&w.as, "as", "", "a person, as `human:NAME`")
}

// caller is who reports, asks, answers or queries; nobody where no flag says so.
func (w who) caller(a *app, cmd *cobra.Command) (runner.Caller, error) {
	person, err := w.person(cmd)
	if err != nil {
		return runner.Caller{}, err
	}
	c, err := w.byAgent(a, cmd)
	switch {
	case err != nil:
		return runner.Caller{}, err
	case c.Agent != "" && person != "":
		return runner.Caller{}, usage("leave one of them out", "--agent and --as both say who calls")
	}
	c.Human = person
	return c, nil
}

// byAgent is the agent of the flags, if they name one. The environment's worker
// goes with an agent only.
func (w who) byAgent(a *app, cmd *cobra.Command) (runner.Caller, error) {
	if w.agent == "" && cmd.Flags().Changed("agent") {
		return runner.Caller{}, usage("use 1 to 200 printable characters", "--agent is empty")
	}
	c := runner.Caller{Agent: w.agent, Worker: w.worker}
	if c.Agent != "" && !cmd.Flags().Changed("worker") {
		c.Worker = a.getenv("SPEC_KITTY_WORKER")
	}
	return c, nil
}

// person is the NAME of --as human:NAME.
func (w who) person(cmd *cobra.Command) (string, error) {
	if !cmd.Flags().Changed("as") {
		return "", nil
	}
	name, ok := strings.CutPrefix(w.as, "human:")
	if !ok || name == "" {
		return "", usage("use --as human:NAME; agents use --agent NAME", "--as %q names no person", w.as)
	}
	return name, nil
}

// operator is the agent that what comes next is handed to, if one is named, and
// who takes the action, for the record: the person of --as, else that agent,
// else the login name.
func (w who) operator(a *app, cmd *cobra.Command) (to runner.Caller, actor string, err error) {
	person, err := w.person(cmd)
	if err != nil {
		return to, "", err
	}
	to, err = w.byAgent(a, cmd)
	switch {
	case err != nil:
		return to, "", err
	case person != "":
		return to, "human:" + person, nil
	case to.Agent != "":
		return to, to.String(), nil
	}
	return to, "human:" + login(a.getenv), nil
}

// login is the name that the operating system knows the user by.
func login(getenv func(string) string) string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	for _, name := range []string{"LOGNAME", "USER", "USERNAME"} {
		if value := getenv(name); value != "" {
			return value
		}
	}
	return "uid-" + strconv.Itoa(os.Getuid())
}
