package cursor

import (
	"testing"

	"github.com/oklog/ulid/v2"

	"github.com/spec-kitty/step-runner/host/mission"
)

// US1: the step's holder completes it and is handed the next one.
func TestSuccessCompletesAndHandsOut_US1_FR001(t *testing.T) {
	r := begin(t, facts(chain("a", "b")), nil)
	r.ask("ann")
	events := r.makes(r.own("ann", Success), "reported", "completed", "entered", "issued")
	issued := events[3].(Issued)
	want(t, "step", issued.Step, "b")
	want(t, "holder", issued.Holder, who("ann"))
	r.makes(r.own("ann", Success), "reported", "completed", "finished")
	want(t, "phase", r.s.Phase, Done)
	want(t, "at", r.at("ann"), "end ")
}

// A transition whose new tokens are in use already is refused: work handed out
// with one could not be reported.
func TestTokensAreNew(t *testing.T) {
	r := begin(t, facts(chain("a", "b", "c")), nil)
	r.ask("ann")
	late := r.own("ann", Success)
	first, err := ulid.Parse(r.s.Cursor.Issue.Token)
	if err != nil {
		t.Fatal(err)
	}
	open := late
	open.Tokens = Tokens{First: first}
	r.refused(open, StalePlan)

	r.must(late)
	ann, _ := r.s.Receipt(who("ann"))
	want(t, "a remembered report's token", r.s.inUse(ann.Token), true)
	r.makes(r.own("ann", Success), "reported", "completed", "entered", "issued")
}

// A run that starts with a holder hands its first step out in the same commit.
func TestStartHandsOut(t *testing.T) {
	r := &run{t: t, f: facts(chain("a")), known: map[string]bool{}}
	start := r.opening(nil)
	start.By = who("ann")
	r.makes(start, "started", "entered", "issued")
	r.refused(r.opening(nil), RunExists)
}

func TestStartChecksInputs(t *testing.T) {
	def := chain("a")
	def.Steps[0].Inputs = []mission.Input{{Key: "db", Question: "Which?", Options: []string{"pg", "lite"}}}
	for _, test := range []struct {
		name   string
		inputs map[string]string
		code   Code
	}{
		{"unknown key", map[string]string{"bd": "pg"}, Usage},
		{"outside the options", map[string]string{"db": "mongo"}, InvalidAnswer},
		{"empty", map[string]string{"db": ""}, InvalidAnswer},
		{"empty owner", map[string]string{OwnerInput: ""}, InvalidAnswer},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &run{t: t, f: facts(def), known: map[string]bool{}}
			r.refused(r.opening(test.inputs), test.code)
		})
	}
	r := &run{t: t, f: facts(def), known: map[string]bool{}}
	r.makes(r.opening(map[string]string{"db": "pg", OwnerInput: "ann"}), "started", "inputs_set", "entered")
}

// US1, SC-001: a peer moves the cursor between this caller's read and its
// commit; the step that the caller never saw is not completed.
func TestPeerMovedTheCursor_US1_SC001_FR001(t *testing.T) {
	r := begin(t, facts(chain("a", "b", "c")), nil)
	r.ask("ann")
	late := r.own("ann", Success)
	r.must(r.own("ann", Success))
	r.refused(late, CursorMoved)
	late.Token = late.Base.Issue
	r.nothing(late) // with the token it is a repeat of the accepted report
	late.By, late.Who = who("bob"), "bob"
	r.refused(late, CursorMoved)
	want(t, "step", r.s.Cursor.Step, "b")
}

// US3.2: two advances that read the same issue: one is accepted, the other one
// sees the change, whatever names they go by.
func TestTwoAdvancesOneWins_US32_SC001(t *testing.T) {
	for _, test := range []struct {
		name   string
		second func(Report) Report
	}{
		{"same holder without token", func(r Report) Report { r.Token = ""; return r }},
		{"token in other hands", func(r Report) Report { r.By = who("bob"); return r }},
		{"holder = any", func(r Report) Report {
			r.Token, r.By, r.Policy.AnyHolder = "", who("bob"), true
			return r
		}},
		{"another saved plan", func(r Report) Report { r.Plan = "p2"; return r }},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := begin(t, facts(chain("a", "b", "c")), nil)
			token := r.ask("ann").Token
			first, second := r.on("ann", token, Success), test.second(r.on("ann", token, Success))
			r.must(first)
			r.refused(second, CursorMoved)
			want(t, "step", r.s.Cursor.Step, "b")
		})
	}
}

// US2, FR-002: what the plan relied on changed while the same step is current.
func TestGroundChanged_US2_FR002(t *testing.T) {
	r := begin(t, facts(chain("a", "b", "c")), nil)
	r.ask("ann")
	stale := r.own("ann", Success)
	r.must(Skip{Who: "ops", Step: "c", Reason: "not needed", Tokens: r.tokens()}) // the issue stays open
	refusal := r.refused(stale, StalePlan)
	if want := `the step's state changed after this call began, last by ops (skip, revision 3): ask again`; refusal.Message != want {
		t.Fatalf("message: %s", refusal.Message)
	}
	r.must(r.own("ann", Success))
}

// Facts outside of the run that a guard read are compared under the lock.
func TestFactsChanged_US2(t *testing.T) {
	r := begin(t, facts(chain("a")), nil)
	r.ask("ann")
	report := r.own("ann", Success)
	report.Base.Facts = map[string]string{"artifact spec.md": "1"}
	r.f.Digests = map[string]string{"artifact spec.md": "2"}
	r.refused(report, StalePlan)
	r.f.Digests = map[string]string{"artifact spec.md": "1"}
	r.must(report)
}

// A base that was not made for this run, or not by BaseOf, relies on nothing.
func TestForeignBase(t *testing.T) {
	for name, change := range map[string]func(*Report){
		"another run":        func(r *Report) { r.Base.Run = "01OTHER" },
		"another definition": func(r *Report) { r.Base.Definition = "d2" },
		"no cursor":          func(r *Report) { r.Base.Cursor = nil },
		"for a package":      func(r *Report) { r.Base.Cursor, r.Base.Package = nil, &PackageBase{ID: "WP01"} },
		"restored copy":      func(r *Report) { r.Base.Cursor.Digest = "0" },
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, facts(chain("a")), nil)
			r.ask("ann")
			report := r.own("ann", Success)
			change(&report)
			r.refused(report, StalePlan)
		})
	}
}

// What no caller can mean is refused and never completes anything.
func TestInvalidReports(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Report)
		code   Code
	}{
		{"by nobody", func(r *Report) { r.By = Holder{} }, Usage},
		{"no result", func(r *Report) { r.Result = "" }, Usage},
		{"question is no report", func(r *Report) { r.Result = Question }, Usage},
		{"executor after failed", func(r *Report) { r.Result, r.Outcome = Failed, &Outcome{Result: Success} }, Usage},
		{"executor without result", func(r *Report) { r.Outcome = &Outcome{} }, Usage},
		{"question without words", func(r *Report) { r.Outcome = &Outcome{Result: Question} }, Usage},
		{"token of something else", func(r *Report) { r.Token = "01MADEUP" }, StaleToken},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := begin(t, facts(chain("a")), nil)
			r.ask("ann")
			report := r.own("ann", Success)
			test.change(&report)
			r.refused(report, test.code)
		})
	}
}

// Who holds nothing at a step that somebody has is told who has it, and since
// when (field case 16).
func TestNotHolder(t *testing.T) {
	r := begin(t, facts(chain("a", "b")), nil)
	issue := r.ask("ann/1")
	refusal := r.refused(r.asking("bob"), NotHolder)
	want(t, "holder", refusal.Holder, who("ann/1"))
	want(t, "since", refusal.Since, issue.Since)
	r.refused(r.asking("ann/2"), NotHolder) // another worker is another holder
	r.nothing(r.asking("ann/1"))            // asking again names the same work
	report := r.on("bob", issue.Token, Success)
	report.Token = ""
	r.refused(report, NotHolder)
	report.Policy.AnyHolder = true
	r.must(report)
	want(t, "next holder", r.held("bob").Step, "b")
}

// P1: whoever has the token may report with it, and gets the next work.
func TestTokenIsTheRight_FR001(t *testing.T) {
	r := begin(t, facts(chain("a", "b")), nil)
	token := r.ask("ann").Token
	r.must(r.on("bob", token, Success))
	want(t, "next", r.held("bob").Step, "b")
	want(t, "at ann", r.at("ann"), "stop b not_holder")
}

func TestTokensAndRepeats(t *testing.T) {
	r := begin(t, facts(chain("a", "b", "c")), nil)
	first := r.ask("ann").Token
	r.must(r.on("ann", first, Success))
	second := r.held("ann").Token
	r.nothing(r.on("ann", first, Success))
	r.refused(r.on("ann", first, Failed), AlreadyReported)
	r.refused(r.on("bob", first, Success), StaleToken)
	r.refused(r.on("ann", "01MADEUP", Success), StaleToken)
	r.must(r.on("ann", second, Success))
	r.refused(r.on("ann", first, Success), StaleToken) // only the last can be repeated
	r.nothing(r.on("ann", second, Success))
	third := r.held("ann").Token
	r.must(r.on("ann", third, Success))
	r.nothing(r.on("ann", third, Success)) // also after the end
}

// Skip, retry and abort close the window in which a report can be repeated.
func TestRepeatWindowCloses(t *testing.T) {
	for name, close := range map[string]func(*run) transition{
		"skip":  func(r *run) transition { return Skip{Who: "ops", Step: "b", Reason: "r", Tokens: r.tokens()} },
		"abort": func(r *run) transition { return Abort{Who: "ops", Reason: "r"} },
		"retry": func(r *run) transition {
			r.must(r.on("bob", r.held("ann").Token, Blocked))
			return Retry{Who: "ops", Tokens: r.tokens()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, facts(chain("a", "b", "c")), nil)
			token := r.ask("ann").Token
			r.must(r.on("ann", token, Success))
			r.nothing(r.on("ann", token, Success))
			r.must(close(r))
			code := StaleToken
			if r.s.Phase == Aborted {
				code = RunAbortedCode
			}
			r.refused(r.on("ann", token, Success), code)
		})
	}
}

// A saved plan is repeated as itself only; the tokens that it showed are those
// that its commit hands out.
func TestSavedPlan(t *testing.T) {
	r := begin(t, facts(chain("a", "b", "c")), nil)
	r.ask("ann")
	plan := r.own("ann", Success)
	plan.Plan = "p1"
	shown, err := plan.Decide(r.s, r.f, clock(99))
	if err != nil {
		t.Fatal(err)
	}
	events := r.must(plan)
	want(t, "token", events[3].(Issued).Token, shown[3].(Issued).Token)
	r.nothing(plan)
	other := plan
	other.Plan = "p2"
	r.refused(other, CursorMoved)
	r.must(r.own("ann", Success))
	r.refused(plan, CursorMoved) // no longer the last report
}

// SC-002: a stale plan made at review is refused at the end and everywhere.
func TestStaleAtTheEnd_SC002(t *testing.T) {
	r := begin(t, facts(chain("a", "b")), nil)
	r.ask("ann")
	r.must(r.own("ann", Success))
	late := r.own("ann", Success)
	r.must(Skip{Who: "ops", Step: "b", Reason: "r", Tokens: r.tokens()})
	refusal := r.refused(late, CursorMoved)
	if refusal.Message != `the run stood at step "b" when this call began and was moved by ops (skip, revision 4): it is over` {
		t.Fatalf("message: %s", refusal.Message)
	}
	r.refused(r.closing("ann"), NothingIssued)
}
