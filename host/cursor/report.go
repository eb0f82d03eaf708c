package cursor

import (
	"strings"
	"time"
)

// Policy is what the project's configuration says of reports.
type Policy struct {
	AnyHolder bool `json:"any_holder,omitempty"` // holder = "any": a step, not a package, may be reported by anybody
}

// Outcome is what a step's executor made of a success.
type Outcome struct {
	Result   Result            `json:"result"` // success, failed, blocked or question
	Reason   string            `json:"reason,omitempty"`
	Inputs   map[string]string `json:"inputs,omitempty"`
	Prompt   string            `json:"prompt,omitempty"`
	Notes    []string          `json:"notes,omitempty"`
	Question *Asking           `json:"question,omitempty"` // with result question; its token is set here

	Artifacts []Artifact `json:"artifacts,omitempty"` // with result success
}

// Report reports on an issue, or, where Base names none, for a whole package
// step that has nothing left to offer.
type Report struct {
	Who     string          `json:"who"` // the actor, for the record
	By      Holder          `json:"by"`
	Token   string          `json:"token,omitempty"` // as the caller gave it
	Base    Base            `json:"base"`
	Result  Result          `json:"result"`
	Reason  string          `json:"reason,omitempty"`
	Outcome *Outcome        `json:"outcome,omitempty"` // nil: the step has no executor
	Guards  []GuardEvidence `json:"guards,omitempty"`
	Calls   []Call          `json:"calls,omitempty"`
	Plan    string          `json:"plan,omitempty"` // id of the saved plan that this is
	Policy  Policy          `json:"policy"`
	Tokens  Tokens          `json:"tokens"`
}

// Kind implements the commit core's Transition.
func (r Report) Kind() string { return "advance" }

// Actor implements the commit core's Transition.
func (r Report) Actor() string { return r.Who }

// Decide compares the token, then what the plan relied on, and only then lets
// the report take effect. No events: the report repeats one that was accepted.
func (r Report) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if err := r.valid(); err != nil {
		return nil, err
	}
	if repeated, err := r.repeats(s); repeated || err != nil {
		return nil, err
	}
	if s.Phase == Aborted {
		return nil, refuse(RunAbortedCode, "the run was aborted: %s", s.Reason)
	}
	d := newDraft(s, f, now, r, r.Tokens)
	return d.done(r.apply(d))
}

// valid refuses what no caller can mean: an executor runs after a success only,
// and gives a question when it says that it has one.
func (r Report) valid() error {
	switch {
	case r.By.IsZero():
		return refuse(Usage, "a report names who makes it")
	case r.Result != Success && r.Result != Failed && r.Result != Blocked:
		return refuse(Usage, "%q cannot be reported: use success, failed or blocked", r.Result)
	case r.Token != "" && r.Token != r.Base.Issue:
		return refuse(StaleToken, "token %s is not the one that the plan was made for", r.Token)
	case r.Outcome == nil:
		return nil
	case r.Result != Success:
		return refuse(Usage, "an executor judges a success only, not %s", r.Result)
	}
	if len(r.Outcome.Artifacts) > 0 && r.Outcome.Result != Success {
		return refuse(Usage, "an executor leaves artifacts with a success only, not with %s", r.Outcome.Result)
	}
	switch r.Outcome.Result {
	case Success, Failed, Blocked:
		return nil
	case Question:
		if r.Outcome.Question != nil {
			return nil
		}
		return refuse(Usage, "the executor has a question and does not say which")
	}
	return refuse(Usage, "an executor cannot end with %q", r.Outcome.Result)
}

func (r Report) apply(d *draft) error {
	if r.Base.Issue == "" {
		return r.stepItself(d)
	}
	issue, err := r.resolve(d.s)
	if err != nil {
		return err
	}
	if !r.Base.covers(issue) {
		return refuse(StalePlan, "the plan does not say what it relied on: ask again")
	}
	if err := r.ground(d); err != nil {
		return err
	}
	if issue.Package != "" {
		return r.packageReport(d, issue)
	}
	if open := d.s.Cursor.Questions; len(open) > 0 && r.Result == Success {
		return refuse(DecisionNeeded, "step %s is closed by an open question: %s", issue.Step, strings.Join(ids(open), ", "))
	}
	return r.stepReport(d, issue)
}

// ground compares what the plan relied on: the run first, then what would be
// overwritten, then what was read.
func (r Report) ground(d *draft) error {
	if err := r.Base.check(d.s, d.f); err != nil {
		return err
	}
	if r.Outcome != nil {
		if err := overwrites(r.Outcome.Artifacts, d.f.Digests); err != nil {
			return err
		}
	}
	return r.Base.facts(d.f)
}

// repeats tells whether the report is the last one that its holder made with
// this token. A saved plan is repeated only as itself: two plans made of one
// issue are two reports, and the second one is late.
func (r Report) repeats(s State) (bool, error) {
	last, ok := s.Receipt(r.By)
	switch {
	case !ok || last.Token != r.Base.Issue:
		return false, nil
	case r.Plan != "":
		return last.Plan == r.Plan, nil
	case r.Token == "":
		return false, nil
	}
	if last.Result != r.Result {
		return false, refuse(AlreadyReported, "token %s was reported as %s already: a report is not changed afterwards", last.Token, last.Result)
	}
	return true, nil
}

// resolve finds the issue that the report is on. One that was open at the first
// read and is not any more was taken by somebody else meanwhile.
func (r Report) resolve(s State) (Issue, error) {
	issue, open := s.Issue(r.Base.Issue)
	switch {
	case !open && r.Base.Open:
		return Issue{}, r.Base.moved(s, "what was handed out")
	case !open:
		return Issue{}, refuse(StaleToken, "token %s is not open in this run: what it was for is over, or was handed out again", r.Base.Issue)
	case r.Token == "" && r.Plan == "" && issue.Holder != r.By && (issue.Package != "" || !r.Policy.AnyHolder):
		return Issue{}, notHolder(issue)
	}
	return issue, nil
}

func notHolder(issue Issue) *Refusal {
	what := "step " + issue.Step
	if issue.Package != "" {
		what = "package " + issue.Package
	}
	refusal := refuse(NotHolder, "%s is handed out to %s since %s", what, issue.Holder, issue.Since.UTC().Format(time.RFC3339))
	refusal.Holder, refusal.Since = issue.Holder, issue.Since
	return refusal
}

// reported is the event that ends the issue.
func (r Report) reported(issue Issue) Reported {
	e := Reported{
		Token: issue.Token, Step: issue.Step, Package: issue.Package,
		Result: r.Result, Reason: r.Reason, By: r.By, Plan: r.Plan, Guards: r.Guards, Calls: r.Calls,
	}
	if o := r.Outcome; o != nil {
		e.Prompt, e.Notes, e.Artifacts = o.Prompt, o.Notes, o.Artifacts
		if o.Result != r.Result {
			e.Outcome, e.Reason = o.Result, o.Reason
		}
	}
	return e
}

// outcome is the result that counts: the executor's, where one ran.
func (r Report) outcome() Result {
	if r.Outcome != nil {
		return r.Outcome.Result
	}
	return r.Result
}

func (r Report) reason() string {
	if r.Outcome != nil && r.Outcome.Result != r.Result {
		return r.Outcome.Reason
	}
	return r.Reason
}

func (r Report) stepReport(d *draft, issue Issue) error {
	step, err := d.f.Def.Step(issue.Pos)
	if err != nil {
		return err
	}
	d.emit(r.reported(issue))
	switch r.outcome() {
	case Success:
		r.setInputs(d)
		if err := d.complete(BySuccess, r.Reason); err != nil {
			return err
		}
		return d.handOut(r.By)
	case Question:
		d.question(*r.Outcome.Question)
	case Failed:
		if d.s.Cursor.Failures <= step.Retry {
			d.emit(Issued{Token: d.token(), Pos: issue.Pos, Step: issue.Step, Attempt: issue.Attempt + 1, Holder: r.By})
			return nil
		}
		d.emit(Stopped{Step: issue.Step, Stop: Failure, Reason: r.reason()})
	default:
		d.emit(Stopped{Step: issue.Step, Stop: Block, Reason: r.reason()})
	}
	return nil
}

func (r Report) setInputs(d *draft) {
	if r.Outcome != nil && len(r.Outcome.Inputs) > 0 {
		d.emit(InputsSet{Inputs: r.Outcome.Inputs})
	}
}
