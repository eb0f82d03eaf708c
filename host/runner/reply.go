package runner

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/guard"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

func itoa(n int) string { return strconv.Itoa(n) }

func utoa(n uint64) string { return strconv.FormatUint(n, 10) }

// head is what every answer says: which mission, which run, where it stands.
func (r *reading) head(c Caller) Answer {
	a := Answer{
		Schema: Schema, Agent: text(c.Holder().Agent),
		MissionSlug: r.mission.Slug, MissionNumber: r.mission.Number,
		Timestamp: stamp(r.p.now()), StateRoot: r.p.Config.StateRoot(),
		MissionState: "not_started", Origin: Origin{Tier: "project"},
		GuardFailures: []string{}, Guards: []Guard{}, NotEvaluated: []string{}, Recover: []string{},
		OpenDecisions: []Decision{}, StepMetadata: map[string]any{}, Recorded: r.recorded, Replayed: r.replayed, Planned: r.planned,
	}
	if r.run == nil {
		a.MissionType, _ = r.p.typeOf(r.mission)
	} else {
		a.MissionType, a.RunID, a.Revision = r.state.Type, text(r.state.Run), r.state.Revision
		a.MissionState = r.missionState()
	}
	a.Progress = r.progress()
	a.Mission = a.MissionType
	a.Origin.Path, _ = r.p.Config.DefinitionFile(a.MissionType)
	if r.answered != nil {
		a.Answered, a.Answer = text(r.answered.Decision), text(r.answered.Value)
	}
	return a
}

// progress counts the packages. A mission's packages are counted also before it
// has a run, and where no step works on them.
func (r *reading) progress() *lanes.Progress {
	_, facts := r.packages()
	if facts.Fault != nil {
		return nil
	}
	return lanes.Count(lanesOf(r.state, facts))
}

// packages are the facts with all packages of the mission, and what reads them.
func (r *reading) packages() (*run, cursor.Facts) {
	facts, beside := r.facts, r.run
	if beside == nil {
		beside = &run{mission: r.mission, packages: lanes.NewReader(r.mission.Dir), lanes: lanes.NewLogReader(r.mission.Dir)}
	}
	if facts.Packages == nil && facts.Fault == nil {
		r.p.world.packages(beside, r.state, &facts)
	}
	return beside, facts
}

func (r *reading) missionState() string {
	if r.state.Phase != cursor.Running {
		return string(r.state.Phase)
	}
	return r.state.Cursor.Step
}

// seal adds the warnings, which come up until the end.
func (r *reading) seal(a Answer) Answer {
	if r.p.Config.Runtime.Holder == config.HolderAny {
		r.warn("holder_any", `holder = "any": a step's report is accepted from anybody, so a repeated report may complete a step that somebody else was given`)
	}
	if real := r.p.Config.StateLink; real != "" {
		r.warn("state_linked", "a link in the project leads the state of its runs to "+real+": what is reported is kept there, and what lies there is believed")
	}
	a.Warnings = append(r.p.faultyConfig(), r.warnings...)
	if a.Warnings == nil {
		a.Warnings = []Warning{}
	}
	return a
}

// reply answers a call that was not refused. A plan writes nothing, so its
// prompt is not there yet.
func (r *reading) reply(c Caller) (Answer, error) {
	here, err := cursor.At(r.state, r.facts, c.Holder())
	if err != nil {
		return Answer{}, err
	}
	a := r.head(c)
	switch here.Standing {
	case cursor.AtWork:
		a.Kind = KindStep
		err = r.showIssue(&a, *here.Issue, !r.planned)
	case cursor.AtQuestion:
		return r.asks(c)
	case cursor.AtStop:
		a.Kind = KindBlocked
		r.showBlock(&a, here.Why, c)
	case cursor.AtEnd:
		a.Kind = KindTerminal
	default:
		a.Kind, a.IsQuery = KindQuery, true
		err = r.showPreview(&a, here, c)
	}
	return r.seal(a), err
}

// asks answers with the open questions, which come first.
func (r *reading) asks(c Caller) (Answer, error) {
	a := r.head(c)
	a.Kind = KindDecision
	a.StepID, a.PromptFile = text(r.state.Cursor.Step), r.questionFile(c, !r.planned)
	r.showQuestions(&a, c)
	return r.seal(a), nil
}

// query answers a call that reports nothing.
func (r *reading) query(c Caller) (Answer, error) {
	a := r.head(c)
	a.Kind, a.IsQuery = KindQuery, true
	if r.run == nil {
		return r.queryWithoutRun(a)
	}
	here, err := cursor.At(r.state, r.facts, c.Holder())
	if err != nil {
		return Answer{}, err
	}
	if r.state.Phase == cursor.Running {
		a.PreviewStep = text(here.Step)
	}
	if here.Issue != nil {
		err = r.showIssue(&a, *here.Issue, false)
		if err == nil {
			err = r.previewGuards(&a, *here.Issue)
		}
	} else if here.Standing == cursor.AtOffer || here.Standing == cursor.AtClose {
		err = r.showPreview(&a, here, c)
	}
	if len(r.state.Cursor.Questions) > 0 {
		if here.Standing == cursor.AtQuestion {
			a.StepID, a.PromptFile = text(here.Step), r.questionFile(c, false)
		}
		r.showQuestions(&a, c)
	}
	if here.Why != nil {
		r.showBlock(&a, here.Why, c)
	}
	return r.seal(a), err
}

func (r *reading) queryWithoutRun(a Answer) (Answer, error) {
	missionType, err := r.p.typeOf(r.mission)
	if err != nil {
		return Answer{}, err
	}
	def, _, err := config.LoadMission(r.p.Config, missionType)
	if err != nil {
		return Answer{}, err
	}
	pos, ok, err := mission.FirstOpen(def, mission.Bits{})
	if err != nil || !ok {
		return Answer{}, err
	}
	a.PreviewStep = text(def.Steps[pos].ID)
	return r.seal(a), nil
}

// showIssue fills in the work that is handed out.
func (r *reading) showIssue(a *Answer, issue cursor.Issue, write bool) error {
	def, err := r.facts.Def.Step(issue.Pos)
	if err != nil {
		return err
	}
	a.StepID, a.Action, a.WPID = text(def.ID), text(def.Action), text(issue.Package)
	a.Profile = def.Profile
	if def.Metadata != nil {
		a.StepMetadata = def.Metadata
	}
	a.Token, a.Attempt = text(issue.Token), &issue.Attempt
	holder := holds(issue.Holder, issue.Since)
	a.Holder = &holder
	a.WorkspacePath = r.workspace(issue.Package)
	a.Report = text(r.reportLine(issue))
	a.PromptFile = r.promptFile(issue, write)
	return nil
}

// showPreview names what asking would hand out.
func (r *reading) showPreview(a *Answer, here cursor.Situation, c Caller) error {
	pos, ok, err := r.facts.Def.Position(here.Step)
	if err != nil || !ok {
		return err
	}
	def, err := r.facts.Def.Step(pos)
	if err != nil {
		return err
	}
	a.PreviewStep, a.StepID, a.Action, a.WPID = text(def.ID), text(def.ID), text(def.Action), text(here.Package)
	a.WorkspacePath = r.workspace(here.Package)
	if c == (Caller{}) { // nobody cannot ask for work, and a made-up name would
		a.Recover = append(a.Recover, "spec-kitty help next")
		return nil
	}
	a.Recover = append(a.Recover, r.nextLine(c)+" --result success")
	return nil
}

// previewGuards evaluates, for a query, the guards that run nothing foreign.
func (r *reading) previewGuards(a *Answer, issue cursor.Issue) error {
	def, err := r.facts.Def.Step(issue.Pos)
	if err != nil {
		return err
	}
	for _, g := range def.Guards {
		if g.Plugin != nil {
			a.NotEvaluated = append(a.NotEvaluated, "plugin "+g.Plugin.Plugin)
			continue
		}
		if g.Command != "" {
			a.NotEvaluated = append(a.NotEvaluated, "command "+g.Command)
			continue
		}
		v, _ := r.builtIn(g, nil)
		r.showGuard(a, v)
	}
	return nil
}

func (r *reading) showGuard(a *Answer, v Guard) {
	a.Guards = append(a.Guards, v)
	if v.Verdict != string(guard.Allow) {
		a.GuardFailures = append(a.GuardFailures, v.failure().Sentence())
	}
}

func (r *reading) showQuestions(a *Answer, c Caller) {
	for i, q := range r.questionsInTurn() {
		d := decisionOf(q)
		a.OpenDecisions = append(a.OpenDecisions, d)
		if i == 0 {
			// The answer is for whoever is asked to find: a command to paste
			// would give one in their place.
			a.Recover = append(a.Recover, "spec-kitty help answer")
			a.DecisionID, a.DecisionToken, a.InputKey = text(q.ID), text(q.Token), text(q.Key)
			a.Question, a.Options = text(q.Question), q.Options
		}
	}
}

// questionsInTurn are the open questions, those that were put off last.
func (r *reading) questionsInTurn() []cursor.Asking {
	all := slices.Clone(r.state.Cursor.Questions)
	slices.SortStableFunc(all, func(a, b cursor.Asking) int {
		return cmp.Compare(putOff(a), putOff(b))
	})
	return all
}

func putOff(q cursor.Asking) int {
	if q.Postponed != nil {
		return 1
	}
	return 0
}

func decisionOf(q cursor.Asking) Decision {
	d := Decision{ID: q.ID, Token: q.Token, InputKey: text(q.Key), Question: q.Question, Options: listed(q.Options)}
	if p := q.Postponed; p != nil {
		d.Postponed = &Postponed{By: p.By, At: stamp(p.At), Reason: p.Reason}
	}
	return d
}

// blocked answers a call that was refused. Nothing of it was written.
func (r *reading) blocked(c Caller, why *cursor.Refusal) (Answer, error) {
	a := r.head(c)
	a.Kind = KindBlocked
	if held := r.state.Held(c.Holder()); len(held) == 1 && keepsIssue(why.Code) {
		if err := r.showIssue(&a, held[0], true); err != nil {
			return Answer{}, err
		}
	}
	r.showBlock(&a, why, c)
	return r.seal(a), nil
}

// keepsIssue tells whether the caller can go on with what it holds.
func keepsIssue(code cursor.Code) bool {
	switch code {
	case cursor.GuardRefused, GuardError, PluginFailed, cursor.TokenRequired, PromptFailed, cursor.ArtifactConflict:
		return true
	}
	return false
}

func (r *reading) showBlock(a *Answer, why *cursor.Refusal, c Caller) {
	a.ReasonCode = text(string(why.Code))
	a.Reason = text(string(why.Code) + ": " + why.Message)
	if a.Holder == nil && !why.Holder.IsZero() {
		holder := holds(why.Holder, why.Since)
		a.Holder = &holder
	}
	for _, f := range why.Guards {
		r.showGuard(a, Guard{Guard: f.Guard, Verdict: f.Verdict, Expected: f.Expected, Examined: f.Examined, Fix: f.Fix, message: f.Message})
	}
	a.Recover = append(a.Recover, r.recovery(a, why, c)...)
}

// recovery is the legal way out of a block: commands to paste, or, for a way
// that takes something from somebody, its help topic.
func (r *reading) recovery(a *Answer, why *cursor.Refusal, c Caller) []string {
	slug := quote(r.mission.Slug)
	switch why.Code {
	case cursor.GuardRefused:
		if why.Release != "" {
			return []string{r.releaseLine(why.Release, "its lane was taken back in the lane log"), "spec-kitty help lanes"}
		}
		return []string{r.reportOr(a, c)}
	case GuardError, PluginFailed, PromptFailed:
		if r.state.Unpublished != nil && slices.ContainsFunc(why.Guards, isUntrusted) {
			return append([]string{trustTopic}, r.publishLines()...)
		}
		// What the run froze may be what is wrong: then going over to what was mended
		// helps, or going on without the step.
		lines := []string{r.reportOr(a, c), r.migrateLine(), "spec-kitty help skip"}
		if slices.ContainsFunc(why.Guards, isUntrusted) {
			lines = append([]string{trustTopic, "spec-kitty trust" + r.p.rootFlag() + " --mission " + slug}, lines...)
		}
		if len(r.state.Cursor.Questions) > 0 { // what the prompt wants may be an answer
			lines = append([]string{"spec-kitty help answer"}, lines...)
		}
		return lines
	case cursor.ArtifactConflict:
		if r.state.Unpublished != nil {
			return r.publishLines()
		}
		return []string{r.reportOr(a, c), "spec-kitty help skip"}
	case cursor.TokenRequired:
		var lines []string
		for _, issue := range r.state.Held(c.Holder()) {
			lines = append(lines, r.reportLine(issue))
		}
		return lines
	case cursor.StepFailed, cursor.StepBlocked:
		return r.retryLines(slug)
	case cursor.AuditRejected:
		return []string{"spec-kitty run retry" + r.p.rootFlag() + " " + slug}
	case cursor.Waiting:
		return append(append(r.stoppedLines(slug), r.nextLine(c)), r.waitingLines()...)
	case cursor.NotHolder, cursor.PackageHeld:
		return []string{r.nextLine(c), "spec-kitty help release"}
	case cursor.RunAbortedCode:
		return []string{"spec-kitty help abort"}
	}
	return []string{r.nextLine(c)}
}

// isUntrusted tells a guard whose command nobody consented to.
func isUntrusted(f cursor.GuardFailure) bool { return strings.HasPrefix(f.Examined, notTrusted+":") }

func (r *reading) reportOr(a *Answer, c Caller) string {
	if a.Report != nil {
		return *a.Report
	}
	return r.nextLine(c)
}

// retryLines are the commands that open again what failed or is blocked.
func (r *reading) retryLines(slug string) []string {
	lines := r.stoppedLines(slug)
	if r.state.Cursor.Stop != cursor.NoStop {
		lines = []string{"spec-kitty run retry" + r.p.rootFlag() + " " + slug}
	}
	return append(lines, "spec-kitty help skip")
}

// stoppedLines open the packages again that failed or are blocked.
func (r *reading) stoppedLines(slug string) []string {
	var lines []string
	for _, p := range r.facts.Packages {
		if r.state.Packages[p.ID].Stop != cursor.NoStop {
			lines = append(lines, "spec-kitty run retry"+r.p.rootFlag()+" "+slug+" --package "+quote(p.ID))
		}
	}
	return lines
}

// nextLine is the query that shows how things stand.
func (r *reading) nextLine(c Caller) string {
	line := "spec-kitty next" + r.p.rootFlag() + " --mission " + quote(r.mission.Slug) + " --json"
	switch {
	case c.Agent != "":
		line += " --agent " + quote(c.Agent)
	case c.Human != "":
		line += " --as human:" + quote(c.Human)
	}
	if c.Worker != "" {
		line += " --worker " + quote(c.Worker)
	}
	return line
}
