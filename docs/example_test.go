package docs_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/runner"
)

const slug = "034-pay-by-link"

// walker takes the worked example forward.
type walker struct {
	t    *testing.T
	p    *runner.Project
	last runner.Answer
}

func (w *walker) send(q runner.Request) {
	w.t.Helper()
	q.Mission = slug
	if q.Caller == (runner.Caller{}) {
		q.Caller.Agent = "claude"
	}
	answer, err := w.p.Next(context.Background(), q)
	if err != nil {
		w.t.Fatal(err)
	}
	w.last = answer
}

// at wants the last answer to be of a kind, at a step.
func (w *walker) at(kind runner.Kind, state string) {
	w.t.Helper()
	if w.last.Kind != kind || w.last.MissionState != state {
		w.t.Fatalf("%s at %s (%s), want %s at %s", w.last.Kind, w.last.MissionState, shown(w.last.Reason), kind, state)
	}
}

func shown(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// The page's worked example: its files are valid, and it goes as the page says,
// from the question for the owner to the approval.
func TestWorkedExampleRunsToItsEnd(t *testing.T) {
	root := namedFiles(t, "missions.md")
	if _, _, err := config.Validate(root); err != nil {
		t.Fatal(err)
	}
	p, err := runner.Open(runner.Options{Root: root, CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	w := &walker{t: t, p: p}
	if w.last, err = p.Start(context.Background(), runner.StartRequest{Slug: slug, Caller: runner.Caller{Agent: "claude"}}); err != nil {
		t.Fatal(err)
	}
	w.at(runner.KindDecision, "specify")
	owner := "kim"
	w.send(runner.Request{Caller: runner.Caller{Human: "kim"}, Decision: "input:owner", Answer: &owner})
	w.at(runner.KindQuery, "specify")
	w.send(runner.Request{Result: cursor.Success})
	w.at(runner.KindStep, "specify")
	prompt, err := os.ReadFile(shown(w.last.PromptFile))
	if err != nil || !strings.Contains(string(prompt), "kim decides what is in it; the data lies in sqlite") {
		t.Errorf("the prompt of specify: %v\n%s", err, prompt)
	}
	w.work(root)
	w.audit()
}

// work does what the steps want.
func (w *walker) work(root string) {
	token := shown(w.last.Token)
	w.send(runner.Request{Result: cursor.Success, Token: token})
	w.at(runner.KindBlocked, "specify")
	folder := filepath.Join(root, "kitty-specs", slug)
	write(w.t, folder, map[string]string{"spec.md": "# Pay by link\n\n## Success criteria\n\n- SC-001: a link is paid.\n"})
	w.send(runner.Request{Result: cursor.Success, Token: token})
	w.at(runner.KindStep, "tasks")
	write(w.t, folder, map[string]string{"tasks/WP01-link.md": "---\nwork_package_id: WP01\ntitle: The link\n---\nBuild it.\n"})
	w.send(runner.Request{Result: cursor.Success, Token: shown(w.last.Token)})
	w.at(runner.KindStep, "build")
	if shown(w.last.WPID) != "WP01" || w.last.StepMetadata["branch"] != "per package" {
		w.t.Errorf("build hands out %q with %v", shown(w.last.WPID), w.last.StepMetadata)
	}
	w.send(runner.Request{Result: cursor.Failed, Reason: "it does not build", Token: shown(w.last.Token)})
	w.at(runner.KindStep, "build")
	w.send(runner.Request{Result: cursor.Success, Token: shown(w.last.Token)})
	w.at(runner.KindDecision, "release")
}

func (w *walker) audit() {
	yes := "approve"
	w.send(runner.Request{Caller: runner.Caller{Human: "kim"}, Decision: shown(w.last.DecisionID),
		DecisionToken: shown(w.last.DecisionToken), Answer: &yes})
	w.at(runner.KindTerminal, "done")
}
