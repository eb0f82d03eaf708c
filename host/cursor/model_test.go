package cursor

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spec-kitty/step-runner/host/mission"
)

// model drives a run with whatever callers may do, and keeps its own account of
// what must be accepted.
type model struct {
	t      *rapid.T
	r      *run
	saved  []savedReport
	tokens []string           // all that were ever handed out
	last   map[Holder]receipt // by the model's own account
	plans  int
}

// savedReport is a report with what its plan relied on, word for word.
type savedReport struct {
	report Report
	ground string
}

// receipt is the model's account of an accepted report.
type receipt struct {
	token, plan string
	result      Result
}

func holders() []string { return []string{"a", "a/2", "b", "b/2", "c", "c/2"} }

// TestModel is the property test of design section 11: whatever agents do, the
// invariants of this package hold after every commit (SC-001, SC-002, P1, P4,
// P6).
func TestModel_SC001_SC002(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { drive(t, drawDefinition(t), false) })
}

// TestModelOfDev is the same on the definition of design section 6, where every
// state has a way out that skips nothing.
func TestModelOfDev_SC002(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { drive(t, dev(), true) })
}

func drive(t *rapid.T, def *mission.Definition, sane bool) {
	f := Facts{Def: def, Source: Journal}
	if !sane && rapid.IntRange(0, 2).Draw(t, "outside") == 0 {
		f.Source = KittySpecs
	}
	f.Packages = drawPackages(t, f.Source)
	if sane && len(f.Packages) == 0 {
		f.Packages = packages("WP01")
	}
	var inputs map[string]string
	if rapid.IntRange(0, 3).Draw(t, "owner") == 0 {
		inputs = map[string]string{OwnerInput: "a"}
	}
	m := &model{t: t, r: begin(t, f, inputs), last: map[Holder]receipt{}}
	actions := map[string]func(*rapid.T){
		"work": m.work, "work on": m.work, "work more": m.work, "ask": m.ask, "report": m.report, "report own": m.reportOwn,
		"save": m.save, "apply": m.apply, "close": m.close, "answer": m.answer, "answer wrong": m.answerWrong,
		"retry": m.retry, "release": m.release, "claim": m.claim, "postpone": m.postpone, "withdraw": m.withdraw, "replace": m.replace, "rewind": m.rewind, "move": m.move, "wp release": m.releasePackage, "": func(*rapid.T) { m.sound(sane) },
	}
	if !sane {
		actions["skip"] = m.skip
		actions["abort"] = m.abort
		actions["migrate"] = m.migrate
		actions["file"] = m.file
		if f.Source == KittySpecs {
			actions["tool"] = m.tool
		}
	}
	t.Repeat(actions)
	m.r.replay()
}

func (m *model) sound(sane bool) {
	m.r.agrees()
	way := m.r.exit()
	if way == noExit || sane && way == bySkipping {
		m.t.Fatalf("no way out (%v) of %s\nlanes: %s", way, encoded(m.t, m.r.s), m.r.lanes())
	}
}

// do commits, and keeps account.
func (m *model) do(x transition) ([]Event, error) {
	events, err := m.r.try(x)
	for _, e := range events {
		switch e := e.(type) {
		case Issued:
			m.tokens = append(m.tokens, e.Token)
		case Reported:
			m.last[e.By] = receipt{e.Token, e.Plan, e.Result}
		case Retried, Rewound, RunAborted:
			clear(m.last)
		case Completed:
			if e.How == BySkip && x.(Skip).By.IsZero() && m.stood(e.Step) {
				clear(m.last)
			}
		}
	}
	if report, ok := x.(Report); ok && err == nil && len(events) == 0 {
		if last := m.last[report.By]; last.token != report.Base.Issue || report.Plan == "" && last.result != report.Result ||
			report.Plan != "" && last.plan != report.Plan {
			m.t.Fatalf("%+v was taken for a repeat of %+v", report, last)
		}
	}
	return events, err
}

// stood tells whether a step was current before the last commit.
func (m *model) stood(step string) bool { return m.r.log[len(m.r.log)-2].after.Cursor.Step == step }

// work does what brings the run on, mostly: without it a random run hardly
// leaves its first step.
func (m *model) work(t *rapid.T) {
	for range rapid.IntRange(1, 6).Draw(t, "calls") {
		here, err := At(m.r.s, m.r.f, Holder{})
		switch {
		case err != nil:
			t.Fatal(err)
		case len(m.r.s.Cursor.Questions) > 0:
			m.answer(t)
		case here.Standing == AtClose:
			m.do(m.r.closing(m.holder()))
		case len(m.r.s.Issues()) > 0 && rapid.Bool().Draw(t, "report"):
			m.succeed(t)
		default:
			m.ask(t)
		}
	}
}

func (m *model) succeed(t *rapid.T) {
	issue := rapid.SampledFrom(m.r.s.Issues()).Draw(t, "issue")
	report := m.r.on(m.holder(), issue.Token, Success)
	report.By = issue.Holder
	if m.r.f.Source == KittySpecs && issue.Package != "" {
		m.lands(issue)
	}
	report.Base = BaseOf(m.r.s, m.r.f, issue, true)
	m.do(report)
}

// lands puts a package where the tool puts it when its work is done.
func (m *model) lands(issue Issue) {
	step, err := m.r.f.Def.Step(issue.Pos)
	if err != nil {
		m.t.Fatal(err)
	}
	all := slices.Clone(m.r.f.Packages)
	for i := range all {
		if all[i].ID == issue.Package {
			all[i].Lane, all[i].Holder = step.Packages.Success, Holder{}
		}
	}
	m.r.f.Packages = all
}

func (m *model) holder() string { return rapid.SampledFrom(holders()).Draw(m.t, "holder") }

func (m *model) ask(*rapid.T) { m.do(m.r.asking(m.holder())) }

func (m *model) result() Result {
	return rapid.SampledFrom([]Result{Success, Success, Success, Failed, Failed, Blocked}).Draw(m.t, "result")
}

// outcome is what the executor of the reported step makes of it.
func (m *model) outcome(report *Report, pos int) {
	step, err := m.r.f.Def.Step(pos)
	if err != nil || step.Executor == nil || report.Result != Success {
		return
	}
	o := &Outcome{Result: Success, Reason: "the plugin's reason"}
	switch rapid.IntRange(0, 5).Draw(m.t, "outcome") {
	case 0:
		o.Result = Failed
	case 1:
		o.Result = Blocked
	case 2:
		o.Result, o.Question = Question, &Asking{ID: PluginID("q"), Question: "?"}
	case 3:
		o.Inputs = map[string]string{"choice": "x"}
	}
	report.Outcome = o
}

// draw is a report on an open issue, an old or a made-up token, by anybody.
func (m *model) draw() Report {
	tokens := append([]string{"01MADEUP"}, m.tokens...)
	for _, i := range m.r.s.Issues() {
		tokens = append(tokens, i.Token, i.Token, i.Token)
	}
	return m.made(m.holder(), rapid.SampledFrom(tokens).Draw(m.t, "token"))
}

func (m *model) made(name, token string) Report {
	report := m.r.on(name, token, m.result())
	if issue, open := m.r.s.Issue(token); open {
		m.outcome(&report, issue.Pos)
	}
	switch rapid.IntRange(0, 4).Draw(m.t, "by token") {
	case 0:
		report.Token = ""
	case 1:
		report.Token, report.Policy.AnyHolder = "", true
	case 2:
		m.plans++
		report.Plan = string(rune('A' + m.plans%5))
	}
	return report
}

func (m *model) report(*rapid.T) { m.do(m.draw()) }

func (m *model) reportOwn(t *rapid.T) {
	open := m.r.s.Issues()
	if len(open) == 0 {
		t.Skip("nothing is handed out")
	}
	issue := rapid.SampledFrom(open).Draw(t, "issue")
	name := issue.Holder.Agent
	if issue.Holder.Worker != "" {
		name += "/" + issue.Holder.Worker
	}
	m.do(m.made(name, issue.Token))
}

func (m *model) save(*rapid.T) {
	report := m.draw()
	if rapid.IntRange(0, 3).Draw(m.t, "own") == 0 {
		report = m.r.closing(m.holder())
		m.outcome(&report, m.r.s.Cursor.Pos)
	}
	m.saved = append(m.saved, savedReport{report, m.ground(report)})
}

// ground is what a report relies on, word for word.
func (m *model) ground(report Report) string {
	if report.Base.Package == nil {
		return encoded(m.t, m.r.s.Cursor)
	}
	id := report.Base.Package.ID
	return encoded(m.t, m.r.s.Packages[id]) + string(m.r.s.lane(m.r.f, id))
}

func (m *model) apply(t *rapid.T) {
	if len(m.saved) == 0 {
		t.Skip("nothing was saved")
	}
	saved := rapid.SampledFrom(m.saved).Draw(t, "saved")
	ground := m.ground(saved.report)
	events, err := m.do(saved.report)
	if err == nil && len(events) > 0 && ground != saved.ground {
		t.Fatalf("a stale plan was committed:\nplanned on %s\ncommitted on %s", saved.ground, ground)
	}
}

func (m *model) close(*rapid.T) {
	report := m.r.closing(m.holder())
	m.outcome(&report, m.r.s.Cursor.Pos)
	m.do(report)
}
