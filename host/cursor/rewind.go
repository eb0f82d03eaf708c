package cursor

import (
	"strings"
	"time"
)

// NothingToRewind is the refusal of a rewind that would take nothing back.
const NothingToRewind Code = "nothing_to_rewind"

// Rewind puts a run back to where it stood after an earlier revision: the undo
// of what was completed by mistake, also of the last step. It hands out nothing;
// the history stays, and so do the packages, unless their lanes go back too.
type Rewind struct {
	Who    string
	Human  string // the person who says so, "": nobody did
	Reason string
	To     uint64 // the revision
	Step   string // whose completion is taken back; "": the revision was named
	Then   State  // the run after To, folded from its journal and carried over to the present definition
	Seen   Stamp  // the cursor when Then was made
	Lanes  string // PackagesDigest then, where lanes go back; "": they stay
	Tokens Tokens
}

// Kind implements the commit core's Transition.
func (t Rewind) Kind() string { return "rewind" }

// Actor implements the commit core's Transition.
func (t Rewind) Actor() string { return t.Who }

// PackagesDigest names one content of all packages.
func (s State) PackagesDigest() string { return digest(s.Packages) }

// Decide takes back what came after the revision, and asks again what was open
// then: each asking has a token of its own.
func (t Rewind) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if err := t.allowed(s, f); err != nil {
		return nil, err
	}
	d := newDraft(s, f, now, t, t.Tokens)
	e := Rewound{To: t.To, Step: t.Step, Cursor: t.Then.Cursor, Reason: t.Reason}
	e.Cursor.Count, e.Cursor.Issue, e.Cursor.Questions = 0, nil, nil
	if t.Lanes != "" {
		e.Packages = putBack(s, t.Then)
	}
	d.freeAll(t.Reason)
	d.emit(e)
	step, err := f.Def.Step(d.s.Cursor.Pos)
	if err != nil || step.ID != d.s.Cursor.Step {
		return nil, refuse(StalePlan, "the run goes by another definition than when this call read its journal: call again")
	}
	if d.s.Cursor.Stop == NoStop {
		d.ask(step)
	}
	for _, q := range t.Then.Cursor.Questions {
		d.question(q)
	}
	return d.done(nil)
}

// allowed wants a run that is not aborted, is as it was when its journal was
// read, and stood somewhere else at the revision.
func (t Rewind) allowed(s State, f Facts) error {
	switch {
	case s.Phase == Aborted:
		return refuse(RunAbortedCode, "the run was aborted: %s", s.Reason)
	case t.Reason == "":
		return refuse(Usage, "taking completed work back wants a reason")
	case t.Lanes != "" && s.SourceOf(f) == KittySpecs:
		return refuse(LanesReadOnly, "the packages lie where status.events.jsonl says: a rewind leaves them there")
	case t.Then.Run != s.Run || t.Seen != s.CursorStamp() || t.Lanes != "" && t.Lanes != s.PackagesDigest():
		return Base{Step: s.Cursor.Step}.moved(s, "the run")
	case t.To >= s.Revision:
		return refuse(NothingToRewind, "the run is at revision %d: name an earlier one", s.Revision)
	case t.Then.Phase != Running:
		return refuse(NothingToRewind, "after revision %d the run was over: name one before", t.To)
	case t.Human == "" && t.takesOwnerBack(s):
		return refuse(AuditNeedsHuman, "%s says who answers audits, and %s said who: a person takes that back, with --as human:NAME",
			InputID(OwnerInput), s.Cursor.Answers[InputID(OwnerInput)].By)
	}
	return nil
}

// takesOwnerBack tells whether a person's answer to who owns the mission would not
// hold any more.
func (t Rewind) takesOwnerBack(s State) bool {
	was, is := s.Cursor.Answers[InputID(OwnerInput)], t.Then.Cursor.Answers[InputID(OwnerInput)]
	return strings.HasPrefix(was.By, "human:") && (was.Value != is.Value || was.Token != is.Token)
}

// putBack are the packages that differ from what they were, as they were. One
// that was not touched then is as if it never had been.
func putBack(now, then State) map[string]Package {
	back := map[string]Package{}
	for id, p := range now.Packages {
		was := then.Packages[id].unbegun().atRest()
		if digest(p.atRest()) != digest(was) {
			back[id] = was
		}
	}
	return back
}

// unbegun takes the attempt back that is in hand.
func (p Package) unbegun() Package {
	if p.Issue != nil {
		p.Attempts = put(p.Attempts, p.Issue.Step, p.Issue.Attempt-1)
	}
	return p
}

// atRest is the package as it is with nobody.
func (p Package) atRest() Package {
	p.Count, p.Since, p.Holder, p.Issue = 0, time.Time{}, Holder{}, nil
	p.Logged, p.LoggedTo = 0, "" // a lane log is never put back
	return p
}

func (s State) rewound(m Meta, e Rewound) State {
	s = s.cleared()
	s.Phase, s.Reason, s.Receipts = Running, "", nil
	count := s.Cursor.Count
	s.Cursor = e.Cursor
	s.Cursor.Count, s.Cursor.Issue, s.Cursor.Questions = count, nil, nil
	for id, was := range e.Packages {
		s = s.with(id, func(p *Package) {
			was.Count, was.Since, was.Holder, was.Issue = p.Count, m.At, Holder{}, nil
			was.Logged, was.LoggedTo = p.Logged, p.LoggedTo
			*p = was
		})
	}
	return s.touched(m)
}
