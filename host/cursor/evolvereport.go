package cursor

import "maps"

func (s State) reported(m Meta, e Reported) State {
	s = s.ended(m, e.Token).remember(Receipt{Holder: e.By, Token: e.Token, Result: e.Result, Plan: e.Plan})
	if len(e.Artifacts) > 0 {
		s.Unpublished = &Unpublished{Revision: m.Revision, Paths: paths(e.Artifacts)}
	}
	if e.Package != "" {
		return s.with(e.Package, func(p *Package) { p.reported(e) })
	}
	s.Cursor.Feedback, s.Cursor.Handover = feedback(e), e.Prompt
	if e.outcome() == Failed {
		s.Cursor.Failures++
	}
	return s.touched(m)
}

// settled ends what was left to be made of a record. No part that a plan relies
// on changes by it.
func (s State) settled(revision uint64) State {
	if s.Unpublished != nil && s.Unpublished.Revision == revision {
		s.Unpublished = nil
	}
	return s
}

// reported counts. A rejection and a question use no attempt: the same one goes
// on. Failures are those since the last success, so that rework after a
// rejection has all its retries again.
func (p *Package) reported(e Reported) {
	p.Feedback, p.Handover = feedback(e), e.Prompt
	switch {
	case e.Rejection || e.outcome() == Question:
		p.Attempts = put(p.Attempts, e.Step, p.Attempts[e.Step]-1)
	case e.outcome() == Failed:
		p.Failures = put(p.Failures, e.Step, p.Failures[e.Step]+1)
	case e.outcome() == Success:
		p.Failures = maps.Clone(p.Failures)
		delete(p.Failures, e.Step)
	}
}

// outcome is the result that counted.
func (e Reported) outcome() Result {
	if e.Outcome != "" {
		return e.Outcome
	}
	return e.Result
}

// feedback is what the next attempt's prompt shows of a report.
func feedback(e Reported) string {
	if e.outcome() == Success {
		return ""
	}
	return e.Reason
}
