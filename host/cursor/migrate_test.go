package cursor

import (
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/mission"
)

// migrate takes the run to another definition.
func (r *run) migrate(def *mission.Definition) Migrate {
	return Migrate{Who: "ops", Reason: "r", From: r.s.Definition, Definition: def.Digest(), Index: "i2", Grants: r.s.Grants, Def: def, Tokens: r.tokens()}
}

// Design section 4: a run goes on by another definition; what is complete stays
// complete by its id, wherever the step stands now.
func TestMigrate(t *testing.T) {
	r := begin(t, facts(chain("a", "b", "c")), nil)
	r.ask("ann")
	r.must(r.own("ann", Success))
	r.must(Release{Who: "ops", Reason: "r"})
	next := chain("a", "new", "b", "d")
	r.nothing(Migrate{Who: "ops", Definition: r.s.Definition, Grants: r.s.Grants})
	r.makes(r.migrate(next), "migrated", "entered")
	want(t, "step", r.s.Cursor.Step, "new")
	want(t, "done", r.s.Cursor.Done, mission.Bits{}.With(0))
	for _, step := range []string{"new", "b", "d"} {
		want(t, "given", r.ask("ann").Step, step)
		r.must(r.own("ann", Success))
		if r.s.Phase == Running {
			r.must(Release{Who: "ops", Reason: "r"})
		}
	}
	want(t, "phase", r.s.Phase, Done)
	r.refused(r.migrate(chain("a")), NothingToMigrate)
}

// A migration that would lose work is refused, names the step, and says what to
// do first.
func TestMigrateRefuses(t *testing.T) {
	start := func() *run {
		r := begin(t, facts(chain("a", "b", "c")), nil)
		r.ask("ann")
		r.must(r.own("ann", Success)) // and b is handed out
		return r
	}
	packed := chain("a", "b", "c")
	packed.Steps[1].Packages = implementing()
	for name, row := range map[string]struct {
		def  *mission.Definition
		says string
	}{
		"completed step vanishes":      {chain("b", "c"), "no step a, which is complete"},
		"issued step vanishes":         {chain("a", "c"), "step b is handed out to ann"},
		"completed step waits":         {chain("new", "a", "b"), "step a is complete and waits for new"},
		"issued step waits":            {chain("a", "new", "b"), "there it waits for new"},
		"issued step of another sort":  {packed, "a step of another sort"},
		"issued step behind its child": {chain("a", "c", "b"), "there it waits for c"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start()
			refusal := r.refused(r.migrate(row.def), MigrationRefused)
			if !strings.Contains(refusal.Message, row.says) {
				t.Fatalf("%q does not say %q", refusal.Message, row.says)
			}
			if strings.Contains(row.says, "there") || strings.Contains(row.says, "handed out") || strings.Contains(row.says, "sort") {
				r.must(Release{Who: "ops", Reason: "r"}) // the way out that it names
				r.must(r.migrate(row.def))
			}
		})
	}
}

// Work whose step reads as it did keeps its token; otherwise it is handed out
// anew to its holder, and a report that was planned before is refused.
func TestMigrateAndWork(t *testing.T) {
	for _, changed := range []bool{false, true} {
		r := begin(t, facts(chain("a", "b")), nil)
		old := r.ask("ann")
		late := r.own("ann", Success)
		next := chain("a", "b", "c")
		if changed {
			next.Steps[0].Prompt = &mission.Prompt{Text: "otherwise"}
		}
		r.must(r.migrate(next))
		now := r.held("ann")
		want(t, "new token", now.Token != old.Token, changed)
		want(t, "attempt", now.Attempt, old.Attempt)
		r.refused(late, StalePlan)
		r.must(r.own("ann", Success))
		want(t, "step", r.s.Cursor.Step, "b")
	}
}

// Packages keep their lanes, holders and work.
func TestMigrateWithPackages(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	r.ask("ann")
	next := dev()
	next.Steps = append([]mission.Step{{ID: "zero", Action: "zero"}}, next.Steps...)
	for i, dep := range []string{"", "", "specify", "implement", "review"} {
		if dep != "" {
			next.Steps[i].DependsOn = []string{dep}
		}
	}
	old := r.held("ann")
	r.must(r.migrate(next))
	now := r.held("ann")
	want(t, "pos", now.Pos, old.Pos+1)
	want(t, "lanes", r.lanes(), "WP01=in_progress WP02=planned")
	r.must(r.own("ann", Success))
	want(t, "held", r.held("ann").Package, "WP02")

	alone := chain("specify", "implement", "release")
	alone.Steps[1].Packages = reviewing()
	alone.Steps[2].Audit = next.Steps[4].Audit
	r.must(r.migrate(alone))
	want(t, "held", len(r.s.Held(who("ann"))), 1) // the rule reads otherwise: handed out anew
}

// Questions are those that the definition asks now: in other words they are
// asked anew, and a new default is a value.
func TestMigrateAndQuestions(t *testing.T) {
	r := asking(t)
	owner, _ := r.s.Asking("input:owner")
	db, _ := r.s.Asking("input:db")
	def := chain("a", "b")
	fast := "yes"
	def.Steps[0].Inputs = []mission.Input{
		{Key: "owner", Question: "Who?"}, {Key: "db", Question: "Which?", Options: []string{"pg", "oracle"}}, {Key: "fast", Question: "?", Default: &fast},
	}
	r.must(r.migrate(def))
	kept, _ := r.s.Asking("input:owner")
	again, _ := r.s.Asking("input:db")
	want(t, "kept", kept.Token, owner.Token)
	if again.Token == db.Token || len(again.Options) != 2 || again.Options[1] != "oracle" {
		t.Fatalf("asked again: %+v", again)
	}
	want(t, "default", r.s.Cursor.Inputs["fast"], "yes")
	r.makes(r.migrate(chain("a", "b")), "migrated")
	want(t, "questions", len(r.s.Cursor.Questions), 0)
}

// A rewind goes back behind a migration, by the definition that holds now.
func TestRewindBehindMigration(t *testing.T) {
	r := begin(t, facts(chain("a", "b", "c")), nil)
	r.ask("ann")
	before := r.s.Revision
	r.must(r.own("ann", Success))
	next := chain("zero", "a", "b", "c")
	next.Steps[2].DependsOn = []string{"a"}
	next.Steps[3].DependsOn = []string{"b"}
	r.must(r.migrate(next))
	r.must(r.rewind(before, false))
	want(t, "step", r.s.Cursor.Step, "zero")
	want(t, "done", r.s.Cursor.Done.Count(), 0)
	want(t, "definition", r.s.Definition, next.Digest())
}

// A question that a migration opens on work in hand keeps the step closed: only
// once it is answered does a success complete it.
func TestMigrateAsksOfWorkInHand(t *testing.T) {
	r := begin(t, facts(chain("a", "b")), nil)
	r.ask("ann")
	next := chain("a", "b")
	next.Steps[0].Inputs = []mission.Input{{Key: "who", Question: "Who?"}}
	r.must(r.migrate(next))
	want(t, "held", r.held("ann").Step, "a")
	want(t, "standing", r.at("ann"), "question a")
	r.refused(r.own("ann", Success), DecisionNeeded)
	r.must(Give{Who: "ann", Agent: "ann", Decision: "input:who", Value: "kim", Tokens: r.tokens()})
	want(t, "standing", r.at("ann"), "work a")
	r.must(r.own("ann", Success))
	want(t, "step", r.s.Cursor.Step, "b")
}

// An answer that is none of the options any more is asked for again, and until then
// the step is not completed with it; one that still is holds.
func TestMigrateToOtherOptions(t *testing.T) {
	with := func(options ...string) *mission.Definition {
		def := chain("a", "b")
		def.Steps[0].Inputs = []mission.Input{{Key: "env", Question: "Where?", Options: options}}
		return def
	}
	r := begin(t, facts(with("1", "2", "3")), nil)
	r.must(r.human("input:env", "3"))
	r.ask("ann")
	r.must(r.migrate(with("3", "4")))
	want(t, "standing", r.at("ann"), "work a")
	r.must(r.migrate(with("1", "2")))
	want(t, "standing", r.at("ann"), "question a")
	r.refused(r.own("ann", Success), DecisionNeeded)
	r.must(r.human("input:env", "2"))
	r.must(r.own("ann", Success))
	want(t, "env", r.s.Cursor.Inputs["env"], "2")
}
