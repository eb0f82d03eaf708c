package cursor

import (
	"slices"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Offer is a package that a holder would be handed, and the step whose rule it
// would be worked on by: with also, a step other than the current one.
type Offer struct {
	Pos     int
	Step    mission.Step
	Package PackageFact
}

// rules are the package rules in force at a step, in the order in which they
// offer: the steps that also names, then its own.
func rules(def mission.View, pos int) ([]Offer, error) {
	own, err := def.Step(pos)
	if err != nil || own.Packages == nil {
		return nil, err
	}
	var lent []Offer
	for _, id := range own.Packages.Also {
		at, ok, err := def.Position(id)
		if err != nil || !ok {
			return nil, err
		}
		step, err := def.Step(at)
		if err != nil {
			return nil, err
		}
		if step.Packages != nil {
			lent = append(lent, Offer{Pos: at, Step: step})
		}
	}
	return append(lent, Offer{Pos: pos, Step: own}), nil
}

// offer is the package that a holder would be handed at the current step: one
// that they hold already without its being handed out, else the first.
func (s State) offer(f Facts, by Holder) (Offer, bool, error) {
	lenders, err := rules(f.Def, s.Cursor.Pos)
	if err == nil {
		err = f.Fault
	}
	if err != nil {
		return Offer{}, false, err
	}
	first, found := Offer{}, false
	for _, o := range lenders {
		for _, p := range f.Packages {
			theirs := !by.IsZero() && s.HolderOf(f, p.ID) == by
			if (found && !theirs) || !s.offered(f, o.Step, p, by) {
				continue
			}
			first, found = Offer{Pos: o.Pos, Step: o.Step, Package: p}, true
			if theirs {
				return first, true, nil
			}
		}
	}
	return first, found, nil
}

// offered tells whether a step's rule offers a package to a holder: its lane is
// one to take from, or one that taking leads to while nobody or the asker holds
// it; nobody was handed it; nothing it depends on is unfinished.
func (s State) offered(f Facts, step mission.Step, p PackageFact, by Holder) bool {
	own := s.Packages[p.ID]
	if own.Issue != nil || own.Stop != NoStop || len(s.waitsFor(f, p)) > 0 {
		return false
	}
	if s.selfReview(f, step, p, by) || s.astray(f, p.ID, by) != "" {
		return false
	}
	lane := s.lane(f, p.ID)
	if slices.Contains(step.Packages.Take, lane) {
		return true
	}
	holder := s.HolderOf(f, p.ID)
	return taking(step.Packages, lane) && (holder.IsZero() || holder.covers(by))
}

// taking tells whether a lane lies on the way that handing out takes.
func taking(rule *mission.PackageRule, lane mission.Lane) bool {
	for _, from := range rule.Take {
		if path, ok := mission.Path(from, rule.Claim); ok && slices.Contains(path, lane) {
			return true
		}
	}
	return false
}

// selfReview tells whether the step would have an author approve own work
// without being allowed to.
func (s State) selfReview(f Facts, step mission.Step, p PackageFact, by Holder) bool {
	author := s.AuthorOf(f, p.ID)
	return step.Packages.Success.Satisfies() && !step.Packages.SelfReview &&
		!author.IsZero() && author.Agent == by.Agent
}

// waitsFor lists the packages that one depends on and that do not satisfy it. A
// canceled one satisfies once its question was answered with go_on.
func (s State) waitsFor(f Facts, p PackageFact) []string {
	return slices.DeleteFunc(slices.Clone(p.DependsOn), func(id string) bool {
		lane := s.lane(f, id)
		return lane.Satisfies() || lane == mission.Canceled && s.Cursor.Answers[packageID(id)].Value == goOn
	})
}

// until tells whether the step's rule holds for every package.
func (s State) until(f Facts, rule *mission.PackageRule) bool {
	if len(s.lost(f, rule)) > 0 {
		return false
	}
	if len(f.Packages) == 0 {
		return rule.AllowNone
	}
	for _, p := range f.Packages {
		if !slices.Contains(rule.Until, s.lane(f, p.ID)) {
			return false
		}
	}
	return true
}

// unmet lists the packages for which the step's rule does not hold.
func (s State) unmet(f Facts, rule *mission.PackageRule) []PackageFact {
	return append(slices.DeleteFunc(slices.Clone(f.Packages), func(p PackageFact) bool {
		return slices.Contains(rule.Until, s.lane(f, p.ID))
	}), s.lost(f, rule)...)
}

// held tells whether any package is handed out.
func (s State) held() bool {
	for _, p := range s.Packages {
		if p.Issue != nil {
			return true
		}
	}
	return false
}
