package cursor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Standing is what a run has for somebody at one moment.
type Standing string

// The standings.
const (
	AtWork     Standing = "work"     // work is handed out to them
	AtQuestion Standing = "question" // a question comes first
	AtOffer    Standing = "offer"    // asking would hand out Step, or Package
	AtClose    Standing = "close"    // a package step that its own report completes
	AtStop     Standing = "stop"     // nothing for them; Why says what would change that
	AtEnd      Standing = "end"      // the run is done or canceled
)

// Situation is what a run has for a holder, and which step and package that is.
// Queries and reports are answered from it alike, so they name the same.
type Situation struct {
	Standing Standing
	Issue    *Issue   // what they work on; what somebody else has, where that is why they are stuck
	Step     string   // the step whose rules hold for the work
	Package  string   // "" where the work is a step
	Why      *Refusal // with AtStop
}

// At is the situation of a holder. Nobody's situation is that of whoever holds
// the only open issue, else of a newcomer.
func At(s State, f Facts, by Holder) (Situation, error) {
	here := Situation{Step: s.Cursor.Step}
	switch s.Phase {
	case Done, Canceled:
		here.Standing = AtEnd
		return here, nil
	case Aborted:
		return here.stuck(refuse(RunAbortedCode, "the run was aborted: %s", s.Reason)), nil
	}
	if own := s.theirs(by); own != nil {
		if own.Package == "" && len(s.Cursor.Questions) > 0 { // a migration opened one on work in hand
			return Situation{Standing: AtQuestion, Issue: own, Step: own.Step}, nil
		}
		return Situation{Standing: AtWork, Issue: own, Step: own.Step, Package: own.Package}, nil
	}
	switch {
	case s.Cursor.Stop != NoStop:
		return here.stuck(stopRefusal(s.Cursor.Stop, "step "+s.Cursor.Step, s.Cursor.Reason)), nil
	case len(s.Cursor.Questions) > 0:
		here.Standing = AtQuestion
		return here, nil
	case s.Cursor.Issue != nil:
		here.Issue = s.Cursor.Issue
		return here.stuck(notHolder(*s.Cursor.Issue)), nil
	}
	step, err := f.Def.Step(s.Cursor.Pos)
	if err != nil {
		return here, err
	}
	if step.Packages == nil {
		here.Standing = AtOffer
		return here, nil
	}
	return s.atPackages(f, by, step, here)
}

func (s State) theirs(by Holder) *Issue {
	held := s.Held(by)
	if by.IsZero() {
		held = s.Issues()
		if len(held) > 1 {
			return nil
		}
	}
	if len(held) == 0 {
		return nil
	}
	return &held[0]
}

func (here Situation) stuck(why *Refusal) Situation {
	here.Standing, here.Why = AtStop, why
	return here
}

func (s State) atPackages(f Facts, by Holder, step mission.Step, here Situation) (Situation, error) {
	if must, err := s.mustAsk(f); must || err != nil {
		here.Standing = AtOffer // asking for work opens the question
		return here, err
	}
	o, ok, err := s.offer(f, by)
	switch {
	case err != nil:
		return here, err
	case ok:
		return Situation{Standing: AtOffer, Step: o.Step.ID, Package: o.Package.ID}, nil
	case !s.held() && s.until(f, step.Packages):
		here.Standing = AtClose
		return here, nil
	}
	return here.stuck(s.whyWaiting(f, by, step)), nil
}

// whyWaiting says what each package that keeps the step open waits for. Where
// nobody works on any and one is stopped, that is the reason.
func (s State) whyWaiting(f Facts, by Holder, step mission.Step) *Refusal {
	if len(f.Packages) == 0 && len(f.Lost) == 0 {
		return refuse(Waiting, "the mission has no work packages yet (tasks/WP*.md in its folder), and step %s waits for some", step.ID)
	}
	code, holder, since := Waiting, Holder{}, time.Time{}
	var parts []string
	for _, i := range s.Issues() {
		holder, since = i.Holder, i.Since
	}
	stranded, _ := s.Stranded(f) // its errors were those of the offer before
	for _, p := range s.unmet(f, step.Packages) {
		parts = append(parts, s.waits(f, by, step, p, stranded))
		switch own := s.Packages[p.ID]; {
		case own.Stop == Failure:
			code = StepFailed
		case own.Stop == Block && code == Waiting:
			code = StepBlocked
		}
	}
	if s.held() {
		code = Waiting
	}
	for _, at := range stranded {
		if at.WaitFor != "" {
			parts = append(parts, at.why(step.ID))
		}
	}
	if len(parts) == 0 {
		for _, i := range s.Issues() {
			parts = append(parts, fmt.Sprintf("%s is with %s since %s", i.Package, i.Holder, i.Since.UTC().Format(time.RFC3339)))
		}
	}
	refusal := refuse(code, "nothing to hand out at step %s: %s", step.ID, strings.Join(parts, "; "))
	refusal.Holder, refusal.Since = holder, since
	return refusal
}

// waits says what one package waits for.
func (s State) waits(f Facts, by Holder, step mission.Step, p PackageFact, stranded []Stranded) string {
	own, lane := s.Packages[p.ID], s.lane(f, p.ID)
	holder := s.HolderOf(f, p.ID)
	switch deps := s.waitsFor(f, p); {
	case own.Issue != nil:
		return fmt.Sprintf("%s is with %s since %s", p.ID, own.Issue.Holder, own.Issue.Since.UTC().Format(time.RFC3339))
	case own.Stop != NoStop:
		return fmt.Sprintf("%s %s: %s", p.ID, stopWord(own.Stop), own.Reason)
	case f.isLost(p.ID):
		return fmt.Sprintf("%s was worked on, lies in lane %s, and has no file in tasks/ any more: put the file back, or move it to canceled with --force and a reason", p.ID, lane)
	case s.astray(f, p.ID, by) != "":
		return s.astray(f, p.ID, by)
	case len(deps) > 0:
		return fmt.Sprintf("%s waits for %s", p.ID, strings.Join(deps, ", "))
	case !holder.IsZero() && holder != by:
		return fmt.Sprintf("%s lies in lane %s with %s", p.ID, lane, holder)
	}
	if i := slices.IndexFunc(stranded, func(at Stranded) bool { return at.Package == p.ID }); i >= 0 {
		return stranded[i].why(step.ID)
	}
	if s.selfReview(f, step, p, by) && !by.IsZero() {
		return fmt.Sprintf("%s waits for somebody other than its author %s", p.ID, s.AuthorOf(f, p.ID))
	}
	return fmt.Sprintf("%s lies in lane %s", p.ID, lane)
}

func stopWord(stop Stop) string {
	if stop == Block {
		return "is blocked"
	}
	return string(stop)
}

func stopRefusal(stop Stop, what, reason string) *Refusal {
	if reason == "" {
		reason = "no reason was given"
	}
	switch stop {
	case Block:
		return refuse(StepBlocked, "%s is blocked: %s", what, reason)
	case Rejected:
		return refuse(AuditRejected, "%s was %s", what, reason)
	}
	return refuse(StepFailed, "%s failed: %s", what, reason)
}

// Refusal is what somebody who asks for work in this situation is told; nil
// where they are given something, asked something, or the run is over.
func (here Situation) Refusal() error {
	switch {
	case here.Standing == AtClose:
		return refuse(StalePlan, "the last package was finished after this call began: ask again")
	case here.Why == nil:
		return nil
	}
	return here.Why
}
