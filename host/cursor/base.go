package cursor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Stamp names one content of a part of the state: how often the part changed,
// and a digest of what it is, so that a run restored from a copy does not pass
// for the one that was read.
type Stamp struct {
	Count  uint64 `json:"count"`
	Digest string `json:"digest"`
}

// Base is what a plan relied on. A change in any of it makes the plan stale;
// nothing else does.
type Base struct {
	Run        string            `json:"run"`
	Definition string            `json:"definition"`
	Step       string            `json:"step"`              // current at the first read
	Issue      string            `json:"issue,omitempty"`   // the token that the report resolved to
	Open       bool              `json:"open"`              // it was open then
	Cursor     *Stamp            `json:"cursor,omitempty"`  // nil: a package's report
	Package    *PackageBase      `json:"package,omitempty"` // nil: a step's report
	Facts      map[string]string `json:"facts,omitempty"`   // name to digest, read outside the run
}

// PackageBase is what a package's report relied on besides its issue.
type PackageBase struct {
	ID    string       `json:"id"`
	Stamp Stamp        `json:"stamp"`
	Lane  mission.Lane `json:"lane"`
}

// CursorStamp is the stamp of the cursor.
func (s State) CursorStamp() Stamp { return Stamp{Count: s.Cursor.Count, Digest: digest(s.Cursor)} }

// PackageStamp is the stamp of one package.
func (s State) PackageStamp(id string) Stamp {
	p := s.Packages[id]
	return Stamp{Count: p.Count, Digest: digest(p)}
}

// digest is a SHA-256 over the JSON of a part. Parts are plain values whose
// maps encode in key order, so equal parts have equal digests.
func digest(part any) string {
	raw, err := json.Marshal(part)
	if err != nil {
		panic("cursor: a part of the state does not encode: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// BaseOf is what a report on an issue relies on in the state and facts that
// were read. Facts that guards and plugins read are added by the caller.
func BaseOf(s State, f Facts, issue Issue, open bool) Base {
	b := Base{Run: s.Run, Definition: s.Definition, Step: s.Cursor.Step, Issue: issue.Token, Open: open}
	if issue.Package == "" {
		stamp := s.CursorStamp()
		b.Cursor = &stamp
		return b
	}
	b.Package = &PackageBase{
		ID: issue.Package, Stamp: s.PackageStamp(issue.Package), Lane: s.lane(f, issue.Package),
	}
	return b
}

// covers tells whether the base says what a report on the issue relies on; one
// that does not was not made by BaseOf.
func (b Base) covers(issue Issue) bool {
	if issue.Package == "" {
		return b.Cursor != nil && b.Package == nil
	}
	return b.Package != nil && b.Package.ID == issue.Package
}

// check compares what was relied on with what is there now. The token was
// compared before; tokens, never step names, say whose work it is.
func (b Base) check(s State, f Facts) error {
	switch {
	case b.Run != s.Run:
		return refuse(StalePlan, "the plan was made on run %s, this is run %s", b.Run, s.Run)
	case b.Definition != s.Definition:
		return refuse(StalePlan, "the run goes by another definition than when the plan was made: ask again")
	case b.Cursor != nil && *b.Cursor != s.CursorStamp():
		return b.moved(s, "the step's state")
	case b.Package != nil && b.Package.Stamp != s.PackageStamp(b.Package.ID):
		return b.moved(s, "package "+b.Package.ID)
	case b.Package != nil && b.Package.Lane != s.lane(f, b.Package.ID):
		return refuse(StalePlan, "package %s was in lane %s when the plan was made and is in %s now",
			b.Package.ID, b.Package.Lane, s.lane(f, b.Package.ID))
	}
	return nil
}

// facts compares what was read outside of the run.
func (b Base) facts(f Facts) error {
	for _, name := range slices.Sorted(maps.Keys(b.Facts)) {
		if f.Digests[name] != b.Facts[name] {
			return refuse(StalePlan, "%s changed after it was checked: report again", name)
		}
	}
	return nil
}

// moved is the refusal of a plan whose ground moved: cursor_moved where another
// step is current now, else stale_plan.
func (b Base) moved(s State, what string) error {
	by := ""
	if s.Moved.Revision > 0 {
		by = " by " + s.Moved.By + " (" + s.Moved.Kind + ", revision " + strconv.FormatUint(s.Moved.Revision, 10) + ")"
	}
	if s.Cursor.Step != b.Step {
		now := "it stands at " + strconv.Quote(s.Cursor.Step) + " now"
		if s.Cursor.Step == "" {
			now = "it is over"
		}
		return refuse(CursorMoved, "the run stood at step %q when this call began and was moved%s: %s", b.Step, by, now)
	}
	return refuse(StalePlan, "%s changed after this call began, last%s: ask again", what, by)
}
