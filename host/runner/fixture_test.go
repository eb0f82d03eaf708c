package runner

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"go.uber.org/goleak"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.ChildMain()
	command.Main()
	if os.Getenv(handVariable) != "" {
		os.Exit(beHand())
	}
	goleak.VerifyTestMain(m)
}

// The fixtures: one project each, with a mission m.
const (
	// linear is A, B, C without guards.
	linear = `
[missions.t]
steps = [{ id = "A" }, { id = "B" }, { id = "C" }]`

	// composed is linear with an executor on each step.
	composed = `
[missions.t]
steps = [
  { id = "A", executor = { plugin = "success" } },
  { id = "B", executor = { plugin = "success" } },
  { id = "C", executor = { plugin = "success" } },
]`

	// packaged is implement and review over packages, then accept.
	packaged = `
[[missions.t.steps]]
id = "implement"
retry = 1
work_packages = { take = ["planned"], claim = "in_progress", success = "for_review", failed = "planned", until = ["for_review", "in_review", "approved", "done", "canceled"] }
[[missions.t.steps]]
id = "review"
depends_on = ["implement"]
work_packages = { take = ["for_review"], claim = "in_review", success = "approved", failed = "planned", until = ["approved", "done", "canceled"], also = ["implement"], self_review = true }
[[missions.t.steps]]
id = "accept"
depends_on = ["review"]`
)

// questions is one step that asks n questions, and one after it.
func questions(n int) string {
	var inputs []string
	for i := range n {
		inputs = append(inputs, fmt.Sprintf(`{ key = "q%d", question = "Question %d?" }`, i, i))
	}
	return "[missions.t]\nsteps = [{ id = \"ask\", inputs = [" + strings.Join(inputs, ", ") + "] }, { id = \"after\" }]"
}

// makeProject writes a project whose plugins are the named guests of the
// sandbox's tests. Files are relative to the mission's folder.
func makeProject(t testing.TB, missions string, files map[string]string, guests ...string) string {
	t.Helper()
	root := t.TempDir()
	config := "schema = 1\n"
	for _, guest := range guests {
		wasm, err := os.ReadFile(filepath.Join("..", "sandbox", "testdata", guest+".wasm"))
		if err != nil { // else one of the examples
			wasm, err = os.ReadFile(filepath.Join("..", "..", "examples", "plugins", guest, guest+".wasm"))
		}
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(wasm)
		config += fmt.Sprintf("[plugins.%s]\nwasm = \"%s.wasm\"\nsha256 = %q\ntimeout = \"5s\"\nread = [\"{mission}\"]\n", guest, guest, hex.EncodeToString(sum[:]))
		write(t, filepath.Join(root, guest+".wasm"), string(wasm))
	}
	write(t, filepath.Join(root, "spec-kitty.toml"), config+missions)
	write(t, filepath.Join(root, "kitty-specs", "m", "meta.json"), `{"mission_type": "t"}`)
	for name, content := range files {
		write(t, filepath.Join(root, "kitty-specs", "m", name), content)
	}
	return root
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// packages are n work package files without dependencies.
func packages(n int) map[string]string {
	files := map[string]string{}
	for i := 1; i <= n; i++ {
		files[fmt.Sprintf("tasks/WP%02d.md", i)] = fmt.Sprintf("---\nwork_package_id: WP%02d\ntitle: Package %d\ndependencies: []\n---\nDo it.\n", i, i)
	}
	return files
}

// laneLog is a lane log in which packages lie in lanes, in the existing tool's
// format.
func laneLog(lanes ...string) string {
	var b strings.Builder
	for i, lane := range lanes {
		fmt.Fprintf(&b, `{"actor":"somebody","at":"2026-01-01T00:00:%02dZ","event_id":"01KMB0MJYY10DBJNG3ZD7Q85%02d","from_lane":"planned","to_lane":%q,"wp_id":"WP%02d"}`+"\n", i, i, lane, i+1)
	}
	return b.String()
}

// open opens a project. The compilation cache is the test's own.
func open(t testing.TB, root string, change ...func(*Options)) *Project {
	t.Helper()
	o := Options{Root: root, CacheDir: cacheDir()}
	for _, f := range change {
		f(&o)
	}
	p, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// cacheDir is one cache for all tests of a process: compiling is not what they
// are about.
func cacheDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("spec-kitty-runner-test-%d", os.Getuid()))
}

func report(agent string, result cursor.Result, token ...string) Request {
	q := Request{Mission: "m", Caller: Caller{Agent: agent}, Result: result}
	if len(token) > 0 {
		q.Token = token[0]
	}
	return q
}

// must makes a call that has an answer.
func must(t testing.TB, p *Project, q Request) Answer {
	t.Helper()
	a, err := p.Next(context.Background(), q)
	if err != nil {
		t.Fatalf("%s by %s: %v", q.Result, q.Caller, err)
	}
	fits(t, a)
	return a
}

func code(a Answer) string {
	if a.ReasonCode == nil {
		return ""
	}
	return *a.ReasonCode
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// wantBlocked wants a refusal by name, of which nothing was recorded.
func wantBlocked(t testing.TB, a Answer, codes ...string) {
	t.Helper()
	for _, c := range codes {
		if a.Kind == KindBlocked && code(a) == c && !a.Recorded {
			if !strings.HasPrefix(*a.Reason, c) {
				t.Errorf("the reason does not begin with its code: %s", *a.Reason)
			}
			return
		}
	}
	t.Fatalf("kind %s, code %s, recorded %v (%s), want blocked with one of %v", a.Kind, code(a), a.Recorded, value(a.Reason), codes)
}

func wantStep(t testing.TB, a Answer, step string) {
	t.Helper()
	if a.Kind != KindStep || value(a.StepID) != step || !a.Recorded || a.Token == nil {
		t.Fatalf("kind %s, step %s, recorded %v, code %s (%s), want step %s", a.Kind, value(a.StepID), a.Recorded, code(a), value(a.Reason), step)
	}
}

// journal is the bytes of the mission's only journal.
func journal(t testing.TB, root string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, ".kittify", "step-runner", "runs", "*", "run.events.jsonl"))
	if err != nil || len(found) != 1 {
		t.Fatalf("journals: %v %v", found, err)
	}
	raw, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// completions counts the completions of a step in the journal.
func completions(t testing.TB, root, step string) int {
	t.Helper()
	return len(regexp.MustCompile(`\{"completed":\{"pos":[0-9]+,"step":"`+step+`"`).FindAllString(journal(t, root), -1))
}

func read(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func wantSound(t *testing.T, p *Project) {
	t.Helper()
	v, err := p.Verify(context.Background(), "m")
	if err != nil || !v.Sound {
		t.Errorf("the run is not sound: %v %v", v.Problems, err)
	}
}

// answerSchema is the published schema of answers.
var answerSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	return jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "schema", "answer.schema.json"))
})

// fits holds an answer against the published schema (SC-004, FR-005).
func fits(t testing.TB, a Answer) {
	t.Helper()
	schema, err := answerSchema()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("%v\n%s", err, raw)
	}
}
