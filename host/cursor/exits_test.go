package cursor

import (
	"errors"
	"slices"
	"strings"
)

// way says how a state can be left.
type way int

const (
	noExit     way = iota // by an abort alone
	bySkipping            // by a skip or a release: something is taken away
	byWork                // by an ask, a report, an answer or a retry
	over                  // it is final
)

// exit looks for a transition that changes the state, the mild ones first (P4).
func (r *run) exit() way {
	if r.s.Phase != Running {
		return over
	}
	if slices.ContainsFunc(r.mild(), r.changes) {
		return byWork
	}
	if slices.ContainsFunc(r.harsh(), r.changes) {
		return bySkipping
	}
	return noExit
}

func (r *run) changes(x transition) bool {
	events, err := x.Decide(r.s, r.f, clock(len(r.log)))
	return err == nil && len(events) > 0
}

func (r *run) mild() []transition {
	var all []transition
	for _, i := range r.s.Issues() {
		name := i.Holder.Agent
		if i.Holder.Worker != "" {
			name += "/" + i.Holder.Worker
		}
		for _, result := range []Result{Success, Failed, Blocked} {
			all = append(all, r.on(name, i.Token, result))
		}
	}
	for _, q := range r.s.Cursor.Questions {
		value := "x"
		if len(q.Options) > 0 {
			value = q.Options[0]
		}
		all = append(all, Give{Who: "human:a", Human: "a", Decision: q.ID, Token: q.Token, Value: value, Tokens: r.tokens()})
	}
	names := append([]string{"zed"}, holders()...)
	for _, p := range r.f.Packages {
		if r.s.keptBack(r.f, p.ID) {
			holder := r.s.laneHolder(r.f, p.ID)
			names = append(names, strings.TrimSuffix(holder.Agent+"/"+holder.Worker, "/"))
		}
	}
	for _, name := range names {
		all = append(all, r.asking(name))
	}
	all = append(all, r.closing("zed"), Retry{Who: "ops", Tokens: r.tokens()})
	for _, p := range r.f.Packages {
		all = append(all, Retry{Who: "ops", Package: p.ID, Tokens: r.tokens()})
	}
	return all
}

func (r *run) harsh() []transition {
	all := []transition{Skip{Who: "ops", Step: r.s.Cursor.Step, Reason: "r", Tokens: r.tokens()}}
	for _, p := range r.f.Packages {
		all = append(all, Release{Who: "ops", Package: p.ID, Reason: "r"}, ReleasePackage{Who: "ops", Package: p.ID, Reason: "r"})
	}
	return all
}

// agrees wants that a query and an ask by the same holder tell the same: the
// step, the package, the refusal (field cases 09 and 31); a claim gets the
// same package.
func (r *run) agrees() {
	r.t.Helper()
	for _, name := range append([]string{"zed"}, holders()...) {
		r.agreesFor(name)
	}
	if _, err := At(r.s, r.f, Holder{}); err != nil {
		r.t.Fatalf("nobody's situation: %v", err)
	}
}

func (r *run) agreesFor(name string) {
	r.t.Helper()
	here, err := At(r.s, r.f, who(name))
	if err != nil {
		r.t.Fatalf("At: %v", err)
	}
	events, err := r.asking(name).Decide(r.s, r.f, clock(len(r.log)))
	var code Code
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
		code = refusal.Code
	} else if err != nil {
		r.t.Fatalf("ask: %v", err)
	}
	given, asked := handedOut(events)
	fits := false
	switch here.Standing {
	case AtOffer:
		fits = asked || given != nil && given.Step == here.Step && given.Package == here.Package
	case AtStop:
		fits = code == here.Why.Code && len(events) == 0
	case AtClose:
		fits = code == StalePlan && r.changes(r.closing(name))
	case AtWork:
		fits = err == nil && len(events) == 0 && *here.Issue == r.s.Held(who(name))[0]
	case AtQuestion, AtEnd:
		fits = err == nil && len(events) == 0
	}
	if fits && here.Standing == AtOffer && here.Package != "" && !asked {
		fits = r.claims(name, "", here) && r.claims(name, here.Package, here)
	}
	if !fits {
		r.t.Fatalf("%s is told %+v and, asking, gets %v and %v", name, here, kinds(events), err)
	}
}

// claims tells whether a claim is given what a query shows.
func (r *run) claims(name, id string, here Situation) bool {
	events, err := Claim{Who: name, By: who(name), Package: id, Tokens: r.tokens()}.Decide(r.s, r.f, clock(len(r.log)))
	given, _ := handedOut(events)
	return err == nil && given != nil && given.Step == here.Step && given.Package == here.Package
}

// handedOut is the work that events hand out, or that they ask a question.
func handedOut(events []Event) (given *Issued, asked bool) {
	for _, e := range events {
		switch e := e.(type) {
		case Issued:
			given = &e
		case Asked:
			asked = true
		}
	}
	return given, asked
}
