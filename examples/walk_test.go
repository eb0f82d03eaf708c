package examples_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

// TestMain first lets a plugin's child process do its work: the runner starts
// this very program for one.
func TestMain(m *testing.M) {
	sandbox.ChildMain()
	goleak.VerifyTestMain(m)
}

// copyOf is a project with the example mission in a folder of its own.
func copyOf(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, folder := range []string{"kitty-specs", "software-dev", "plugins/spec-lint", "plugins/scaffold"} {
		if err := os.CopyFS(filepath.Join(root, "examples", folder), os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join("..", "spec-kitty.toml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "spec-kitty.toml"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func openProject(t *testing.T, root string) *runner.Project {
	t.Helper()
	p, err := runner.Open(runner.Options{Root: root, CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// success reports success as one agent, with the token of the work it has.
func success(t *testing.T, p *runner.Project, token string) runner.Answer {
	t.Helper()
	answer, err := p.Next(context.Background(), runner.Request{
		Mission: slug, Caller: runner.Caller{Agent: "you"}, Result: cursor.Success, Token: token,
	})
	if err != nil && answer.Kind == "" {
		t.Fatal(err)
	}
	return answer
}

func shown(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// One agent alone comes to the end by doing what the prompts say: each step first
// refuses what is not there yet, WP03 waits for the approval of the other two,
// and the agent reviews its own work.
func TestOneAgentWalksToTheEnd(t *testing.T) {
	root := copyOf(t)
	p := openProject(t, root)
	folder := filepath.Join(root, "examples", "kitty-specs", slug)
	written := artifacts()

	var walked []string
	answer := success(t, p, "")
	for answer.Kind == runner.KindStep && len(walked) < 20 {
		step := shown(answer.StepID)
		walked = append(walked, strings.TrimSpace(step+" "+shown(answer.WPID)))
		prompt, err := os.ReadFile(shown(answer.PromptFile))
		if err != nil || !strings.Contains(string(prompt), shown(answer.Report)) {
			t.Errorf("%s: its prompt does not say how to report: %v", step, err)
		}
		if files, ok := written[step]; ok {
			refused(t, success(t, p, shown(answer.Token)), step)
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		answer = success(t, p, shown(answer.Token))
	}
	if answer.Kind != runner.KindTerminal || answer.MissionState != "done" {
		t.Errorf("ended with %s, %s: %s", answer.Kind, answer.MissionState, shown(answer.Reason))
	}
	want := "discovery, specify, plan, tasks, implement WP01, review WP01, implement WP02, review WP02, implement WP03, review WP03, accept"
	if got := strings.Join(walked, ", "); got != want {
		t.Errorf("walked %s\nwant   %s", got, want)
	}
}

func refused(t *testing.T, answer runner.Answer, step string) {
	t.Helper()
	if answer.Kind != runner.KindBlocked || shown(answer.ReasonCode) != "guard_refused" || len(answer.GuardFailures) == 0 {
		t.Errorf("%s with nothing written: %s, %s", step, answer.Kind, shown(answer.Reason))
	}
}

// The smallest project: a mission is made with its run, and the guard wants the
// file that the first prompt asks for.
func TestHelloIsTheSmallestProject(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("hello")); err != nil {
		t.Fatal(err)
	}
	p := openProject(t, root)
	_, err := p.Start(context.Background(), runner.StartRequest{Slug: slug, Type: "hello", Caller: runner.Caller{Agent: "you"}})
	if err != nil {
		t.Fatal(err)
	}
	if answer := success(t, p, ""); shown(answer.StepID) != "check" {
		t.Errorf("after write: %s at %s, want check", answer.Kind, shown(answer.StepID))
	}
	refused(t, success(t, p, ""), "check")
	if err := os.WriteFile(filepath.Join(root, "kitty-specs", slug, "hello.md"), []byte("Hello, world!\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if answer := success(t, p, ""); answer.Kind != runner.KindTerminal {
		t.Errorf("after check: %s, want terminal", answer.Kind)
	}
}
