package cursor

import (
	"fmt"
	"slices"
	"testing"

	"github.com/spec-kitty/step-runner/host/mission"
)

func (r *run) move(name, id string, to mission.Lane) Move {
	return Move{Who: name, By: who(name), Package: id, To: to}
}

func (r *run) forced(name, id string, to mission.Lane) Move {
	m := r.move(name, id, to)
	m.Force, m.Reason = true, "ops knows better"
	return m
}

// lies is a run at implement whose WP01 an operator put into a lane.
func lies(t testing.TB, lane mission.Lane) *run { return liesIn(t, Journal, lane) }

// liesIn is lies with the lanes in one of the two sources.
func liesIn(t testing.TB, source Source, lane mission.Lane) *run {
	t.Helper()
	r := atImplement(t, "WP01")
	if source == KittySpecs {
		r = outside(t, PackageFact{ID: "WP01", Lane: mission.Planned})
	}
	if lane != mission.Planned {
		r.must(r.forced("", "WP01", lane))
	}
	return r
}

// legal is design section 7, word by word.
func legal(from, to mission.Lane) bool {
	edges := map[mission.Lane][]mission.Lane{
		"planned": {"claimed"}, "claimed": {"in_progress"}, "in_progress": {"for_review", "approved", "planned"},
		"for_review": {"in_review"}, "in_review": {"approved", "done", "in_progress", "planned"},
		"approved": {"done", "in_progress", "planned"}, "blocked": {"in_progress"},
	}
	switch {
	case from == to || from.Final():
		return false
	case to == mission.Canceled:
		return true
	case to == mission.Blocked:
		return from != mission.Blocked
	}
	return slices.Contains(edges[from], to)
}

// All 81 moves from lane to lane, in both sources: those along an edge are made,
// every other one is refused and lists the legal targets; with force and a reason
// all that lead elsewhere are made and recorded as forced.
func TestAll81Moves(t *testing.T) {
	for _, source := range []Source{Journal, KittySpecs} {
		made := 0
		for _, from := range mission.Lanes() {
			for _, to := range mission.Lanes() {
				r := liesIn(t, source, from)
				move := Move{Who: "ops", Package: "WP01", To: to}
				if legal(from, to) {
					moved(t, r.must(move), from, to, false)
					want(t, "lanes", r.lanes(), "WP01="+string(to))
					made++
				} else {
					refusal := r.refused(move, IllegalMove)
					for _, lane := range mission.Lanes() {
						want(t, fmt.Sprintf("%s to %s lists %s", from, to, lane), slices.Contains(refusal.Options, string(lane)), legal(from, lane))
					}
				}
				r = liesIn(t, source, from)
				if from == to {
					r.refused(r.forced("", "WP01", to), IllegalMove)
					continue
				}
				moved(t, r.must(r.forced("", "WP01", to)), from, to, true)
			}
		}
		want(t, "legal moves", made, 27)
		r := liesIn(t, source, mission.Planned)
		r.refused(Move{Who: "ops", Package: "WP01", To: mission.Done, Force: true}, Usage)
		for _, no := range []mission.Lane{"", "nowhere", mission.Genesis} {
			r.refused(r.forced("ops", "WP01", no), Usage)
		}
		r.refused(r.move("ops", "WP99", mission.Claimed), PackageNotFound)
	}
}

func moved(t testing.TB, events []Event, from, to mission.Lane, force bool) {
	t.Helper()
	for _, e := range events {
		if m, ok := e.(Moved); ok {
			want(t, "move", fmt.Sprint(m.From, " ", m.To, " ", m.Force), fmt.Sprint(from, " ", to, " ", force))
			return
		}
	}
	t.Fatalf("no move in %v", kinds(events))
}

// What is handed out is moved with its token or with force; then the issue is
// over, and the late report is refused.
func TestMoveEndsAnIssue_P1(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	token := r.ask("ann").Token
	late := r.own("ann", Success)
	refusal := r.refused(r.move("bob", "WP01", mission.Planned), PackageHeld)
	want(t, "holder", refusal.Holder, who("ann"))
	r.refused(r.move("", "WP01", mission.Canceled), PackageHeld)
	r.refused(r.move("ann", "WP01", mission.ForReview), TokenRequired)
	by := r.move("ann", "WP01", mission.ForReview)
	by.Token = "01MADEUP"
	r.refused(by, StaleToken)
	by.Token = token
	r.makes(by, "released", "moved")
	want(t, "author", r.s.Packages["WP01"].Author, who("ann"))
	want(t, "holder", r.s.Packages["WP01"].Holder, Holder{})
	r.refused(late, StalePlan)
	r.refused(by, IllegalMove) // it lies there already
	want(t, "ann may not review it", r.at("ann"), "offer implement WP02")
	want(t, "bob may", r.at("bob"), "offer review WP01")

	r.ask("bob")
	r.makes(r.forced("ops", "WP01", mission.Planned), "released", "moved")
	want(t, "author", r.s.Packages["WP01"].Author, who("ann"))
	want(t, "same attempt", r.ask("bob").Attempt, 1)
}

// The fields beside the lane: who goes on working keeps the package, a reviewer
// does not become the worker, and who handed in is the author.
func TestMoveKeepsItsPeople_Case35(t *testing.T) {
	r := atImplement(t, "WP01")
	people := func(want string) {
		t.Helper()
		p := r.s.Packages["WP01"]
		if got := p.Holder.String() + " " + p.Author.String(); got != want {
			t.Fatalf("holder and author are %s, want %s", got, want)
		}
	}
	r.must(r.move("ann", "WP01", mission.Claimed))
	people("ann nobody")
	want(t, "ann", r.at("ann"), "offer implement WP01")
	want(t, "bob", r.at("bob"), "stop implement waiting_for_work_packages")
	r.refused(r.move("bob", "WP01", mission.InProgress), PackageHeld)
	r.must(r.move("", "WP01", mission.InProgress))
	people("ann nobody")
	r.must(r.move("", "WP01", mission.Blocked))
	people("ann nobody")
	want(t, "blocked", r.s.Packages["WP01"].Reason, "moved to blocked by ")
	r.must(r.move("", "WP01", mission.InProgress))
	people("ann nobody")
	want(t, "not stopped any more", r.s.Packages["WP01"].Stop, NoStop)
	r.refused(r.move("", "WP01", mission.Planned), PackageHeld)
	r.must(r.move("ann", "WP01", mission.ForReview))
	people("nobody ann")
	r.must(r.move("bob", "WP01", mission.InReview))
	people("bob ann")
	r.must(r.move("bob", "WP01", mission.InProgress))
	people("bob ann")
	r.must(r.forced("", "WP01", mission.InReview)) // bob had worked on it
	people("nobody bob")
	r.must(r.move("cy", "WP01", mission.Approved))
	people("nobody bob")
}

// An author approves own work by no move either, unless it is forced or the
// definition allows it.
func TestMoveIsNoSelfReview(t *testing.T) {
	r := atImplement(t, "WP01")
	token := r.ask("ann").Token
	straight := r.move("ann", "WP01", mission.Approved)
	straight.Token = token
	r.refused(straight, SelfReview)
	r.must(Release{Who: "ann", Package: "WP01", Reason: "to be nobody's"})
	r.refused(r.move("ann", "WP01", mission.Approved), SelfReview)
	token = r.ask("ann").Token
	other := r.move("bob", "WP01", mission.Approved)
	other.Token = token
	r.must(other)
	want(t, "who did the work", r.s.Packages["WP01"].Author, who("ann"))

	r = atImplement(t, "WP01")
	r.ask("ann")
	r.must(r.own("ann", Success))
	r.refused(r.move("ann/2", "WP01", mission.InReview), SelfReview)
	r.must(r.move("", "WP01", mission.InReview))
	r.refused(r.move("ann", "WP01", mission.Done), SelfReview)
	r.refused(Move{Who: "ann", Package: "WP01", To: mission.Approved}, SelfReview)
	r.must(r.move("bob", "WP01", mission.Approved))

	r = lies(t, mission.Planned)
	r.ask("ann")
	r.must(r.own("ann", Success))
	r.makes(r.forced("ann", "WP01", mission.Blocked), "moved", "stopped")
	r.must(r.forced("ann", "WP01", mission.InReview))
	want(t, "nobody keeps it", r.s.Packages["WP01"].Holder, Holder{})
	r.must(r.forced("ann", "WP01", mission.Approved))

	def := dev()
	def.Steps[2].Packages.SelfReview = true
	r = begin(t, facts(def, packages("WP01")...), nil)
	r.must(r.move("ann", "WP01", mission.Claimed))
	r.must(r.move("ann", "WP01", mission.InProgress))
	r.must(r.move("ann", "WP01", mission.Approved))
}

// A move that brings the last package where the step is over does not complete
// it: the next report does.
func TestMoveCompletesNothing(t *testing.T) {
	r := atImplement(t, "WP01")
	r.makes(r.forced("ops", "WP01", mission.Approved), "moved")
	want(t, "at", r.at("ann"), "close implement")
	want(t, "step", r.s.Cursor.Step, "implement")
	r.makes(r.closing("ann"), "reported", "completed", "entered")
}

// What stopped goes on where a move put it, and a package that was put into lane
// blocked is opened again by a retry.
func TestMoveAndStops(t *testing.T) {
	r := atImplement(t, "WP01")
	for range 2 {
		r.ask("ann")
		r.must(r.own("ann", Failed))
	}
	want(t, "kept back", r.s.Packages["WP01"].Stop, Failure)
	r.makes(r.move("", "WP01", mission.Claimed), "retried", "moved")
	want(t, "ann", r.ask("ann").Attempt, 3)
	r.makes(r.forced("ops", "WP01", mission.Blocked), "released", "moved", "stopped")
	want(t, "ann keeps it", r.s.Packages["WP01"].Holder, who("ann"))
	want(t, "stopped at", r.s.Packages["WP01"].StopAt, "implement")
	want(t, "at", r.at("bob"), "stop implement step_blocked")
	r.makes(Retry{Who: "ops", Tokens: r.tokens()}, "retried", "moved", "issued")
	r.held("ann")

	r = lies(t, mission.ForReview)
	r.must(r.move("", "WP01", mission.Blocked))
	want(t, "stopped at", r.s.Packages["WP01"].StopAt, "review")
	r.makes(Retry{Who: "ops", By: who("bob"), Tokens: r.tokens()}, "retried", "moved", "moved", "moved", "issued")
	want(t, "bob", r.held("bob").Step, "review")
}

// The lanes of a run that is over are not moved.
func TestMoveInItsPlace(t *testing.T) {
	r := atImplement(t, "WP01")
	r.must(r.move("", "WP01", mission.Canceled))
	r.must(Skip{Who: "ops", Step: "implement", Reason: "r", Tokens: r.tokens()})
	r.must(r.closing("ann"))
	r.must(r.human("audit:release", approve))
	r.refused(r.forced("ops", "WP01", mission.Planned), NothingIssued)

	r = atImplement(t, "WP01")
	r.must(Abort{Who: "ops", Reason: "r"})
	r.refused(r.move("", "WP01", mission.Claimed), RunAbortedCode)
	r.refused(ReleasePackage{Who: "ops", Package: "WP01", Reason: "r"}, RunAbortedCode)
	r.refused(r.claim("ann", "WP01"), RunAbortedCode)
}

// The first move settles where the run's lanes lie, as the first hand-out does.
func TestMoveSettlesTheSource(t *testing.T) {
	r := atImplement(t, "WP01")
	r.must(r.move("", "WP01", mission.Claimed))
	r.f.Source = KittySpecs // a log that came later
	want(t, "lanes", r.lanes(), "WP01=claimed")
}

// Where packages cannot be read, none is claimed, moved or released.
func TestUnreadablePackagesAreLeft(t *testing.T) {
	r := atImplement(t, "WP01")
	r.f.Packages, r.f.Fault = nil, errUnreadable{}
	for _, x := range []transition{r.claim("ann", ""), r.claim("ann", "WP01"), r.forced("ops", "WP01", mission.Done), ReleasePackage{Package: "WP01", Reason: "r"}} {
		if _, err := r.try(x); err == nil {
			t.Fatalf("%s did not mind", x.Kind())
		}
	}
}
