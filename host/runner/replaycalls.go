package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// CallAgain is a recorded call of foreign code, and what came of making it
// again.
type CallAgain struct {
	Revision uint64   `json:"revision"`
	Kind     string   `json:"kind"` // plugin or command
	Name     string   `json:"name"`
	Verb     string   `json:"verb"` // "" for a command
	Round    int      `json:"round"`
	End      AgainEnd `json:"end"`
	Why      string   `json:"why"` // "" for AgainSame
}

// AgainEnd is how making a call again ended.
type AgainEnd string

// The ends of a call made again.
const (
	AgainSame    AgainEnd = "same"         // the same answer, byte for byte
	AgainDiffers AgainEnd = "differs"      // it was asked the same and answered otherwise
	AgainNot     AgainEnd = "not_repeated" // it cannot be asked the same
)

// notAgain says why a call cannot be made again.
type notAgain string

func (e notAgain) Error() string { return string(e) }

// callAgain makes the calls of a record's reports again, on the state before it.
func (a *replaying) callAgain(ctx context.Context, rec commit.Record[cursor.Event]) error {
	if !a.calls {
		return nil
	}
	for _, e := range rec.Events {
		report, ok := e.Event.(cursor.Reported)
		if !ok {
			continue
		}
		for _, c := range report.Calls {
			again := CallAgain{Revision: rec.Revision, Kind: string(c.Kind), Name: c.Name, Verb: c.Verb, Round: c.Round, End: AgainSame}
			var impossible notAgain
			switch why, err := a.repeat(ctx, report, c); {
			case errors.As(err, &impossible):
				again.End, again.Why = AgainNot, impossible.Error()
			case err != nil:
				return err
			case why != "":
				again.End, again.Why = AgainDiffers, why
				a.find(VerdictDiffers, fmt.Sprintf("revision %d: %s: %s", rec.Revision, callName(c), why))
			}
			a.Calls = append(a.Calls, again)
		}
	}
	return nil
}

// repeat makes one call again and says in what it differs; "" is in nothing. The
// error is a notAgain, or the context's.
func (a *replaying) repeat(ctx context.Context, report cursor.Reported, c cursor.Call) (string, error) {
	if c.Kind != cursor.CallPlugin {
		return "", notAgain("what a command sees of the world is not recorded, so it is not run again")
	}
	called, frozen, err := a.run.plugin(c.Name, a.state)
	switch {
	case err != nil:
		return "", notAgain("what the run froze of the plugin is not there: " + err.Error())
	case frozen.SHA256 != c.SHA256 || frozen.DirSum != c.Dir:
		return "", notAgain("the run froze other bytes of the plugin than were called")
	}
	if err := a.p.mayCall(a.run, a.state, c.Name, frozen); err != nil {
		return "", notAgain(err.Error())
	}
	call, err := a.callOf(report, c, frozen)
	if err != nil {
		return "", err
	}
	answer, err := a.p.plugins.Call(ctx, called, call)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return failedAgain(err)
	case hexSum(answer.Stdout) != c.Answer:
		return fmt.Sprintf("it answered %s then, and %s now", shortSum(c.Answer), shortSum(hexSum(answer.Stdout))), nil
	}
	return "", nil
}

// failedAgain judges a call that was answered once and fails now. What may be the
// machine's doing says nothing of the plugin.
func failedAgain(err error) (string, error) {
	var failure *sandbox.Failure
	if errors.As(err, &failure) {
		switch failure.Code {
		case sandbox.Exited, sandbox.Trapped, sandbox.StackOverflow, sandbox.OutputLimit, sandbox.LogLimit, sandbox.BadModule:
			return "it answered then, and fails now: " + cause(err), nil
		}
	}
	return "", notAgain("it cannot be called here now: " + cause(err))
}

// callOf is a recorded call as it was made: its request, time and randomness, and
// the folders that it saw, if what it saw of them is still the same. A guard saw
// its report's artifacts in their places.
func (a *replaying) callOf(report cursor.Reported, c cursor.Call, frozen frozenPlugin) (sandbox.Call, error) {
	raw, err := a.kept(c.Request, "its request")
	if err != nil {
		return sandbox.Call{}, err
	}
	var req abi.Request
	if err := json.Unmarshal(raw, &req); err != nil {
		return sandbox.Call{}, notAgain("its request cannot be read: " + err.Error())
	}
	now, err := time.Parse(time.RFC3339Nano, req.Now)
	if err != nil {
		return sandbox.Call{}, notAgain("its request has no time: " + err.Error())
	}
	call := a.p.grants(a.run.mission, frozen, req.Package)
	if err := a.unchanged(call, c); err != nil {
		return call, err
	}
	if c.Verb == abi.Guard {
		call.Mounts = a.p.overlaid(call.Mounts, &cursor.Outcome{Artifacts: report.Artifacts})
	}
	call.Verb, call.Request, call.Now = c.Verb, raw, now
	call.Seed = callSeed(a.state.Seed, c.Name, c.Verb, req.Step.ID, req.Package, req.Step.Attempt)
	return call, nil
}

// unchanged wants all that a call saw of files to be as it was.
func (a *replaying) unchanged(call sandbox.Call, c cursor.Call) error {
	if c.Files == "" {
		return nil
	}
	raw, err := a.kept(c.Files, "the list of what it saw")
	if err != nil {
		return err
	}
	var seen []sandbox.Fact
	if err := json.Unmarshal(raw, &seen); err != nil {
		return notAgain("the list of what it saw cannot be read: " + err.Error())
	}
	changed, err := call.Changed(seen)
	if err != nil {
		return notAgain("a folder that it saw is gone: " + err.Error())
	}
	var paths []string
	for _, f := range changed {
		if len(paths) == 0 || paths[len(paths)-1] != f.Path {
			paths = append(paths, f.Path)
		}
	}
	if len(paths) > 0 {
		return notAgain("changed since: " + strings.Join(paths, ", "))
	}
	return nil
}

// kept reads what the run kept of a call, by its digest.
func (a *replaying) kept(sum, what string) ([]byte, error) {
	raw, err := a.run.blob(callFolder + sum + ".json")
	switch {
	case err != nil:
		return nil, notAgain(what + " was not kept")
	case hexSum(raw) != sum:
		return nil, notAgain(what + " is not what was kept: " + callFolder + sum + ".json was changed")
	}
	return raw, nil
}
