package simulate

import (
	"fmt"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/guard"
	"github.com/spec-kitty/step-runner/host/mission"
)

// tokens are new with each move: the number of the move is their time.
func (w *walker) tokens() cursor.Tokens {
	var first ulid.ULID
	for n, i := uint64(len(w.path.Moves)+1), 5; i >= 0; n, i = n>>8, i-1 {
		first[i] = byte(n)
	}
	return cursor.Tokens{First: first}
}

// report reports on what an agent was handed, as the script has it, or, where
// nothing is open, on the package step itself.
func (w *walker) report(by cursor.Holder, issue cursor.Issue, open bool) (*cursor.Refusal, error) {
	step := w.steps[issue.Pos]
	r := cursor.Report{
		Who: by.Agent, By: by, Token: issue.Token, Base: cursor.BaseOf(w.s, w.f, issue, true),
		Result: cursor.Success, Tokens: w.tokens(),
	}
	m := Move{Kind: "close", By: by.Agent, StepID: issue.Step, WPID: issue.Package, Attempt: issue.Attempt}
	if open {
		m.Kind = "report"
		r.Result = w.result(issue.Step)
	}
	if r.Result != cursor.Success {
		r.Reason = "as the script has it"
	} else {
		if step.Executor != nil {
			r.Outcome = &cursor.Outcome{Result: cursor.Success}
			if step.Executor.Auto {
				m.Kind = "auto"
			}
		}
		if refusal := w.guards(step); refusal != nil {
			return refusal, nil
		}
	}
	m.Result = string(r.Result)
	refusal, err := w.commit(m, r)
	if refusal == nil && err == nil && open {
		w.reports[issue.Step]++
		if r.Result == cursor.Blocked {
			w.blocked[issue.Step] = true
		}
	}
	return refusal, err
}

// result is what the script says of the next report on a step.
func (w *walker) result(step string) cursor.Result {
	fails := w.script.Fail[step]
	switch {
	case fails == Always || w.reports[step] < fails:
		return cursor.Failed
	case w.script.Block[step] && !w.blocked[step]:
		return cursor.Blocked
	}
	return cursor.Success
}

// guards evaluates the guards that look at the run alone, and takes the others,
// and the executor before them, to agree.
func (w *walker) guards(step mission.Step) *cursor.Refusal {
	if e := step.Executor; e != nil {
		w.assume("executor %s of step %s succeeds and sets no input", e.Plugin, step.ID)
		w.executed = true
	}
	var failures []cursor.GuardFailure
	for _, g := range step.Guards {
		result, known := w.guard(step, g)
		if known && result.Verdict != guard.Allow {
			failures = append(failures, cursor.GuardFailure{Guard: result.Guard, Verdict: string(result.Verdict),
				Expected: result.Expected, Examined: result.Examined, Fix: result.Fix, Message: g.Message})
		}
	}
	if len(failures) == 0 {
		return nil
	}
	sentences := make([]string, len(failures))
	for i, f := range failures {
		sentences[i] = f.Sentence()
	}
	return &cursor.Refusal{Code: cursor.GuardRefused, Message: strings.Join(sentences, "; "), Guards: failures}
}

func (w *walker) guard(step mission.Step, g mission.Guard) (result guard.Result, known bool) {
	switch {
	case g.Artifact != nil:
		w.assume("guard artifact %s of step %s allows", g.Artifact.Path, step.ID)
	case g.Plugin != nil:
		w.assume("guard plugin %s of step %s allows", g.Plugin.Plugin, step.ID)
	case g.Command != "":
		w.assume("guard command %s of step %s allows", g.Command, step.ID)
	case g.Event != nil:
		w.assume("guard event %s of step %s allows", g.Event.Type, step.ID)
	case g.Input != "":
		if result = guard.Input(g.Input, w.s.Cursor.Inputs); result.Verdict == guard.Allow || !w.executed {
			return result, true
		}
		w.assume("guard input %s of step %s allows: an executor before it may set the input", g.Input, step.ID)
	case g.WorkPackages != nil:
		var at []guard.PackageAt
		for _, p := range w.f.Packages {
			at = append(at, guard.PackageAt{ID: p.ID, Lane: w.s.Lane(w.f, p.ID)})
		}
		return guard.WorkPackages(*g.WorkPackages, at), true
	}
	return guard.Result{}, false
}

func (w *walker) assume(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !w.assumed[text] {
		w.assumed[text] = true
		w.path.Assumed = append(w.path.Assumed, text)
	}
}

// answer answers a question as the script has it; without an answer there, with
// one that is accepted and leads on.
func (w *walker) answer(q cursor.Asking) error {
	m := Move{Kind: "answer", DecisionID: q.ID}
	values := w.script.Answers[q.ID]
	switch {
	case len(values) > 0:
		m.Answer = values[min(w.askings[q.ID], len(values)-1)]
	case len(q.Options) > 0:
		m.Answer, m.Assumed = q.Options[0], true
	default:
		m.Answer, m.Assumed = "simulated", true
	}
	give := cursor.Give{Human: person, Decision: q.ID, Token: q.Token, Value: m.Answer, Tokens: w.tokens()}
	if owner := w.s.Cursor.Inputs[cursor.OwnerInput]; owner != "" {
		give.Human = owner
	}
	give.Who = "human:" + give.Human
	m.By = give.Who
	refusal, err := w.commit(m, give)
	if refusal != nil {
		return refusal
	}
	w.askings[q.ID]++
	return err
}

// effects are what events come to, the moves of a package that follow one
// another as one.
func (w *walker) effects(events []cursor.Event) []Effect {
	all := []Effect{}
	for _, event := range events {
		one, ok := w.effect(event)
		last := len(all) - 1
		switch moved, isMove := event.(cursor.Moved); {
		case isMove && last >= 0 && all[last].Kind == "moved" && all[last].WPID == moved.Package:
			all[last].Text += ", " + string(moved.To)
		case ok:
			one.Options = append([]string{}, one.Options...)
			all = append(all, one)
		}
	}
	return all
}

func (w *walker) effect(event cursor.Event) (Effect, bool) {
	switch e := event.(type) {
	case cursor.Issued:
		return Effect{Kind: "handed_out", StepID: e.Step, WPID: e.Package,
			Text: fmt.Sprintf("to %s, attempt %d", e.Holder, e.Attempt)}, true
	case cursor.Moved:
		return Effect{Kind: "moved", WPID: e.Package, Text: string(e.From) + " to " + string(e.To)}, true
	case cursor.Asked:
		return Effect{Kind: "asked", DecisionID: e.ID, Text: e.Question, Options: e.Options}, true
	case cursor.Completed:
		return Effect{Kind: "completed", StepID: e.Step, Text: string(e.How)}, true
	case cursor.Stopped:
		return Effect{Kind: "stopped", StepID: e.Step, WPID: e.Package, Text: string(e.Stop) + ": " + e.Reason}, true
	case cursor.Reopened:
		var ids []string
		for _, pos := range e.Positions {
			ids = append(ids, w.steps[pos].ID)
		}
		return Effect{Kind: "reopened", Text: strings.Join(ids, ", ")}, true
	case cursor.Finished:
		return Effect{Kind: "finished", Text: string(w.s.Phase)}, true
	}
	return Effect{}, false
}
