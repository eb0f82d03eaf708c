package runner

import (
	"fmt"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

// Prompts are views: rendered before the commit, so that one that cannot be
// rendered keeps work from being handed out, and written after it, so that a
// crash between the two leaves a prompt to be written again and never a prompt
// for work that nobody has.

const promptFolder = "prompts"

func promptName(token string) string { return promptFolder + "/" + token + ".md" }

// renderNext renders what the plan would hand out, to refuse it in time.
func (r *reading) renderNext(made plan, by cursor.Holder) error {
	for _, issue := range made.state.Held(by) {
		if _, open := r.state.Issue(issue.Token); open {
			continue
		}
		if _, err := r.render(made.state, issue); err != nil {
			return &cursor.Refusal{Code: PromptFailed, Message: "the prompt of step " + issue.Step + ": " + err.Error() +
				"; give what it wants, or mend it in the definition and go over to that with `spec-kitty run migrate`"}
		}
	}
	return nil
}

// render makes the prompt of an issue.
func (r *reading) render(s cursor.State, issue cursor.Issue) (string, error) {
	def, err := r.facts.Def.Step(issue.Pos)
	if err != nil {
		return "", err
	}
	handover := s.Cursor.Handover
	data := mission.PromptData{
		Run: mission.RunData{ID: s.Run},
		Mission: mission.MissionData{
			Slug: r.mission.Slug, Type: s.Type, Dir: r.mission.Dir, Number: r.mission.Number,
		},
		Step:     mission.StepData{ID: def.ID, Title: def.Title, Description: def.Description, Action: def.Action, Attempt: issue.Attempt},
		Inputs:   inputs(s, nil),
		Feedback: s.Cursor.Feedback,
		Report:   r.reportLine(issue),
	}
	if def.Audit != nil {
		data.Step.Question = def.Audit.Question
	}
	if issue.Package != "" {
		data.Feedback, handover = s.Packages[issue.Package].Feedback, s.Packages[issue.Package].Handover
		if data.Package, err = r.packageData(issue.Package); err != nil {
			return "", err
		}
	}
	text, err := mission.Render(def.Prompt, data)
	if err != nil || handover == "" {
		return text, err
	}
	return strings.TrimRight(text, "\n") + "\n\n" + handover + "\n", nil
}

func (r *reading) packageData(id string) (*mission.PackageData, error) {
	files, err := r.run.packages.Packages()
	if err != nil {
		return nil, err
	}
	for _, p := range files {
		if p.ID == id {
			return &mission.PackageData{ID: p.ID, Title: p.Title, Body: p.Body, Path: p.Path}, nil
		}
	}
	return nil, fmt.Errorf("package %s has no file in tasks/", id)
}

// promptFile is the path of an issue's prompt. A writer makes it where it is
// missing; a query gets none and is told what brings it back.
func (r *reading) promptFile(issue cursor.Issue, write bool) *string {
	name := promptName(issue.Token)
	if path, ok := r.run.store.Locate(name); ok {
		return &path
	}
	if !write {
		if !r.planned && r.wantsPrompt(issue) {
			r.warn(promptMissing, "the prompt of "+issueName(issue)+" is not there; `"+r.p.repairLine(r.state.Run)+"` writes it")
		}
		return nil
	}
	body, err := r.render(r.state, issue)
	return r.publish(name, body, err)
}

// questionFile is a prompt that shows the open questions.
func (r *reading) questionFile(c Caller, write bool) *string {
	open := r.state.Cursor.Questions
	name := promptName(open[0].Token)
	if path, ok := r.run.store.Locate(name); ok {
		return &path
	}
	if !write {
		return nil
	}
	return r.publish(name, r.questions(c), nil)
}

func (r *reading) publish(name, body string, err error) *string {
	if err == nil {
		var path string
		if path, err = r.run.store.Publish(name, []byte(body)); err == nil {
			return &path
		}
	}
	r.warn(commit.WarnViewNotWritten, "the prompt could not be written: "+err.Error())
	return nil
}

func (r *reading) questions(c Caller) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Questions before step %s\n", r.state.Cursor.Step)
	for _, q := range r.state.Cursor.Questions {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", q.ID, q.Question)
		for _, option := range q.Options {
			fmt.Fprintf(&b, "- %s\n", option)
		}
		fmt.Fprintf(&b, "\n    %s\n", r.answerLine(c, q))
	}
	return b.String()
}

// reportLine is the command line to report an issue with.
func (r *reading) reportLine(issue cursor.Issue) string {
	who := "--agent " + quote(issue.Holder.Agent)
	if human, ok := strings.CutPrefix(issue.Holder.Agent, "human:"); ok {
		who = "--as human:" + quote(human)
	}
	if issue.Holder.Worker != "" {
		who += " --worker " + quote(issue.Holder.Worker)
	}
	return fmt.Sprintf("spec-kitty next%s --mission %s %s --token %s --result success --json", r.p.rootFlag(), quote(r.mission.Slug), who, issue.Token)
}

func (r *reading) answerLine(c Caller, q cursor.Asking) string {
	who := "--agent " + quote(c.Agent)
	if c.Agent == "" || strings.HasPrefix(q.ID, "audit:") {
		who = "--as human:NAME"
	}
	return fmt.Sprintf(`spec-kitty next%s --mission %s %s --decision-id %s --decision-token %s --answer "$ANSWER" --json`, r.p.rootFlag(), quote(r.mission.Slug), who, q.ID, q.Token)
}

// Quote makes a word safe to paste into a shell.
func Quote(word string) string { return quote(word) }

func quote(word string) string {
	safe := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:@%+=,", c)
	}
	if word != "" && strings.IndexFunc(word, func(c rune) bool { return !safe(c) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// WarnWorkspace says that the folder which a package should be worked on in is not
// used: a link leads to it.
const WarnWorkspace = "workspace_not_used"

// workspace is the worktree of a package; nil where it has none.
func (r *reading) workspace(id string) *string {
	if id == "" {
		return nil
	}
	all, err := lanes.Workspaces(r.p.Config.Root, r.mission)
	if err != nil {
		r.warn("workspaces_unreadable", err.Error())
		return nil
	}
	if _, err := lanes.CheckWorkspace(r.p.Config.Root, all[id]); err != nil {
		r.warn(WarnWorkspace, "package "+id+" has no workspace: "+err.Error())
		return nil
	}
	return text(all[id])
}
