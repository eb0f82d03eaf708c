package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/runner"
)

// recoverProject has each sort of step: one that asks, packages with rework, an
// audit that leads back.
const recoverProject = `schema = 1
[[missions.t.steps]]
id = "specify"
prompt = "Specify it for {{.Inputs.owner}}"
inputs = [{ key = "owner", question = "Who?", options = ["ann", "bob"] }]
retry = 1
[[missions.t.steps]]
id = "implement"
depends_on = ["specify"]
work_packages = { take = ["planned"], claim = "in_progress", success = "for_review", failed = "planned", until = ["for_review", "in_review", "approved", "done", "canceled"], also = ["review"] }
[[missions.t.steps]]
id = "review"
depends_on = ["implement"]
guards = [{ artifact = "review.md" }]
work_packages = { take = ["for_review"], claim = "in_review", success = "approved", failed = "planned", until = ["approved", "done", "canceled"], also = ["implement"] }
[[missions.t.audits]]
id = "release"
question = "Ship it?"
depends_on = ["review"]
enforcement = "blocking"
on_reject = "implement"
`

// site is a project folder in which calls are made.
type site struct {
	t    *testing.T
	dir  string
	repo string                // of this program, to read test files in
	tune func(*runner.Options) // of the next calls; copies have none
}

func newSite(t *testing.T) site {
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	s := site{t: t, dir: t.TempDir(), repo: repo}
	s.write("spec-kitty.toml", recoverProject)
	s.write("kitty-specs/m/meta.json", `{"mission_type": "t"}`)
	s.write("kitty-specs/m/tasks/WP01.md", "---\nwork_package_id: WP01\ntitle: One\ndependencies: []\n---\nDo it.\n")
	s.write("kitty-specs/m/tasks/WP02.md", "---\nwork_package_id: WP02\ntitle: Two\ndependencies: [WP01]\n---\nDo it.\n")
	return s
}

func (s site) write(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// copied is the same project in another folder, to try something on.
func (s site) copied() site {
	s.t.Helper()
	other := site{t: s.t, dir: s.t.TempDir(), repo: s.repo}
	if err := os.CopyFS(other.dir, os.DirFS(s.dir)); err != nil {
		s.t.Fatal(err)
	}
	return other
}

// call makes a call as it would be typed in the project's folder.
func (s site) call(args ...string) (out string, code int) {
	s.t.Helper()
	s.t.Chdir(s.dir)
	var stdout, stderr bytes.Buffer
	code = run(process{args: args, in: strings.NewReader(""), out: &stdout, err: &stderr, getenv: func(string) string { return "" }, tune: s.tune})
	return stdout.String(), code
}

// json makes a call and reads its document, which must fit its schema.
func (s site) json(args ...string) map[string]any {
	s.t.Helper()
	out, code := s.call(append(args, "--json")...)
	if _, err := checkOutput([]byte(out), code); err != nil {
		s.t.Fatalf("%v: %v", args, err)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		s.t.Fatal(err)
	}
	return doc
}

// words splits a command as a shell does, as far as we print any.
func words(line string) []string {
	var all []string
	word, quoted, any := "", false, false
	for _, c := range line {
		switch {
		case c == '\'':
			quoted, any = !quoted, true
		case c == ' ' && !quoted:
			if any {
				all = append(all, word)
			}
			word, any = "", false
		default:
			word, any = word+string(c), true
		}
	}
	if any {
		all = append(all, word)
	}
	return all
}

// moves are what somebody could do next, as the query by nobody shows it.
func (s site) moves() [][]string {
	var all [][]string
	for _, agent := range []string{"a", "b"} {
		for _, result := range []string{"success", "failed", "blocked"} {
			all = append(all, []string{"next", "--mission", "m", "--agent", agent, "--result", result})
		}
	}
	for _, q := range s.json("next", "--mission", "m")["open_decisions"].([]any) {
		q := q.(map[string]any)
		id, token := q["decision_id"].(string), q["decision_token"].(string)
		for _, option := range q["options"].([]any) {
			all = append(all, []string{"decision", "answer", id, option.(string), "--mission", "m", "--as", "human:kim", "--decision-token", token})
		}
		all = append(all,
			[]string{"decision", "postpone", id, "--mission", "m", "--reason", "later"},
			[]string{"decision", "withdraw", id, "--mission", "m", "--reason", "not wanted"})
	}
	return append(all,
		[]string{"decision", "answer", "input:owner", "bob", "--replace", "--reason", "r", "--mission", "m", "--as", "human:kim"},
		[]string{"run", "retry", "m"}, []string{"run", "release", "m", "--reason", "gone"}, []string{"run", "abort", "m", "--reason", "r"},
		[]string{"run", "skip", "m", "implement", "--reason", "r"}, []string{"run", "skip", "m", "review", "--reason", "r"},
		[]string{"run", "rewind", "m", "--to", "1", "--reason", "r", "--lanes"}, []string{"run", "rewind", "m", "--to-step", "specify", "--reason", "r"},
		[]string{"wp", "move", "WP01", "--to", "canceled", "--mission", "m"}, []string{"wp", "move", "WP01", "--to", "blocked", "--mission", "m", "--force", "--reason", "r"},
		[]string{"wp", "release", "WP01", "--mission", "m", "--reason", "r"})
}

// key tells states apart by what matters for the way on.
func (s site) key() string {
	doc := s.json("run", "show", "m")
	parts := []any{doc["mission_state"], doc["block"] != nil}
	if block, ok := doc["block"].(map[string]any); ok {
		parts = append(parts, block["reason_code"])
	}
	for _, i := range doc["issues"].([]any) {
		i := i.(map[string]any)
		parts = append(parts, i["step_id"], i["wp_id"], i["holder"].(map[string]any)["agent"])
	}
	for _, q := range doc["open_decisions"].([]any) {
		parts = append(parts, q.(map[string]any)["decision_id"])
	}
	for _, p := range doc["packages"].([]any) {
		p := p.(map[string]any)
		parts = append(parts, p["lane"], p["holder"], p["stopped"] != "")
	}
	return fmt.Sprint(parts...)
}

// look holds one state against P4: each caller is told a way on, each command
// that is printed works as it is, and an ask gets what a query showed.
func (s site) look() (final bool) {
	s.t.Helper()
	printed := map[string]bool{}
	for _, who := range [][]string{nil, {"--agent", "a"}, {"--agent", "b"}} {
		doc := s.json(append([]string{"next", "--mission", "m"}, who...)...)
		state := doc["mission_state"].(string)
		final = state == "done" || state == "canceled"
		lines := doc["recover"].([]any)
		if !final && len(lines) == 0 && doc["report"] == nil {
			s.t.Fatalf("%v is told no way on: %v", who, doc)
		}
		for _, line := range lines {
			printed[line.(string)] = true
		}
		if report, ok := doc["report"].(string); ok {
			printed[report] = true
		}
		if who != nil && state != "aborted" && !final {
			s.agrees(doc, who)
		}
	}
	for line := range printed {
		s.works(line)
	}
	return final
}

// works runs a printed command on a copy.
func (s site) works(line string) {
	s.t.Helper()
	args := words(line)
	if len(args) < 2 || args[0] != "spec-kitty" {
		s.t.Fatalf("%q is no command of ours", line)
	}
	try := s.copied()
	out, code := try.call(args[1:]...)
	if slices.Contains(args, "NAME") {
		s.t.Fatalf("%q has a name that nobody has: pasted, it makes one", line)
	}
	if args[1] == "help" {
		if code != exitOK || out == "" {
			s.t.Fatalf("%q: exit code %d", line, code)
		}
		return
	}
	if code != exitOK && code != exitRefused || strings.Contains(out, `"error_code"`) {
		s.t.Fatalf("%q does not work as printed: exit code %d, %s", line, code, out)
	}
}

// agrees holds what a query shows somebody against what asking gives them.
func (s site) agrees(query map[string]any, who []string) {
	s.t.Helper()
	if query["token"] != nil || query["reason_code"] != nil || query["step_id"] == nil || len(query["open_decisions"].([]any)) > 0 {
		return
	}
	got := s.copied().json(append([]string{"next", "--mission", "m", "--result", "success"}, who...)...)
	if got["kind"] != "step" {
		return // a guard of the step's own report, a question, or the end
	}
	if got["step_id"] != query["step_id"] && query["wp_id"] != nil || got["wp_id"] != query["wp_id"] && query["wp_id"] != nil {
		s.t.Fatalf("%v: the query shows %v of %v, asking gives %v of %v", who, query["step_id"], query["wp_id"], got["step_id"], got["wp_id"])
	}
}

// TestRecoverWorksAsPrinted_P4 looks at the states that a run passes on its way
// and at those that one more call leads to from each, and proves of every one
// that everybody is told a way on and that it works when it is run as printed
// (issue 4 point 5, field cases 09 and 31).
func TestRecoverWorksAsPrinted_P4(t *testing.T) {
	most, finals := 40, 0
	if testing.Short() {
		most = 8
	}
	seen := map[string]bool{}
	look := func(s site) {
		key := s.key()
		if seen[key] || len(seen) >= most {
			return
		}
		seen[key] = true
		if s.look() {
			finals++
		}
	}
	way := passed(t)
	for _, s := range way {
		look(s)
	}
	for _, s := range way {
		for _, args := range s.moves() {
			if len(seen) >= most {
				break
			}
			to := s.copied()
			to.call(append(args, "--json")...)
			look(to)
		}
	}
	t.Logf("%d states, %d of them final", len(seen), finals)
	if len(seen) < most/2 || !testing.Short() && finals == 0 {
		t.Fatalf("only %d states were reached, %d final", len(seen), finals)
	}
}

// passed are copies of a run at each state of its way to the end.
func passed(t *testing.T) []site {
	s := newSite(t)
	s.json("run", "start", "m")
	all := []site{s.copied()}
	for range 40 {
		if over := s.step(len(all)); over {
			return all
		}
		all = append(all, s.copied())
	}
	t.Fatalf("no end after %d calls: %s", len(all), s.key())
	return nil
}

// step does what queries print; over: there is nothing left to do.
func (s site) step(n int) (over bool) {
	s.t.Helper()
	doc := s.json("next", "--mission", "m")
	if doc["mission_state"] == "done" {
		return true
	}
	if doc["step_id"] == "review" {
		s.write("kitty-specs/m/review.md", "fine")
	}
	if q := doc["open_decisions"].([]any); len(q) > 0 {
		q := q[0].(map[string]any)
		s.json("decision", "answer", q["decision_id"].(string), q["options"].([]any)[0].(string), "--mission", "m",
			"--as", "human:kim", "--decision-token", q["decision_token"].(string))
		return false
	}
	line, _ := doc["report"].(string)
	if line == "" { // nobody has work: somebody takes it, in turn
		doc = s.json("next", "--mission", "m", "--agent", []string{"a", "b"}[n%2])
		line = doc["recover"].([]any)[0].(string)
	}
	s.call(words(line)[1:]...)
	return false
}
