//go:build unix

package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// gated is A, which the command unit-tests lets pass, and B.
func gated(script, more string) string {
	return fmt.Sprintf(`
[commands.unit-tests]
run = ["sh", "-c", %q]
timeout = "2s"
%s
[[missions.t.steps]]
id = "A"
retry = 1
executor = { plugin = "test-gate", with = { command = "unit-tests" } }
[[missions.t.steps]]
id = "B"`, script, more)
}

func gatedProject(t *testing.T, script, more string) string {
	t.Helper()
	root := makeProject(t, gated(script, more), nil, "test-gate")
	must(t, open(t, root), report("a", cursor.Success))
	return root
}

// An executor's need is run by the host, and the executor is called again with
// the result: success, failed or blocked by what the command came to. Case 29.
func TestNeeds_Case29(t *testing.T) {
	for _, tt := range []struct {
		name, script, code, says string
	}{
		{"passes", "echo fine; touch ran", "", ""},
		{"fails", "echo 'FAIL: TestGreet' >&2; exit 1", "", "FAIL: TestGreet"},
		{"another exit", "exit 7", "", "exit code 7"},
		{"out of time", "sleep 20", "step_blocked", "out of time"},
		{"killed", "kill -9 $$", "step_blocked", "could not be run"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := gatedProject(t, tt.script, "")
			p := open(t, root, trusting(t, root))
			a := must(t, p, report("a", cursor.Success))
			switch {
			case tt.says == "":
				wantStep(t, a, "B")
				if _, err := os.Stat(filepath.Join(root, "ran")); err != nil {
					t.Error("the command did not run in the project's folder")
				}
			case tt.code == "":
				wantStep(t, a, "A") // the second attempt
				if *a.Attempt != 2 {
					t.Errorf("attempt %d", *a.Attempt)
				}
			default:
				if code(a) != tt.code || !a.Recorded {
					t.Errorf("code %s, recorded %v", code(a), a.Recorded)
				}
			}
			log := journal(t, root)
			if !strings.Contains(log, tt.says) || !strings.Contains(log, `{"kind":"command","name":"unit-tests"`) {
				t.Errorf("the journal lacks %q or the command's end:\n%s", tt.says, log)
			}
			if strings.Count(log, `"verb":"execute","round":`) != 2 {
				t.Errorf("the journal has not both calls:\n%s", log)
			}
			wantSound(t, p)
		})
	}
}

// The command is told the token and the round.
func TestNeedsAreToldTheirToken(t *testing.T) {
	root := gatedProject(t, `echo "$SPEC_KITTY_TOKEN $SPEC_KITTY_ROUND $SPEC_KITTY_STEP" >told`, "")
	q, err := open(t, root).Query(t.Context(), "m", Caller{Agent: "a"})
	if err != nil {
		t.Fatal(err)
	}
	wantStep(t, must(t, open(t, root, trusting(t, root)), report("a", cursor.Success)), "B")
	if got, want := read(t, filepath.Join(root, "told")), *q.Token+" 1 A\n"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

// Without consent nothing runs, and the block says how to get it.
func TestNeedsWantConsent(t *testing.T) {
	root := gatedProject(t, "touch ran", "")
	before := journal(t, root)
	wantUntrusted(t, root, must(t, open(t, root), report("a", cursor.Success)))
	if journal(t, root) != before {
		t.Error("something was recorded")
	}
}

// Without consent no artifact is written.
func TestArtifactsWantConsent(t *testing.T) {
	root := changelogProject(t, logged)
	before := journal(t, root)
	wantUntrusted(t, root, must(t, open(t, root), because("Greets")))
	if _, err := os.Stat(changelogFile(root)); err == nil || journal(t, root) != before {
		t.Error("an artifact was written without consent")
	}
}

// A command that is not declared is refused by name, and an executor that never
// comes to an end by its rounds.
func TestNeedsAreBounded(t *testing.T) {
	for name, want := range map[string]struct{ config, says string }{
		"not declared": {strings.Replace(gated("exit 0", ""), "[commands.unit-tests]", "[commands.other]", 1), "not_granted"},
		"for ever":     {gated("exit 0", ""), roundLimit},
	} {
		t.Run(name, func(t *testing.T) {
			config := strings.Replace(want.config, `plugin = "test-gate", with = { command = "unit-tests" }`, `plugin = "needs"`, 1)
			root := makeProject(t, config, nil, "needs")
			p := open(t, root, trusting(t, root))
			must(t, p, report("a", cursor.Success))
			a := must(t, p, report("a", cursor.Success))
			wantBlocked(t, a, "plugin_failed")
			if !strings.Contains(*a.Reason, want.says) {
				t.Errorf("reason %s", *a.Reason)
			}
		})
	}
}

// What an executor is told fits into a request, however much was written.
func TestResultsFitIntoARequest(t *testing.T) {
	loud := command.Result{End: command.Exited, Exit: 1, Stdout: command.Output{Kept: []byte(strings.Repeat("\x1b\xff", 1<<19))}}
	needs := slices.Repeat([]abi.Need{{Command: "x"}}, abi.MaxItems)
	ends := slices.Repeat([]command.Result{loud}, abi.MaxItems)
	req := abi.Request{Commands: shownResults(needs, ends)}
	raw, err := req.Encode()
	if err != nil || len(raw) > 1<<20 || req.Commands[0].Stdout == "" || req.Commands[0].Exit != 1 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
	missing := shownResults(needs[:1], []command.Result{{End: command.NotStarted, Exit: -1, Err: os.ErrNotExist}})
	if missing[0].Exit != -1 || !strings.Contains(missing[0].Stderr, "not exist") {
		t.Errorf("%+v", missing)
	}
}
