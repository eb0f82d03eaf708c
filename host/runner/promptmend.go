package runner

import (
	"context"
	"fmt"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
)

// promptMissing is work that is handed out and whose prompt is not there: its
// writer died after the record, or somebody removed the file.
const promptMissing = "prompt_missing"

// writePrompts writes the prompts of all open work that has none, and names the
// work. Whoever hands out anew what somebody else holds calls it after the
// commit: the holder's next call may be a query, which writes nothing.
//
// So is the prompt of an open audit written: a person answers it, who asks for no
// work.
func (r *reading) writePrompts() []string {
	var written []string
	if open := r.state.Cursor.Questions; r.state.Phase == cursor.Running && len(open) > 0 && cursor.IsAudit(open[0].ID) {
		r.questionFile(Caller{}, true)
	}
	for _, issue := range r.unprompted() {
		if r.promptFile(issue, true) != nil {
			written = append(written, issueName(issue))
		}
	}
	return written
}

// unprompted is the open work whose prompt is not there.
func (r *reading) unprompted() []cursor.Issue {
	var all []cursor.Issue
	if r.state.Phase != cursor.Running {
		return nil
	}
	for _, issue := range r.state.Issues() {
		if _, there := r.run.store.Locate(promptName(issue.Token)); !there && r.wantsPrompt(issue) {
			all = append(all, issue)
		}
	}
	return all
}

// wantsPrompt tells whether somebody reads the prompt: the work of a step that
// its executor does alone is nobody's.
func (r *reading) wantsPrompt(issue cursor.Issue) bool {
	def, err := r.facts.Def.Step(issue.Pos)
	return err == nil && (def.Executor == nil || !def.Executor.Auto)
}

func issueName(issue cursor.Issue) string {
	if issue.Package != "" {
		return "package " + issue.Package
	}
	return "step " + issue.Step
}

// openByID reads one run by its id, also one that is not its mission's latest. The
// caller closes it.
func (p *Project) openByID(ctx context.Context, id string) (*reading, error) {
	store, err := p.runs.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return p.apart(ctx, store)
}

// apart reads a run for one look, and keeps nothing of it open: the caller closes
// it. Nothing can be committed on it.
func (p *Project) apart(ctx context.Context, store Store) (*reading, error) {
	r := &reading{p: p, run: &run{store: store}}
	if err := r.load(ctx); err != nil {
		r.run.close()
		return nil, err
	}
	return r, nil
}

func (r *reading) load(ctx context.Context) error {
	snap, err := r.run.store.Read(ctx)
	if err != nil {
		return err
	}
	if r.mission, err = r.p.mission(ctx, snap.Subject); err != nil {
		return err
	}
	r.run.mission = r.mission
	r.run.packages, r.run.lanes = lanes.NewReader(r.mission.Dir), lanes.NewLogReader(r.mission.Dir)
	return r.see(snap)
}

// prompts notes open work without a prompt.
func (e *examination) prompts(ctx context.Context, h RunHealth) {
	if h.Damaged || h.Newer {
		return
	}
	r, err := e.p.openByID(ctx, h.RunID)
	if err != nil {
		return // whoever works on the run is told
	}
	defer r.run.close()
	for _, issue := range r.unprompted() {
		e.find(Finding{Level: LevelRepairable, Code: promptMissing, RunID: h.RunID, Fix: e.p.repairLine(h.RunID),
			Message: fmt.Sprintf("%s is handed out to %s and its prompt is not there", issueName(issue), issue.Holder)})
	}
}

// mendPrompts writes a run's missing prompts and gives whose they are, and why
// others could not be written.
func (p *Project) mendPrompts(ctx context.Context, id string) (written []string, failed []Warning, err error) {
	r, err := p.openByID(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	defer r.run.close()
	said := len(r.warnings)
	written = r.writePrompts()
	return written, r.warnings[said:], nil
}
