package cursor

import (
	"testing"

	"github.com/spec-kitty/step-runner/host/mission"
)

// rewind is a rewind to a revision of the run's own history.
func (r *run) rewind(to uint64, lanes bool) Rewind {
	r.t.Helper()
	then := r.log[to-1]
	state := then.after
	if then.def != r.f.Def {
		var err error
		if state, err = Carried(state, then.def, r.f.Def); err != nil {
			r.t.Fatalf("carry revision %d over: %v", to, err)
		}
	}
	x := Rewind{Who: "ops", Reason: "by mistake", To: to, Then: state, Seen: r.s.CursorStamp(), Tokens: r.tokens()}
	if lanes {
		x.Lanes = r.s.PackagesDigest()
	}
	return x
}

// Issue 5 point 8: a rewind takes completions back, hands out nothing, and work
// that was handed out is void; the history stays.
func TestRewind_Point8(t *testing.T) {
	r := begin(t, facts(chain("a", "b", "c")), nil)
	r.ask("ann")
	before := r.s.Revision
	r.must(r.own("ann", Success))
	old := r.held("ann")
	late := r.own("ann", Success)

	r.refused(Rewind{Who: "ops", To: before, Then: r.log[before-1].after, Seen: r.s.CursorStamp()}, Usage)
	r.refused(r.rewind(r.s.Revision, false), NothingToRewind)
	r.makes(r.rewind(before, false), "rewound")
	want(t, "step", r.s.Cursor.Step, "a")
	want(t, "done", r.s.Cursor.Done.Count(), 0)
	want(t, "handed out", len(r.s.Issues()), 0)
	want(t, "at", r.at("ann"), "offer a")
	r.refused(late, CursorMoved)
	r.refused(r.on("ann", old.Token, Success), StaleToken)
	if again := r.ask("ann"); again.Token == old.Token {
		t.Fatal("a token came again")
	}
	r.replay()
}

// P4: the last step's completion can be taken back, of a run that is done and of
// one whose packages were all canceled; an aborted run is over for good.
func TestRewindOfWhatIsOver_P4(t *testing.T) {
	r := begin(t, facts(chain("a")), nil)
	r.ask("ann")
	r.must(r.own("ann", Success))
	want(t, "phase", r.s.Phase, Done)
	r.must(r.rewind(1, false))
	want(t, "phase", r.s.Phase, Running)
	r.refused(r.rewind(3, false), NothingToRewind) // it was over then
	r.must(Abort{Who: "ops", Reason: "r"})
	r.refused(r.rewind(1, false), RunAbortedCode)
}

// What was open then is asked again, with a new token; answers given since are
// taken back, and replaced ones are as they were.
func TestRewindAsksAgain(t *testing.T) {
	r := asking(t)
	first, _ := r.s.Asking("input:db")
	r.must(r.human("input:owner", "ann"))
	r.must(r.human("input:db", "pg"))
	r.ask("bob")
	r.must(r.own("bob", Success))
	r.makes(r.rewind(2, false), "rewound", "asked")
	again, open := r.s.Asking("input:db")
	if !open || again.Token == first.Token || again.Question != "Which?" {
		t.Fatalf("asked again: %+v", again)
	}
	want(t, "inputs", len(r.s.Cursor.Inputs), 1)
	r.refused(Give{Who: "bob", Agent: "bob", Decision: "input:db", Token: first.Token, Value: "pg"}, StaleDecision)
	r.must(r.human("input:db", "lite"))
	r.makes(replacing("input:owner", "kim", r), "answered") // nothing was completed with it now
}

// Packages stay where they lie unless the lanes go back too.
func TestRewindLanes(t *testing.T) {
	for _, lanes := range []bool{false, true} {
		r := atImplement(t, "WP01", "WP02")
		entered := r.s.Revision
		r.ask("ann")
		r.must(r.own("ann", Success))
		r.must(r.own("ann", Success)) // WP02; the step is over
		want(t, "step", r.s.Cursor.Step, "review")
		stamp := r.s.PackageStamp("WP01")
		r.must(r.rewind(entered, lanes))
		want(t, "step", r.s.Cursor.Step, "implement")
		want(t, "held", r.s.held(), false)
		if !lanes {
			want(t, "lanes", r.lanes(), "WP01=for_review WP02=for_review")
			continue
		}
		want(t, "lanes", r.lanes(), "WP01=planned WP02=planned")
		if now := r.s.PackageStamp("WP01"); now.Count <= stamp.Count {
			t.Fatalf("the package's count went back: %+v, then %+v", stamp, now)
		}
		want(t, "attempt", r.ask("bob").Attempt, 1)
		r.replay()
	}
}

// A package that was in hand at the revision is with nobody, and begins that attempt
// anew, as the work of a plain step does.
func TestRewindToAPackageInHand(t *testing.T) {
	r := atImplement(t, "WP01")
	r.ask("ann")
	inHand := r.s.Revision
	r.must(r.own("ann", Failed))
	want(t, "next attempt", r.held("ann").Attempt, 2)
	r.must(r.rewind(inHand, true))
	want(t, "held", r.s.held(), false)
	want(t, "attempt", r.ask("ann").Attempt, 1)
	r.must(r.rewind(inHand, true))
	want(t, "attempt", r.ask("ann").Attempt, 1)
	r.replay()
}

// The lanes of a log outside of the run are not the run's to put back; whoever
// worked is freed there.
func TestRewindLeavesLaneLog(t *testing.T) {
	r := begin(t, Facts{Def: dev(), Source: KittySpecs, Packages: []PackageFact{{ID: "WP01", Lane: mission.Planned}}}, nil)
	r.ask("ann")
	r.must(r.own("ann", Success))
	r.refused(r.rewind(1, true), LanesReadOnly)
	r.makes(r.rewind(1, false), "moved", "rewound")
}

// A rewind that was planned on a state which changed is refused: what it lists
// is what it takes back.
func TestRewindIsFenced(t *testing.T) {
	r := begin(t, facts(chain("a", "b", "c")), nil)
	r.ask("ann")
	r.must(r.own("ann", Success))
	planned := r.rewind(2, false)
	r.must(r.own("ann", Success))
	r.refused(planned, StalePlan)
}
