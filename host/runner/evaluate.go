package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/guard"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// evaluate runs the executor and then the guards of the reported step, with no
// lock held. It writes into the report what they gave and what they read.
func (r *reading) evaluate(ctx context.Context, t *step) error {
	def, err := r.facts.Def.Step(t.issue.Pos)
	if err != nil {
		return err
	}
	r.clock() // now, before calls at the same moment ask for it
	seen := newWitness()
	if def.Executor != nil {
		if t.report.Outcome, err = r.execute(ctx, t, def, seen); err != nil {
			return err
		}
	}
	if o := t.report.Outcome; o == nil || o.Result == cursor.Success {
		err = r.guard(ctx, t, def, seen)
	}
	t.report.Base.Facts, t.report.Calls, t.views = seen.facts, seen.calls, seen.views
	return err
}

// guard evaluates all guards and lists all failures.
func (r *reading) guard(ctx context.Context, t *step, def mission.Step, seen *witness) error {
	verdicts := r.verdicts(ctx, t, def, seen)
	if err := ctx.Err(); err != nil {
		return err // the caller went: no guard is to blame
	}
	for _, v := range verdicts {
		if v.damage != nil {
			return v.damage
		}
	}
	t.guards = verdicts
	t.report.Guards = nil
	refusal := &cursor.Refusal{}
	for _, v := range verdicts {
		if v.Verdict == string(guard.Allow) {
			t.report.Guards = append(t.report.Guards, cursor.GuardEvidence{Guard: v.Guard, Verdict: v.Verdict, Examined: v.Examined})
			continue
		}
		refusal.Guards = append(refusal.Guards, v.failure())
	}
	if len(refusal.Guards) == 0 {
		return nil
	}
	refusal.Code, refusal.Message = judged(refusal.Guards)
	return refusal
}

// judged names what a list of failed guards comes to: a guard that could not be
// evaluated is never shown as a refusal.
func judged(failures []cursor.GuardFailure) (cursor.Code, string) {
	code := cursor.GuardRefused
	sentences := make([]string, len(failures))
	for i, f := range failures {
		sentences[i] = f.Sentence()
		switch {
		case strings.HasPrefix(f.Examined, string(PluginFailed)+":"):
			code = PluginFailed
		case f.Verdict != string(guard.Refuse) && code == cursor.GuardRefused:
			code = GuardError
		}
	}
	return code, strings.Join(sentences, "; ")
}

func (g Guard) failure() cursor.GuardFailure {
	return cursor.GuardFailure{Guard: g.Guard, Verdict: g.Verdict, Expected: g.Expected, Examined: g.Examined, Fix: g.Fix, Message: g.message}
}

// verdicts evaluates the guards of a step: those of plugins in parallel, each in
// a process of its own, and beside them the commands, one after the other as they
// are declared, since programs of the host may be in each other's way.
func (r *reading) verdicts(ctx context.Context, t *step, def mission.Step, seen *witness) []Guard {
	results := make([]Guard, len(def.Guards))
	saw := make([]*witness, len(def.Guards))
	var running sync.WaitGroup
	for i, g := range def.Guards {
		saw[i] = newWitness()
		if g.Plugin != nil {
			running.Go(func() { results[i] = r.askPlugin(ctx, t, def, g, saw[i]) })
		}
	}
	for i, g := range def.Guards {
		switch {
		case g.Plugin != nil:
		case g.Command != "":
			results[i] = r.askCommand(ctx, t, g.Command, saw[i])
			results[i].message = g.Message
		default:
			results[i], saw[i].facts = r.builtIn(g, t.report.Outcome)
		}
	}
	running.Wait()
	for _, one := range saw {
		seen.add(one)
	}
	return results
}

// builtIn evaluates a guard of our own. The inputs that it sees are those that
// the report would leave.
func (r *reading) builtIn(g mission.Guard, o *cursor.Outcome) (Guard, map[string]string) {
	given := guard.Given{Folder: guard.Folder{Dir: r.mission.Dir, Staged: r.p.staged(o, r.mission.Dir)}, Inputs: inputs(r.state, o), Packages: r.packagesAt()}
	result, ok := guard.Evaluate(g, given)
	if !ok {
		return Guard{Guard: "unknown", Verdict: string(guard.Failed), Examined: "this version knows no such guard"}, nil
	}
	if fault := r.facts.Fault; fault != nil && g.WorkPackages != nil {
		result.Verdict, result.Examined, result.Fix = guard.Failed, fault.Error(), "mend what it names"
	}
	facts := map[string]string{}
	for _, f := range result.Facts {
		facts[guardFact+f.Name] = f.Digest
	}
	for _, id := range result.Packages {
		facts[packageFact+id] = string(r.state.Lane(r.facts, id))
	}
	return Guard{
		Guard: result.Guard, Verdict: string(result.Verdict),
		Expected: result.Expected, Examined: result.Examined, Fix: result.Fix, message: result.Message,
	}, facts
}

func (r *reading) packagesAt() []guard.PackageAt {
	var all []guard.PackageAt
	for _, p := range r.facts.Packages {
		all = append(all, guard.PackageAt{ID: p.ID, Lane: r.state.Lane(r.facts, p.ID)})
	}
	return all
}

// inputs are the values that templates, guards and plugins see; of a report,
// with those that its executor gives.
func inputs(s cursor.State, o *cursor.Outcome) map[string]string {
	all := map[string]string{}
	maps.Copy(all, s.Cursor.Inputs)
	if o != nil {
		maps.Copy(all, o.Inputs)
	}
	return all
}

// askPlugin asks a plugin's guard verb.
func (r *reading) askPlugin(ctx context.Context, t *step, def mission.Step, g mission.Guard, seen *witness) Guard {
	name := "plugin " + g.Plugin.Plugin
	out, err := r.call(ctx, t, def, abi.Guard, g.Plugin.Plugin, g.Plugin.With, seen)
	var answer abi.GuardAnswer
	if err == nil {
		answer, err = sandbox.GuardAnswer(g.Plugin.Plugin, out)
	}
	if isNotTrusted(err) {
		return untrustedGuard(Guard{Guard: name, Expected: "consent to call what may write", message: g.Message}, err)
	}
	if err != nil {
		return Guard{
			damage: damageIn(err),
			Guard:  name, Verdict: string(guard.Failed), Examined: string(PluginFailed) + ": " + cause(err),
			Fix: "mend the plugin, or ask its author, and have the run take over what was mended; see `spec-kitty help plugins`",
		}
	}
	return guardOf(name, g.Message, answer)
}

func guardOf(name, message string, answer abi.GuardAnswer) Guard {
	v := Guard{Guard: name, Verdict: string(answer.Verdict), Examined: answer.Message, message: message}
	var found, fixes []string
	for _, reason := range answer.Reasons {
		what := reason.Message
		if reason.Path != "" {
			what = reason.Path + ": " + what
		}
		found = append(found, what)
		if reason.Fix != "" {
			fixes = append(fixes, reason.Fix)
		}
	}
	if len(found) > 0 {
		v.Examined = strings.Join(found, "; ")
	}
	v.Fix = strings.Join(fixes, "; ")
	return v
}

// outcome takes over an executor's answer.
func (r *reading) outcome(name string, a abi.ExecuteAnswer) (*cursor.Outcome, error) {
	o := &cursor.Outcome{Result: cursor.Result(a.Outcome), Inputs: a.Inputs, Prompt: a.Prompt, Notes: a.Notes}
	var reasons []string
	for _, reason := range a.Reasons {
		reasons = append(reasons, reason.Message)
	}
	o.Reason = strings.Join(reasons, "; ")
	if err := r.settable(name, a.Inputs); err != nil || a.Question == nil {
		return o, err
	}
	id := cursor.PluginID(a.Question.Key)
	if before, answered := r.state.Cursor.Answers[id]; answered {
		return nil, pluginFailure(name, asksAgain(a.Question.Key, before.Value))
	}
	o.Question = &cursor.Asking{ID: id, Question: a.Question.Question, Options: a.Question.Options}
	return o, nil
}

// settable wants an executor's inputs to be its to set: nobody consented to it, so
// that it takes the place of no person.
func (r *reading) settable(name string, inputs map[string]string) error {
	if len(inputs) == 0 {
		return nil
	}
	def, err := r.run.view(r.state)
	if err != nil {
		return err
	}
	for _, key := range sortedKeys(inputs) {
		err := r.state.Settable(def, key, inputs[key])
		if refused := new(cursor.Refusal); errors.As(err, &refused) {
			return pluginFailure(name, fmt.Errorf("%s: the input %s is not its to set so: %w", sandbox.NotGranted, key, err))
		} else if err != nil {
			return err
		}
	}
	return nil
}

// request is what a plugin is asked.
func (r *reading) request(t *step, def mission.Step, verb string, with map[string]any) (abi.Request, error) {
	done, err := r.completed()
	if err != nil {
		return abi.Request{}, err
	}
	req := abi.Request{
		Verb:    verb,
		Run:     abi.Run{ID: r.state.Run, Mission: r.state.Mission, Type: r.state.Type, Revision: r.state.Revision},
		Mission: abi.Mission{Dir: r.p.guestPath(r.mission.Dir)},
		Step:    abi.Step{ID: def.ID, Title: def.Title, Attempt: t.issue.Attempt, With: with},
		Package: t.issue.Package, Inputs: inputs(r.state, t.report.Outcome), Answers: r.pluginAnswers(),
		Completed: done, Agent: t.report.By.Agent, Result: string(t.report.Result), Reason: t.report.Reason,
		Now: r.clock().Format(rfc3339Micro),
	}
	if verb == abi.Execute {
		req.Commands = t.results
	}
	if r.p.worktree(r.mission, t.issue.Package) != "" {
		req.Workspace = abi.WorkspaceDir
	}
	for _, p := range r.facts.Packages {
		req.Packages = append(req.Packages, abi.Package{ID: p.ID, Title: p.Title, Lane: string(r.state.Lane(r.facts, p.ID)), Dependencies: p.DependsOn})
	}
	return req, nil
}

const rfc3339Micro = "2006-01-02T15:04:05.000000Z07:00"

// completed names the completed steps. It is asked for only when a plugin is
// called: ten thousand names are 130 KB.
func (r *reading) completed() ([]string, error) {
	var ids []string
	for pos := range r.state.Cursor.Done.All() {
		def, err := r.facts.Def.Step(pos)
		if err != nil {
			return nil, err
		}
		ids = append(ids, def.ID)
	}
	return ids, nil
}

func (r *reading) pluginAnswers() map[string]string {
	all := map[string]string{}
	for id, answer := range r.state.Cursor.Answers {
		if key, ok := strings.CutPrefix(id, cursor.PluginID("")); ok {
			all[key] = answer.Value
		}
	}
	return all
}
