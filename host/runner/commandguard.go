package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/guard"
	"github.com/spec-kitty/step-runner/host/trust"
)

// askCommand runs a declared command as a guard, with no lock held.
func (r *reading) askCommand(ctx context.Context, t *step, name string, seen *witness) Guard {
	g := Guard{Guard: "command " + name, Expected: "exit 0"}
	res, err := r.runCommand(ctx, t, name, 1, seen)
	switch {
	case isNotTrusted(err):
		return untrustedGuard(g, err)
	case err != nil:
		g.Verdict, g.Examined, g.damage = string(guard.Failed), err.Error(), damageIn(err)
		g.Fix = "make it, or skip the step: `spec-kitty help skip`"
		return g
	}
	g.Verdict, g.Examined = string(res.Verdict()), res.String()
	if res.Verdict() == command.Allow {
		return g
	}
	if said := lastWords(res); said != "" {
		g.Examined += ": " + said
	}
	g.Fix = "mend what it says, then report again"
	if res.Verdict() == command.Failed {
		g.Fix = "make it runnable here (exit 0 allows, 1 refuses, all else is no verdict), then report again"
	}
	return g
}

// runCommand runs a command that the run froze, if the user consented, and puts
// down how it ended.
func (r *reading) runCommand(ctx context.Context, t *step, name string, round int, seen *witness) (command.Result, error) {
	set, err := r.consented()
	if err != nil {
		return command.Result{}, err
	}
	declared, ok := set.Commands[name]
	if !ok {
		return command.Result{}, errors.New("the run froze no command " + strconv.Quote(name))
	}
	dir, err := r.commandFolder(t, declared)
	if err != nil {
		return command.Result{}, err
	}
	res := command.Run(ctx, command.Command{
		Name: name, Argv: declared.Run, Dir: dir, Env: command.Environ(declared.PassEnv, r.told(t, round), os.LookupEnv),
		Timeout: time.Duration(declared.Timeout), Output: declared.Output, Watched: true,
	})
	if res.Held {
		r.warn("escaped_process", "command "+name+" left a process outside of its group, which held an output open; it was not ended")
	}
	seen.calls = append(seen.calls, cursor.Call{Kind: cursor.CallCommand, Name: name, SHA256: r.state.Commands, Round: round, Command: commandRun(res)})
	return res, nil
}

// commandFolder is the folder that a command works in.
func (r *reading) commandFolder(t *step, c trust.Command) (string, error) {
	if c.Cwd != string(config.CwdWorkspace) {
		return r.p.Config.Root, nil
	}
	if t.issue.Package == "" {
		return "", errors.New("it works in a package's worktree, and this report is about no package")
	}
	dir, err := r.p.usableWorktree(r.mission, t.issue.Package)
	if err != nil {
		return "", fmt.Errorf("package %s has no worktree to run it in: %w", t.issue.Package, err)
	}
	if dir == "" {
		return "", errors.New("package " + t.issue.Package + " has no worktree to run it in")
	}
	return dir, nil
}

// told is what a command is told of what it is asked about, as variables. It may
// be run more than once for one token: a report that is refused comes again.
func (r *reading) told(t *step, round int) map[string]string {
	told := map[string]string{
		"SPEC_KITTY_MISSION": r.mission.Slug, "SPEC_KITTY_STEP": t.issue.Step, "SPEC_KITTY_ROUND": strconv.Itoa(round),
		"SPEC_KITTY_RUN": r.state.Run, "SPEC_KITTY_MISSION_DIR": r.mission.Dir,
	}
	for name, value := range map[string]string{"SPEC_KITTY_TOKEN": t.issue.Token, "SPEC_KITTY_PACKAGE": t.issue.Package} {
		if value != "" {
			told[name] = value
		}
	}
	return told
}

func commandRun(r command.Result) *cursor.CommandRun {
	run := &cursor.CommandRun{End: string(r.End), Exit: r.Exit, Signal: r.Signal, Millis: r.Duration.Milliseconds()}
	if r.End != command.NotStarted {
		run.Stdout, run.Stderr = output(r.Stdout), output(r.Stderr)
	}
	return run
}

func output(o command.Output) cursor.Output {
	return cursor.Output{Bytes: o.Bytes, SHA256: o.SHA256, Tail: tailOf(o.Kept, cursor.MaxTail)}
}

// tailOf is the end of foreign output as text that JSON can hold, at most most
// bytes of it.
func tailOf(out []byte, most int) string {
	text := shownText(out[max(0, len(out)-most):])
	for len(text) > most { // what was no text takes more bytes than it had
		text = text[1:]
	}
	return strings.ToValidUTF8(text, "")
}

// lastWords are the last lines that a program wrote, of stderr if it wrote there.
func lastWords(r command.Result) string {
	const most = 300
	for _, o := range []command.Output{r.Stderr, r.Stdout} {
		text := strings.TrimSpace(shownText(o.Kept[max(0, len(o.Kept)-most):]))
		if text != "" {
			return strings.Join(strings.Fields(text), " ")
		}
	}
	return ""
}
