package cursor

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
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
	most   int   // states of one combination that are gone on from; 0: all

	combos map[string]int             // how often each was reached
	done   map[string]map[Result]bool // the results recorded of a package in each lane
}

// TestEveryStateHasAWayOut_P4 looks at all states up to a depth, and however far at
// one of each combination of where the run stands, how, and in which lane the
// package lies: every result, stale, foreign and repeated reports, and what people
// do by hand are tried in each. From each that is not final some ask, report,
// answer or retry leads on, and query and ask agree there (issue 4 point 5).
func TestEveryStateHasAWayOut_P4(t *testing.T) {
	far := 6
	if testing.Short() {
		far = 5
	}
	t.Run("agents", func(t *testing.T) {
		r := begin(t, facts(walked(), packages("WP01")...), nil)
		visit(t, newWalk(r, false, 0), far, 200)
	})
	t.Run("packages by hand", func(t *testing.T) {
		r := begin(t, facts(walked(), packages("WP01")...), nil)
		r.must(Skip{Who: "ops", Step: "specify", Reason: "r", Tokens: r.tokens()})
		visit(t, newWalk(r, true, 0), 3, 200)
	})
	t.Run("combinations", func(t *testing.T) {
		for onReject, least := range map[string]int{"specify": 144, "": 164} {
			if testing.Short() && onReject == "" {
				continue
			}
			def := walked()
			def.Steps[3].Audit.OnReject = onReject // without one a rejection stops the run
			w := newWalk(begin(t, facts(def, packages("WP01")...), nil), true, 1)
			visit(t, w, 100, 200)
			w.hasAll(t, least, onReject == "")
		}
	})
}

func newWalk(r *run, moving bool, most int) *walk {
	return &walk{r: r, seen: map[string]bool{}, moving: moving, most: most, combos: map[string]int{}, done: map[string]map[Result]bool{}}
}

// hasAll wants the walk over combinations to have come to its end, and to have
// left none out that is known to be there: each lane, each result out of each lane
// in which work is done, each step with each way of standing.
func (w *walk) hasAll(t *testing.T, least int, stops bool) {
	t.Helper()
	all := strings.Join(slices.Sorted(maps.Keys(w.combos)), "\n")
	t.Logf("%d combinations of state and lane", len(w.combos))
	if len(w.combos) < least { // as many with one state of each to go on from as with two, three or five
		t.Errorf("only %d combinations were reached:\n%s", len(w.combos), all)
	}
	for _, lane := range mission.Lanes() {
		if !strings.Contains(all, " "+string(lane)+" ") {
			t.Errorf("no package was in lane %s", lane)
		}
	}
	for _, lane := range []mission.Lane{mission.InProgress, mission.InReview} {
		for _, result := range []Result{Success, Failed, Blocked} {
			if !w.done[string(lane)][result] {
				t.Errorf("nothing in %s was reported as %s", lane, result)
			}
		}
	}
	for _, way := range []string{"done", "canceled", "aborted", "running specify failed", "running specify blocked", "running release  issue", "running release rejected"} {
		if strings.Contains(all, way) == (way == "running release rejected" && !stops) {
			t.Errorf("no state was %q:\n%s", way, all)
		}
	}
}

// combo is what the way out of a state depends on: where the run stands and how,
// and of each package its lane, whether it is kept back and handed out.
func (r *run) combo() string {
	c := r.s.Cursor
	text := fmt.Sprintf("%s %s %s", r.s.Phase, c.Step, c.Stop)
	text += fmt.Sprint(" issue ", c.Issue != nil, " questions ", len(c.Questions))
	for _, p := range r.f.Packages {
		own := r.s.Packages[p.ID]
		text += fmt.Sprintf(" %s %s issue %v", r.s.lane(r.f, p.ID), own.Stop, own.Issue != nil)
	}
	return text
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
	if w.most > 0 && len(level) > 0 {
		t.Fatalf("there is more than %d calls away", depth)
	}
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
		events, err := w.r.try(x)
		if err != nil || len(events) == 0 {
			continue
		}
		w.note(s, x)
		combo := w.r.combo()
		if w.combos[combo]++; w.isNew(w.r.s) && (w.most == 0 || w.combos[combo] <= w.most) {
			next = append(next, w.r.s)
		}
	}
	return next
}

// note keeps the result that was recorded of a package in a lane.
func (w *walk) note(before State, x transition) {
	report, ok := x.(Report)
	if !ok {
		return
	}
	issue, _ := before.Issue(report.Base.Issue)
	if issue.Package == "" {
		return
	}
	lane := string(before.lane(w.r.f, issue.Package))
	if w.done[lane] == nil {
		w.done[lane] = map[Result]bool{}
	}
	w.done[lane][report.Result] = true
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
