package cursor

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// walked is a definition with each sort of step: plain, packages with also,
// audit.
func walked() *mission.Definition {
	def := dev()
	def.Steps[1].Retry = 0
	def.Steps[3].Audit.OnReject = "specify"
	return def
}

// walk visits every state that two agents and an operator can reach.
type walk struct {
	r     *run
	seen  map[string]bool
	ends  int
	moves int

	first  State // what a rewind goes back to
	moving bool  // packages are moved, claimed and released by hand too
}

// TestEveryStateHasAWayOut_P4 looks at all states up to a depth, not at some:
// from each that is not final some ask, report, answer or retry leads on, and
// query and ask agree there.
func TestEveryStateHasAWayOut_P4(t *testing.T) {
	t.Run("agents", func(t *testing.T) {
		r := begin(t, facts(walked(), packages("WP01")...), nil)
		visit(t, &walk{r: r, seen: map[string]bool{}}, 7, 500)
	})
	t.Run("packages by hand", func(t *testing.T) {
		r := begin(t, facts(walked(), packages("WP01")...), nil)
		r.must(Skip{Who: "ops", Step: "specify", Reason: "r", Tokens: r.tokens()})
		visit(t, &walk{r: r, seen: map[string]bool{}, moving: true}, 3, 200)
	})
}

func visit(t *testing.T, w *walk, depth, least int) {
	t.Helper()
	r := w.r
	level := []State{r.s}
	w.isNew(r.s)
	w.first = r.s
	for d := 1; d <= depth && len(level) > 0; d++ {
		var next []State
		for _, s := range level {
			next = append(next, w.from(s, d)...)
		}
		level = next
	}
	t.Logf("%d states to depth %d, %d of them final, %d transitions", len(w.seen), depth, w.ends, w.moves)
	if len(w.seen) < least || w.ends == 0 {
		t.Fatalf("only %d states were reached, %d final", len(w.seen), w.ends)
	}
}

// from looks at one state and gives the new ones that one transition leads to.
func (w *walk) from(s State, depth int) []State {
	w.r.s, w.r.log = s, make([]record, depth)
	w.r.agrees()
	switch w.r.exit() {
	case over:
		w.ends++
	case byWork:
	default:
		w.r.t.Fatalf("no way out of %s\nlanes: %s", encoded(w.r.t, s), w.r.lanes())
	}
	var next []State
	for _, x := range w.transitions() {
		w.r.s, w.r.log = s, make([]record, depth)
		w.moves++
		if events, err := w.r.try(x); err == nil && len(events) > 0 && w.isNew(w.r.s) {
			next = append(next, w.r.s)
		}
	}
	return next
}

// transitions are all that somebody could do here: stale, foreign and repeated
// ones are among them.
func (w *walk) transitions() []transition {
	r := w.r
	all := []transition{
		Retry{Who: "ops", Tokens: r.tokens()}, Release{Who: "ops"}, Abort{Who: "ops", Reason: "r"},
		Skip{Who: "ops", Step: r.s.Cursor.Step, Reason: "r", Tokens: r.tokens()},
	}
	for _, name := range []string{"ann", "bob"} {
		all = append(all, r.asking(name), r.closing(name), Retry{Who: "ops", By: who(name), Tokens: r.tokens()})
		for _, result := range []Result{Success, Failed, Blocked} {
			for _, i := range r.s.Issues() {
				all = append(all, r.on(name, i.Token, result))
			}
			for _, receipt := range r.s.Receipts {
				all = append(all, r.on(name, receipt.Token, result))
			}
		}
	}
	if w.moving {
		all = append(all, w.verbs()...)
	}
	for _, lanes := range []string{"", r.s.PackagesDigest()} {
		all = append(all, Rewind{Who: "ops", Reason: "r", To: w.first.Revision, Then: w.first, Seen: r.s.CursorStamp(), Lanes: lanes, Tokens: r.tokens()})
	}
	for _, q := range r.s.Cursor.Questions {
		all = append(all, r.human(q.ID, approve), r.human(q.ID, reject),
			Postpone{Who: "ops", Decision: q.ID, Reason: "r"}, Withdraw{Who: "ops", Decision: q.ID, Reason: "r"})
	}
	for id := range r.s.Cursor.Answers {
		for _, value := range []string{goOn, cancel, "y"} {
			all = append(all, Give{Who: "ops", Human: "ops", Decision: id, Value: value, Reason: "r", Replace: true, Tokens: r.tokens()})
		}
	}
	return all
}

// verbs are what is done to packages by hand.
func (w *walk) verbs() []transition {
	var all []transition
	for _, p := range w.r.f.Packages {
		all = append(all, ReleasePackage{Who: "ops", Package: p.ID, Reason: "r"}, w.r.claim("bob", p.ID))
		for _, to := range mission.Lanes() {
			all = append(all, Move{Who: "ops", Package: p.ID, To: to}, w.r.move("ann", p.ID, to), w.r.forced("ann", p.ID, to))
		}
	}
	return all
}

// isNew tells whether a state differs from all seen in more than its counts,
// times and the spelling of its tokens.
func (w *walk) isNew(s State) bool {
	s.Revision, s.Moved, s.Cursor.Count = 0, Change{}, 0
	s.Cursor.Issue = bare(s.Cursor.Issue)
	plain := map[string]Package{}
	for id, p := range s.Packages {
		p.Count, p.Since, p.Issue = 0, time.Time{}, bare(p.Issue)
		plain[id] = p
	}
	s.Packages = plain
	s.Cursor.Questions = slices.Clone(s.Cursor.Questions)
	for i, q := range s.Cursor.Questions {
		if q.Postponed != nil {
			s.Cursor.Questions[i].Postponed = &Postponement{By: q.Postponed.By, Reason: q.Postponed.Reason}
		}
	}
	names := map[string]string{}
	key := regexp.MustCompile(`"0000[0-9A-Z]{22}"`).ReplaceAllStringFunc(encoded(w.r.t, s), func(token string) string {
		if names[token] == "" {
			names[token] = fmt.Sprintf(`"t%d"`, len(names))
		}
		return names[token]
	})
	if w.seen[key] {
		return false
	}
	w.seen[key] = true
	return true
}

func bare(i *Issue) *Issue {
	if i == nil {
		return nil
	}
	plain := *i
	plain.Since, plain.Revision = time.Time{}, 0
	return &plain
}
