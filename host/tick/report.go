package tick

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/worktree"
)

// Outcome is how a tick, or another verb, went.
type Outcome string

// The outcomes.
const (
	Done     Outcome = "done"     // what was asked for is done; of a tick: its run went well
	Skipped  Outcome = "skipped"  // on purpose: nothing was to be done
	Waiting  Outcome = "waiting"  // a person is asked
	Failed   Outcome = "failed"   // the run failed
	Halted   Outcome = "halted"   // the loop is halted by this tick
	Canceled Outcome = "canceled" // the run was ended by an operator or a signal
	Lost     Outcome = "lost"     // the claim was taken from this tick; it wrote nothing more
	Refused  Outcome = "refused"  // the loop's state does not allow it; nothing was written
)

// Report is what a verb of a loop answers.
type Report struct {
	Schema     int       `json:"schema"`
	Loop       string    `json:"loop"`
	Outcome    Outcome   `json:"outcome"`
	Reason     string    `json:"reason"`
	ReasonCode string    `json:"reason_code"`
	Token      *uint64   `json:"token"` // null: no run is concerned
	Revision   uint64    `json:"revision"`
	Warnings   []Warning `json:"warnings"`
}

// Warning is something that went wrong and changed no outcome.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ReportSchema is the version of the documents of loops.
const ReportSchema = 1

func (o *opened) report(outcome Outcome, code, reason string) Report {
	r := Report{Schema: ReportSchema, Loop: o.name, Outcome: outcome, ReasonCode: code, Reason: reason, Revision: o.state.Revision, Warnings: []Warning{}}
	if o.state.Token > 0 {
		token := o.state.Token
		r.Token = &token
	}
	return r
}

// Good tells whether a tick ended as it should: exit code 0.
func (r Report) Good() bool {
	return r.Outcome == Done || r.Outcome == Skipped || r.Outcome == Waiting
}

// told makes a report of the events of a commit: what became of the loop.
func (o *opened) told(events []loop.Event) Report {
	report := o.report(Done, "done", "")
	for _, e := range events {
		switch e := e.(type) {
		case loop.Ended:
			report = o.ended(e)
			token := e.Token
			report.Token = &token
		case loop.Skipped:
			report.Outcome, report.ReasonCode, report.Reason = Skipped, string(e.Reason), cmp.Or(e.Detail, string(e.Reason))
		case loop.HaltSet:
			report.Outcome, report.ReasonCode, report.Reason = Halted, string(e.Code), cmp.Or(e.Detail, string(e.Code))
		case loop.GoalMet:
			report.Reason = fmt.Sprintf("run %d met the goal: the loop is done", e.Token)
		}
	}
	return report
}

func (o *opened) ended(e loop.Ended) Report {
	switch e.Result {
	case loop.EndSuccess:
		text := fmt.Sprintf("run %d went well", e.Token)
		if e.Progress == loop.Stuck {
			text += " and changed nothing"
		}
		if e.Detail != "" {
			text += "; " + e.Detail
		}
		return o.report(Done, "success", text)
	case loop.EndClosed:
		return o.report(Skipped, string(loop.SkipGate), cmp.Or(e.Detail, "the gate is closed"))
	case loop.EndAsked:
		return o.report(Waiting, string(loop.SkipWaiting), "a person is asked "+e.Detail)
	case loop.EndCanceled:
		return o.report(Canceled, string(loop.EndCanceled), e.Detail)
	}
	return o.report(Failed, cmp.Or(e.Why, string(e.Result)), cmp.Or(e.Detail, string(e.Result)))
}

// warn notes the warnings of a commit.
func (r *Report) warn(from []commit.Warning) {
	for _, w := range from {
		r.Warnings = append(r.Warnings, Warning{w.Code, w.Message})
	}
}

// lost is the report of a tick whose claim is not its own any more.
func (o *opened) lost(err error) (Report, error) {
	refusal := new(loop.Refusal)
	switch {
	case errors.Is(err, errGone), gone(err):
		return Report{}, &GoneError{o.name}
	case errors.As(err, &refusal):
		return o.report(Lost, string(refusal.Code), refusal.Message), nil
	case errors.Is(err, errOvertaken):
		return o.report(Lost, string(loop.StaleToken), err.Error()), nil
	}
	return Report{}, err
}

// Refusal makes a report of what kept a verb from being done; ok is false for an
// error that is none of the loop's.
func Refusal(name string, err error) (r Report, ok bool) {
	r = Report{Schema: ReportSchema, Loop: name, Outcome: Refused, Warnings: []Warning{}}
	refusal, gone, timeout, uncertain := new(loop.Refusal), new(GoneError), new(commit.LockTimeoutError), new(commit.UncertainError)
	switch {
	case errors.As(err, &refusal):
		r.ReasonCode, r.Reason = string(refusal.Code), refusal.Message
	case errors.As(err, &gone):
		r.ReasonCode, r.Reason = LoopGone, gone.Error()
	case errors.As(err, &timeout):
		r.ReasonCode, r.Reason = LockTimeout, timeout.Error()
	case errors.As(err, &uncertain):
		r.ReasonCode, r.Reason = CommitUncertain, uncertain.Error()
	case errors.As(err, new(*worktree.UnsyncedError)):
		r.ReasonCode, r.Reason = CommitUncertain, err.Error()
	case gitCode(err) != "":
		r.ReasonCode, r.Reason = gitCode(err), err.Error()
	default:
		return r, false
	}
	return r, true
}

// Codes of refusals that are not the state machine's.
const (
	LoopGone        = "loop_gone"
	LockTimeout     = "lock_timeout"
	CommitUncertain = "commit_uncertain"
)
