package cursor

import (
	"slices"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Facts is what Decide may know of the world outside the run, as re-read under
// the lock.
type Facts struct {
	Def      mission.View      // the frozen definition
	Source   Source            // where lanes live, unless the run has settled it
	Packages []PackageFact     // in file order; empty where the mission has none
	Lost     []PackageFact     // without a file, and the run worked on them; by id
	Fault    error             // why the packages could not be read; an error for whom needs them
	Digests  map[string]string // of the facts that the transition's Base names
}

// PackageFact is a package as its file, and in the kitty-specs source its lane
// log, have it.
type PackageFact struct {
	ID        string
	Title     string
	DependsOn []string
	Lane      mission.Lane // kitty-specs source only
	From      mission.Lane // kitty-specs source only; the lane before this one
	Holder    Holder       // kitty-specs source only; nobody where unknown
	Author    Holder       // kitty-specs source only; nobody where unknown
	Since     time.Time    // kitty-specs source only; of the move into the lane
	Ended     string       // kitty-specs source only; token of the issue whose report moved it last
	Logged    uint64       // kitty-specs source only; revision of the run's newest line about it; 0: none
	Beside    Beside       // journal source only
}

// SourceOf is where the run's lanes live.
func (s State) SourceOf(f Facts) Source {
	if s.Source != "" {
		return s.Source
	}
	return f.Source
}

// After is the facts once a move is made: where lanes live outside of the run,
// it changes them there. Of the record that makes it, revision and time count.
func (f Facts) After(m Moved, meta Meta) Facts {
	if m.Source != KittySpecs {
		return f
	}
	f.Packages, f.Lost = slices.Clone(f.Packages), slices.Clone(f.Lost)
	for _, all := range [][]PackageFact{f.Packages, f.Lost} {
		for i := range all {
			if all[i].ID == m.Package {
				all[i].move(m, meta)
			}
		}
	}
	return f
}

func (p *PackageFact) move(m Moved, meta Meta) {
	if m.From != m.To {
		p.From, p.Lane = m.From, m.To
	}
	p.Holder, p.Since, p.Logged = m.Holder, meta.At, max(p.Logged, meta.Revision)
	if !m.Author.IsZero() {
		p.Author = m.Author
	}
	if m.Ends != "" {
		p.Ended = m.Ends
	}
}

// find is the fact of one package.
func (f Facts) find(id string) (PackageFact, bool) {
	i := slices.IndexFunc(f.Packages, func(p PackageFact) bool { return p.ID == id })
	if i < 0 {
		return PackageFact{}, false
	}
	return f.Packages[i], true
}

// Lane is where a package lies now.
func (s State) Lane(f Facts, id string) mission.Lane { return s.lane(f, id) }

func (s State) lane(f Facts, id string) mission.Lane {
	if s.SourceOf(f) == KittySpecs {
		p, ok := f.find(id)
		if i := slices.IndexFunc(f.Lost, func(p PackageFact) bool { return p.ID == id }); !ok && i >= 0 {
			p = f.Lost[i]
		}
		return p.Lane
	}
	if lane := s.Packages[id].Lane; lane != "" {
		return lane
	}
	return mission.Planned
}

// HolderOf is who works on a package: whom it was handed to, else whom its
// source names.
func (s State) HolderOf(f Facts, id string) Holder {
	if issue := s.Packages[id].Issue; issue != nil {
		return issue.Holder
	}
	return s.laneHolder(f, id)
}

// laneHolder is whom the source of the lanes names, whoever it was handed to.
func (s State) laneHolder(f Facts, id string) Holder {
	if s.SourceOf(f) == KittySpecs {
		fact, _ := f.find(id)
		return fact.Holder
	}
	return s.Packages[id].Holder
}

// laneBefore is the lane that a package came from.
func (s State) laneBefore(f Facts, id string) mission.Lane {
	if s.SourceOf(f) == KittySpecs {
		fact, _ := f.find(id)
		return fact.From
	}
	return s.Packages[id].From
}

// AuthorOf is who did the work on a package.
func (s State) AuthorOf(f Facts, id string) Holder {
	if s.SourceOf(f) == KittySpecs {
		fact, _ := f.find(id)
		return fact.Author
	}
	return s.Packages[id].Author
}

// SinceOf is when a package came to its lane and holder; zero where it never
// moved.
func (s State) SinceOf(f Facts, id string) time.Time {
	if s.SourceOf(f) == KittySpecs {
		fact, _ := f.find(id)
		return fact.Since
	}
	return s.Packages[id].Since
}

// WaitsFor lists the packages that one depends on and that keep it from being
// handed out.
func (s State) WaitsFor(f Facts, id string) []string {
	fact, _ := f.find(id)
	return s.waitsFor(f, fact)
}
