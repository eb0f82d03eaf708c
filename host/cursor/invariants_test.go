package cursor

import (
	"encoding/json"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spec-kitty/step-runner/host/mission"
)

// check is what must hold of every commit, whatever was decided.
func (r *run) check(x transition, meta Meta, events []Event, next State) {
	r.t.Helper()
	r.published(meta, events, next)
	r.tokensAreNew(events)
	r.completesOnce(events)
	r.issuesFit(next)
	r.movesFit(x, events)
	if report, ok := x.(Report); ok {
		r.relied(report, events, next)
	}
	if next.Revision != meta.Revision {
		r.t.Fatalf("revision %d after commit %d", next.Revision, meta.Revision)
	}
}

// published wants that what is written comes back: events by their kinds, and
// the state as JSON.
func (r *run) published(meta Meta, events []Event, next State) {
	r.t.Helper()
	var back []Event
	for _, e := range events {
		raw, err := EncodeEvent(e)
		if err != nil {
			r.t.Fatalf("encode %s: %v", e.kind(), err)
		}
		decoded, err := DecodeEvent(raw)
		if err != nil {
			r.t.Fatalf("decode %s: %v", raw, err)
		}
		back = append(back, decoded)
	}
	if diff := cmp.Diff(next, fold(r.s, meta, back), cmpopts.EquateEmpty()); diff != "" {
		r.t.Fatalf("read back, the events fold to another state:\n%s", diff)
	}
	var view State
	raw := encoded(r.t, next)
	if err := json.Unmarshal([]byte(raw), &view); err != nil {
		r.t.Fatalf("view: %v", err)
	}
	if diff := cmp.Diff(next, view, cmpopts.EquateEmpty()); diff != "" {
		r.t.Fatalf("the view is another state:\n%s", diff)
	}
	if again := encoded(r.t, view); again != raw {
		r.t.Fatalf("the view's view differs:\n%s\n%s", raw, again)
	}
}

func (r *run) tokensAreNew(events []Event) {
	r.t.Helper()
	for _, e := range events {
		token := ""
		switch e := e.(type) {
		case Issued:
			token = e.Token
		case Asked:
			token = e.Token
		default:
			continue
		}
		if token == "" || r.known[token] {
			r.t.Fatalf("%s has the token %q, which is empty or was used before", e.kind(), token)
		}
		r.known[token] = true
	}
}

func (r *run) completesOnce(events []Event) {
	r.t.Helper()
	done := r.s.Cursor.Done
	for _, e := range events {
		switch e := e.(type) {
		case Completed:
			if done.Has(e.Pos) {
				r.t.Fatalf("step %s is completed twice", e.Step)
			}
			done = done.With(e.Pos)
		case Rewound:
			done = e.Cursor.Done
		case Migrated:
			done = e.Done
		case Reopened:
			for _, pos := range e.Positions {
				done = done.Without(pos)
			}
		}
	}
}

// issuesFit wants at most one issue for a package and one for a step, each of
// them at a place where it can be worked on.
func (r *run) issuesFit(s State) {
	r.t.Helper()
	if s.Phase != Running {
		if len(s.Issues()) > 0 || len(s.Cursor.Questions) > 0 {
			r.t.Fatalf("a run that is %s has work or questions: %+v", s.Phase, s)
		}
		return
	}
	current, err := r.f.Def.Step(s.Cursor.Pos)
	if err != nil || current.ID != s.Cursor.Step {
		r.t.Fatalf("the cursor stands nowhere: %+v, %v", s.Cursor, err)
	}
	if i := s.Cursor.Issue; i != nil && (i.Package != "" || i.Step != current.ID || current.Packages != nil || s.Cursor.Stop != NoStop) {
		r.t.Fatalf("the step's issue does not fit: %+v", i)
	}
	lenders, err := rules(r.f.Def, s.Cursor.Pos)
	if err != nil {
		r.t.Fatalf("%v", err)
	}
	for id, p := range s.Packages {
		if p.Issue == nil {
			continue
		}
		inForce := slices.ContainsFunc(lenders, func(o Offer) bool { return o.Step.ID == p.Issue.Step })
		if p.Issue.Package != id || p.Stop != NoStop || !inForce {
			r.t.Fatalf("package %s has an issue that does not fit step %s: %+v", id, current.ID, p)
		}
	}
}

// movesFit wants every move along an edge from where the package lies, or
// forced; and of the verbs about packages that they complete nothing and end no
// issue that they may not.
func (r *run) movesFit(x transition, events []Event) {
	r.t.Helper()
	lanes := map[string]mission.Lane{}
	for _, p := range r.f.Packages {
		lanes[p.ID] = r.s.lane(r.f, p.ID)
	}
	for _, e := range events {
		switch e := e.(type) {
		case Moved:
			from, ok := lanes[e.Package]
			if ok && from != e.From || e.From != e.To && !e.Force && !mission.CanMove(e.From, e.To) || e.Force && e.Reason == "" {
				r.t.Fatalf("%s moved %s, which lies in %s: %+v", x.Kind(), e.Package, from, e)
			}
			lanes[e.Package] = e.To
		case Completed, Reopened, Finished, Reported:
			switch x.(type) {
			case Claim, Move, ReleasePackage:
				r.t.Fatalf("%s made %s", x.Kind(), e.kind())
			}
		case Released:
			if move, ok := x.(Move); ok && !move.Force && move.Token != e.Token {
				r.t.Fatalf("%+v ended issue %s", move, e.Token)
			}
		}
	}
}

// relied wants of an accepted report that its token was open, that nothing it
// relied on had changed, and that it touched its own package only, apart from
// the work that it hands out.
func (r *run) relied(report Report, events []Event, next State) {
	r.t.Helper()
	if report.Base.Issue == "" {
		return
	}
	issue, open := r.s.Issue(report.Base.Issue)
	if !open {
		r.t.Fatalf("a report on %s was accepted, which is not open", report.Base.Issue)
	}
	if now := BaseOf(r.s, r.f, issue, true); issue.Package == "" && *now.Cursor != *report.Base.Cursor ||
		issue.Package != "" && *now.Package != *report.Base.Package {
		r.t.Fatalf("a report was accepted on another ground than it was planned on: %+v, %+v", report.Base, now)
	}
	if issue.Package == "" {
		return
	}
	touched := []string{issue.Package}
	for _, e := range events {
		if e, ok := e.(Issued); ok {
			touched = append(touched, e.Package)
		}
	}
	for id := range next.Packages {
		if !slices.Contains(touched, id) && !cmp.Equal(r.s.Packages[id], next.Packages[id]) {
			r.t.Fatalf("a report on %s changed %s", issue.Package, id)
		}
	}
}
