package runner

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/guard"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// roundLimit is the sub-code of an executor that never comes to an outcome.
const roundLimit = "round_limit"

// defaultRounds is what runs go by that froze no number of rounds.
const defaultRounds = 4

func (f frozenPlugin) rounds() int {
	if f.Rounds == 0 {
		return defaultRounds
	}
	return f.Rounds
}

// execute runs the step's executor, and the commands that it needs, until it
// comes to an outcome. Each round is a call of its own, at most as many as the
// plugin is granted.
func (r *reading) execute(ctx context.Context, t *step, def mission.Step, seen *witness) (*cursor.Outcome, error) {
	name := def.Executor.Plugin
	frozen, err := r.run.grantOf(name, r.state)
	if err != nil {
		return nil, failedPlugin(name, err)
	}
	defer func() { t.round, t.results = 0, nil }() // guards are called once, and are told of no command
	for t.round = 1; ; t.round++ {
		answer, err := r.round(ctx, t, def, frozen, seen)
		switch {
		case err != nil:
			return nil, err
		case len(answer.Needs) == 0:
			return r.settled(ctx, t, name, frozen, answer, seen)
		case t.round == frozen.rounds():
			return nil, pluginFailure(name, fmt.Errorf("%s: it was called %d times and still needs %s; its table in the configuration may grant more with max_rounds", roundLimit, t.round, answer.Needs[0].Command))
		}
		if t.results, err = r.meet(ctx, t, name, answer.Needs, seen); err != nil {
			return nil, err
		}
	}
}

// round is one call of the executor.
func (r *reading) round(ctx context.Context, t *step, def mission.Step, frozen frozenPlugin, seen *witness) (abi.ExecuteAnswer, error) {
	name := def.Executor.Plugin
	grants := sandbox.Grants{Write: len(frozen.Write) > 0}
	var answer abi.ExecuteAnswer
	var err error
	if grants.Commands, err = r.declared(); err == nil {
		var out sandbox.Answer
		if out, err = r.call(ctx, t, def, abi.Execute, name, def.Executor.With, seen); err == nil {
			answer, err = sandbox.ExecuteAnswer(name, out, grants)
		}
	}
	if gone := ctx.Err(); gone != nil {
		return answer, gone
	}
	if err != nil {
		return answer, failedPlugin(name, err)
	}
	return answer, nil
}

// declared are the commands that the run froze.
func (r *reading) declared() (map[string]bool, error) {
	names := map[string]bool{}
	if r.state.Commands == "" {
		return names, nil
	}
	set, err := r.run.commands(r.state.Commands)
	for name := range set.Commands {
		names[name] = true
	}
	return names, err
}

// settled takes over an outcome, with the files that it leaves.
func (r *reading) settled(ctx context.Context, t *step, name string, frozen frozenPlugin, answer abi.ExecuteAnswer, seen *witness) (*cursor.Outcome, error) {
	o, err := r.outcome(name, answer)
	if err != nil || len(answer.Artifacts) == 0 {
		return o, err
	}
	if o.Artifacts, err = r.stage(t, name, frozen, answer.Artifacts); err != nil {
		return o, err
	}
	return o, r.overwrites(ctx, t, name, o.Artifacts, seen)
}

// meet runs the commands that an executor needs, one after the other.
func (r *reading) meet(ctx context.Context, t *step, name string, needs []abi.Need, seen *witness) ([]abi.CommandResult, error) {
	ends := make([]command.Result, len(needs))
	for i, need := range needs {
		end, err := r.runCommand(ctx, t, need.Command, t.round, seen)
		if gone := ctx.Err(); gone != nil {
			return nil, gone
		}
		if err != nil {
			return nil, unmet(name, err)
		}
		ends[i] = end
	}
	return shownResults(needs, ends), nil
}

// unmet is the block of an executor that was not given what it asked for: nobody
// consented, or the command has no folder to work in.
func unmet(name string, err error) error {
	if damage := damageIn(err); damage != nil {
		return damage
	}
	failure := cursor.GuardFailure{
		Guard: "executor " + name, Verdict: string(guard.Failed), Expected: "what it needs to be run or written",
		Examined: err.Error(), Fix: "mend what it says, then report again",
	}
	if isNotTrusted(err) {
		failure.Fix = "a person consents: `" + trustTopic + "`"
	}
	return &cursor.Refusal{Code: GuardError, Message: failure.Sentence(), Guards: []cursor.GuardFailure{failure}}
}

// Bounds of what an executor is told of commands, in bytes: a request has at most
// 1 MiB.
const (
	maxShown   = 64 << 10  // of one stream: its end
	maxResults = 512 << 10 // of all results together, as JSON
)

// shownResults is what an executor is told: of each stream as much of its end as
// there is room for.
func shownResults(needs []abi.Need, ends []command.Result) []abi.CommandResult {
	for most := maxShown; ; most /= 2 {
		results := make([]abi.CommandResult, len(needs))
		for i, end := range ends {
			results[i] = abi.CommandResult{
				Command: needs[i].Command, Exit: -1, TimedOut: end.End == command.TimedOut,
				Stdout: tailOf(end.Stdout.Kept, most), Stderr: tailOf(end.Stderr.Kept, most),
			}
			switch {
			case end.End == command.Exited:
				results[i].Exit = end.Exit
			case end.Err != nil:
				results[i].Stderr = tailOf([]byte(end.String()), most)
			}
		}
		if raw, err := json.Marshal(results); err == nil && len(raw) <= maxResults || most == 0 {
			return results
		}
	}
}
