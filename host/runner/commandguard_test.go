//go:build unix

package runner

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

// checked is a step with a command as its guard, and one after it. The command
// runs check.sh in the project's root.
const checked = `
[commands.check]
run = ["sh", "./check.sh"]
timeout = "10s"
[missions.t]
steps = [{ id = "A", guards = [{ command = "check" }] }, { id = "B" }]`

// commandProject is a project with a command that runs a script, opened by a user
// who consented to it, or by one who did not.
func commandProject(t *testing.T, missions, script string, consent bool) (*Project, string) {
	t.Helper()
	root := makeProject(t, missions, nil)
	write(t, filepath.Join(root, "check.sh"), script)
	p := open(t, root, trustIn(filepath.Join(t.TempDir(), "trust")))
	if consent {
		trustAll(t, p)
	}
	return p, root
}

// calls are the calls that the run's reports have recorded.
func calls(t *testing.T, root string) []cursor.Call {
	t.Helper()
	var all []cursor.Call
	for _, line := range strings.Split(strings.TrimSpace(journal(t, root)), "\n") {
		var rec struct {
			Events []json.RawMessage `json:"events"`
		}
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		for _, raw := range rec.Events {
			if e, err := cursor.DecodeEvent(raw); err == nil {
				if r, ok := e.(cursor.Reported); ok {
					all = append(all, r.Calls...)
				}
			}
		}
	}
	return all
}

// FR-008, Case08, Case29: only exit 0 lets the step pass, only exit 1 is a
// refusal, and whatever else is no verdict. A refused report leaves no trace.
func TestCommandGuard_Case08_Case29(t *testing.T) {
	for name, c := range map[string]struct{ script, code, words string }{
		"allow":     {"echo fine; exit 0", "", ""},
		"refuse":    {"echo '3 tests failed' >&2; exit 1", "guard_refused", "exit 1 after"},
		"says why":  {"echo '3 tests failed' >&2; exit 1", "guard_refused", "3 tests failed"},
		"trouble":   {"exit 2", "guard_error", "exit 2 after"},
		"126":       {"exit 126", "guard_error", "could not be evaluated"},
		"127":       {"no-such-program-at-all", "guard_error", "exit 127"},
		"signal":    {"kill -KILL $$", "guard_error", "killed"},
		"escapes":   {"printf 'a\\033[2Jb'; exit 1", "guard_refused", ""},
		"not UTF-8": {"printf '\\377'; exit 1", "guard_refused", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, root := commandProject(t, checked, c.script, true)
			must(t, p, report("a", cursor.Success))
			before := journal(t, root)
			a := must(t, p, report("a", cursor.Success))
			if c.code == "" {
				wantStep(t, a, "B")
				return
			}
			wantBlocked(t, a, c.code)
			if !strings.Contains(*a.Reason, c.words) || a.Token == nil || len(a.Recover) == 0 || journal(t, root) != before {
				t.Errorf("reason %q, token %v, recover %q", *a.Reason, a.Token, a.Recover)
			}
		})
	}
}

func TestCommandGuardThatCannotStart(t *testing.T) {
	t.Parallel()
	p, _ := commandProject(t, strings.Replace(checked, `"sh", `, `"no-such-program-at-all", `, 1), "", true)
	must(t, p, report("a", cursor.Success))
	a := must(t, p, report("a", cursor.Success))
	wantBlocked(t, a, "guard_error")
	if !strings.Contains(*a.Reason, "not found") {
		t.Error(*a.Reason)
	}
}

func TestCommandGuardOutOfTime(t *testing.T) {
	t.Parallel()
	p, _ := commandProject(t, strings.Replace(checked, `"10s"`, `"200ms"`, 1), "while :; do sleep 1; done", true)
	must(t, p, report("a", cursor.Success))
	a := must(t, p, report("a", cursor.Success))
	wantBlocked(t, a, "guard_error")
	if !strings.Contains(*a.Reason, "did not end within its time") {
		t.Error(*a.Reason)
	}
}

// The context's end ends the command, and is no fault of the guard.
func TestCanceledCallEndsTheCommand(t *testing.T) {
	t.Parallel()
	p, root := commandProject(t, checked, "touch started; while :; do sleep 60; done", true)
	must(t, p, report("a", cursor.Success))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(root, "started")); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := p.Next(ctx, report("a", cursor.Success)); err != context.Canceled {
		t.Errorf("%v, want the context's error", err)
	}
}

// A command is told what it is asked about, gets what was passed on by name, and
// nothing else of our environment.
func TestCommandIsToldWhatItIsAbout(t *testing.T) {
	t.Setenv("SECRET", "leaked")
	t.Setenv("SPEC_KITTY_TOKEN", "forged")
	p, root := commandProject(t, strings.Replace(checked, "timeout", "pass_env = [\"PATH\"]\ntimeout", 1), "env >env.txt; pwd -P >pwd.txt", true)
	token := *must(t, p, report("a", cursor.Success)).Token
	wantStep(t, must(t, p, report("a", cursor.Success)), "B")
	env := strings.Split(read(t, filepath.Join(root, "env.txt")), "\n")
	for _, want := range []string{"SPEC_KITTY_TOKEN=" + token, "SPEC_KITTY_STEP=A", "SPEC_KITTY_MISSION=m", "SPEC_KITTY_ROUND=1", "SPEC_KITTY_MISSION_DIR=" + filepath.Join(root, "kitty-specs", "m")} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is not in %q", want, env)
		}
	}
	for _, line := range env {
		if strings.HasPrefix(line, "SECRET=") || strings.HasPrefix(line, "HOME=") || strings.HasPrefix(line, "SPEC_KITTY_PACKAGE=") {
			t.Errorf("the command got %s", line)
		}
	}
	real, _ := filepath.EvalSymlinks(root)
	if got := strings.TrimSpace(read(t, filepath.Join(root, "pwd.txt"))); got != real {
		t.Errorf("it worked in %s, not in %s", got, real)
	}
}

// What ran is evidence in the record: how it ended, and the digests and end of
// what it wrote.
func TestCommandIsEvidence(t *testing.T) {
	p, root := commandProject(t, checked, "yes ok | head -c 3000; echo oops >&2; exit 0", true)
	must(t, p, report("a", cursor.Success))
	wantStep(t, must(t, p, report("a", cursor.Success)), "B")
	all := calls(t, root)
	if len(all) != 1 || all[0].Command == nil {
		t.Fatalf("%+v", all)
	}
	c := all[0]
	if c.Kind != cursor.CallCommand || c.Name != "check" || c.Round != 1 || c.Command.End != "exited" || c.Command.Exit != 0 {
		t.Errorf("%+v %+v", c, c.Command)
	}
	consent, err := p.Consent(context.Background(), ConsentTo{Mission: "m"})
	if err != nil || c.SHA256 != consent.Digest {
		t.Errorf("the set is %s, the run's %s, %v", c.SHA256, consent.Digest, err)
	}
	text := strings.Repeat("ok\n", 1000)
	out := c.Command.Stdout
	if out.Bytes != 3000 || out.SHA256 != hexSum([]byte(text)) || out.Tail != text[3000-cursor.MaxTail:] || c.Command.Stderr.Tail != "oops\n" {
		t.Errorf("%+v %+v", out, c.Command.Stderr)
	}
}

// A plugin's calls are evidence too, and what is needed to make them again lies in
// the run's folder by its digest.
func TestPluginCallsAreEvidence(t *testing.T) {
	root := makeProject(t, consulted, map[string]string{"spec.md": spec}, "success", "spec-lint")
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	wantStep(t, must(t, p, report("a", cursor.Success)), "B")
	all := calls(t, root)
	if len(all) != 2 || all[0].Verb != "execute" || all[1].Verb != "guard" || all[1].Name != "spec-lint" {
		t.Fatalf("%+v", all)
	}
	for _, c := range all {
		if c.Kind != cursor.CallPlugin || len(c.SHA256) != 64 || len(c.Answer) != 64 {
			t.Errorf("%+v", c)
		}
		for _, sum := range []string{c.Request, c.Files} {
			if sum == "" && c.Verb == "execute" {
				continue // it reads no files
			}
			found, err := filepath.Glob(filepath.Join(root, ".kittify", "step-runner", "runs", "*", "calls", sum+".json"))
			if err != nil || len(found) != 1 {
				t.Fatalf("view %s: %v, %v", sum, found, err)
			}
			if raw := read(t, found[0]); hexSum([]byte(raw)) != sum {
				t.Errorf("view %s holds %s", sum, raw)
			}
		}
	}
	var seen []sandbox.Fact
	raw := read(t, oneFile(t, root, "calls", all[1].Files+".json"))
	if err := json.Unmarshal([]byte(raw), &seen); err != nil || len(seen) == 0 {
		t.Errorf("files seen: %s, %v", raw, err)
	}
	wantSound(t, p)
}

// oneFile is the path of a file in the only run's folder.
func oneFile(t *testing.T, root string, name ...string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(append([]string{root, ".kittify", "step-runner", "runs", "*"}, name...)...))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v: %v, %v", name, found, err)
	}
	return found[0]
}

// A query lists a command and runs nothing.
func TestQueryRunsNoCommand(t *testing.T) {
	p, root := commandProject(t, checked, "touch ran", true)
	must(t, p, report("a", cursor.Success))
	a, err := p.Query(context.Background(), "m", Caller{Agent: "a"})
	if err != nil || !slices.Equal(a.NotEvaluated, []string{"command check"}) {
		t.Errorf("%q, %v", a.NotEvaluated, err)
	}
	fits(t, a)
	if _, err := os.Stat(filepath.Join(root, "ran")); err == nil {
		t.Error("a query ran the command")
	}
}

// All commands of a step run, one after the other in their order, and all
// failures are listed.
func TestCommandsRunInTheirOrder(t *testing.T) {
	p, root := commandProject(t, `
[commands.one]
run = ["sh", "-c", "echo one >>order; exit 1"]
[commands.two]
run = ["sh", "-c", "echo two >>order; exit 2"]
[commands.three]
run = ["sh", "-c", "echo three >>order"]
[missions.t]
steps = [{ id = "A", guards = [{ command = "two" }, { command = "one", message = "Do it" }, { artifact = "x.md" }, { command = "three" }] }]`, "", true)
	must(t, p, report("a", cursor.Success))
	a := must(t, p, report("a", cursor.Success))
	wantBlocked(t, a, "guard_error")
	if got := read(t, filepath.Join(root, "order")); got != "two\none\nthree\n" {
		t.Errorf("order %q", got)
	}
	if len(a.GuardFailures) != 3 || a.GuardFailures[1] != "Do it" {
		t.Errorf("%q", a.GuardFailures)
	}
}

// At a package step a command may work in the package's worktree, and cannot be
// evaluated where there is none.
func TestCommandInAWorktree(t *testing.T) {
	p, root := commandProject(t, `
[commands.check]
run = ["sh", "-c", "echo $SPEC_KITTY_PACKAGE >here"]
cwd = "workspace"
[[missions.t.steps]]
id = "implement"
guards = [{ command = "check" }]
work_packages = { take = ["planned"], claim = "in_progress", success = "for_review", failed = "planned", until = ["for_review"] }`, "", true)
	mission := filepath.Join(root, "kitty-specs", "m")
	for name, content := range packages(2) {
		write(t, filepath.Join(mission, name), content)
	}
	write(t, filepath.Join(mission, "lanes.json"), `{"lanes":[{"lane_id":"lane-a","wp_ids":["WP01","WP02"]}]}`)
	must(t, p, report("a", cursor.Success))
	a := must(t, p, report("a", cursor.Success))
	wantBlocked(t, a, "guard_error")
	if !strings.Contains(*a.Reason, "WP01 has no worktree") {
		t.Errorf("%s", *a.Reason)
	}
	tree := filepath.Join(root, ".worktrees", "m-lane-a")
	if err := os.MkdirAll(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	a = must(t, p, report("a", cursor.Success))
	if a.Kind != KindStep || value(a.WPID) != "WP02" {
		t.Fatalf("kind %s: %s", a.Kind, value(a.Reason))
	}
	if got := read(t, filepath.Join(tree, "here")); got != "WP01\n" {
		t.Errorf("here %q", got)
	}
}

// An event in the mission's log lets a step pass; one that comes between the
// evaluation and the commit makes the plan stale.
func TestEventGuard(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [{ id = "A", guards = [{ event = "source_documented", min = 2 }] }, { id = "B" }]`, nil)
	log := filepath.Join(root, "kitty-specs", "m", "mission-events.jsonl")
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	wantBlocked(t, must(t, p, report("a", cursor.Success)), "guard_refused")
	write(t, log, "{\"type\":\"source_documented\"}\n{\"type\":\"source_documented\"}\n")
	late := open(t, root, peerAt(PointPlanned, func() { write(t, log, "{\"type\":\"other\"}\n") }))
	wantBlocked(t, must(t, late, report("a", cursor.Success)), "stale_plan")
	write(t, log, "{\"type\":\"source_documented\"}\n{\"type\":\"source_documented\"}\n")
	noise := open(t, root, peerAt(PointPlanned, func() {
		write(t, log, "{\"type\":\"source_documented\"}\n{\"type\":\"source_documented\"}\n{\"type\":\"other\"}\n")
	}))
	wantStep(t, must(t, noise, report("a", cursor.Success)), "B")
}

// P2: nobody holds the run's lock while the command runs. It reads and reports on
// another package of the same run itself, and the report that waits for it is
// accepted.
func TestNoLockWhileACommandRuns_P2(t *testing.T) {
	p, root := commandProject(t, `
[commands.check]
run = ["sh", "-c", "touch running; while [ ! -e finish ]; do sleep 0.01; done"]
[[missions.t.steps]]
id = "implement"
guards = [{ command = "check" }]
work_packages = { take = ["planned"], claim = "in_progress", success = "for_review", failed = "planned", until = ["for_review"] }`, "", true)
	for name, content := range packages(2) {
		write(t, filepath.Join(root, "kitty-specs", "m", name), content)
	}
	wantStep(t, must(t, p, report("a", cursor.Success)), "implement")
	done := make(chan Answer, 1)
	go func() { done <- must(t, open(t, root, trustIn(p.trust.Folder())), report("a", cursor.Success)) }()
	awaitFile(t, filepath.Join(root, "running"))
	other := open(t, root, func(o *Options) { o.Commit = commit.Options{} })
	if got := must(t, other, report("b", cursor.Success)); value(got.WPID) != "WP02" {
		t.Errorf("beside the command: %s (%s)", value(got.WPID), value(got.Reason))
	}
	if got := must(t, other, report("b", cursor.Failed)); !got.Recorded {
		t.Errorf("beside the command: %s", value(got.Reason))
	}
	write(t, filepath.Join(root, "finish"), "")
	if a := <-done; !a.Recorded {
		t.Errorf("the report that waited: %s (%s)", code(a), value(a.Reason))
	}
}

// awaitFile waits for what another process writes.
func awaitFile(t *testing.T, file string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("waited too long for ", file)
		}
	}
}

// Whoever edits a saved plan gains nothing: what the report of a whole step is about is
// looked up anew, so a guard is told of no package that the file names.
func TestPlanNamesNoPackage(t *testing.T) {
	p, root := commandProject(t, `
[commands.check]
run = ["sh", "./check.sh"]
[[missions.t.steps]]
id = "implement"
guards = [{ command = "check" }]
work_packages = { take = ["planned"], claim = "in_progress", success = "for_review", failed = "planned", until = ["for_review"] }
[[missions.t.steps]]
id = "after"`, "test -e pass || test -n \"$SPEC_KITTY_PACKAGE\"", true)
	for name, content := range packages(1) {
		write(t, filepath.Join(root, "kitty-specs", "m", name), content)
	}
	write(t, filepath.Join(root, "kitty-specs", "m", "status.events.jsonl"), laneLog("for_review"))
	pass := filepath.Join(root, "pass")
	write(t, pass, "")
	must(t, p, Request{Mission: "m", Caller: Caller{Agent: "a"}, Result: cursor.Success})
	plan := save(t, p, root, report("a", cursor.Success))
	if err := os.Remove(pass); err != nil {
		t.Fatal(err)
	}
	wantBlocked(t, apply(t, p, plan), "guard_refused")
	wantBlocked(t, apply(t, p, edited(t, plan, func(issue, _ map[string]any) { issue["package"] = "WP01" })), "guard_refused")
}
