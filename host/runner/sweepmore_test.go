package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// onPlans are saved plans: of a report, and of an ask for work.
func onPlans() []operation {
	saved := func(t *testing.T, p *Project, q Request) func(*Project) error {
		t.Helper()
		var plan []byte
		q.PlanOut = func(raw []byte) error { plan = raw; return nil }
		must(t, p, q)
		return func(p *Project) error { return accepted(p.Apply(context.Background(), plan)) }
	}
	many := projectOf(packaged, func() map[string]string { return packages(2) })
	return []operation{
		{name: "apply a plan", method: "Apply", kind: "advance", project: projectOf(linear, noFiles), ready: func(t *testing.T, p *Project) func(*Project) error {
			return saved(t, p, report("a", cursor.Success, tokenOf(t, p)))
		}},
		{name: "apply a planned ask", method: "Apply", kind: "ask", project: many, ready: func(t *testing.T, p *Project) func(*Project) error {
			tokenOf(t, p)
			return saved(t, p, report("b", cursor.Success))
		}},
		{name: "withdraw", method: "Withdraw", kind: "withdraw", project: projectOf(packaged, dependent), ready: canceledDependency(
			operate((*Project).Withdraw, OperatorRequest{Decision: "package:WP01", Reason: "not now"}))},
		{name: "answer about a package", method: "Next", kind: "answer", project: projectOf(packaged, dependent), ready: canceledDependency(
			next(Request{Mission: "m", Caller: Caller{Agent: "a"}, Answer: text("go_on"), Decision: "package:WP01"}))},
		{name: "ask for work", method: "Next", kind: "ask", project: many, ready: after(next(report("b", cursor.Success)), cursor.Success)},
	}
}

// dependent are two packages, of which the second waits for the first.
func dependent() map[string]string {
	files := packages(2)
	second := files["tasks/WP02.md"]
	files["tasks/WP02.md"] = strings.Replace(second, "dependencies: []", "dependencies: [WP01]", 1)
	return files
}

// canceledDependency gives an operation on the question that a canceled package
// asks.
func canceledDependency(do func(p *Project) error) func(*testing.T, *Project) func(*Project) error {
	return func(t *testing.T, p *Project) func(*Project) error {
		tokenOf(t, p)
		cancel := operate((*Project).WPMove, OperatorRequest{Package: "WP01", To: "canceled", Force: true, Reason: "not needed"})
		if err := cancel(p); err != nil {
			t.Fatal(err)
		}
		if a := must(t, p, report("a", cursor.Success)); a.Kind != KindDecision {
			t.Fatalf("nothing is asked: %s %s", a.Kind, value(a.Reason))
		}
		return do
	}
}

// twoFiles is A, whose executor leaves two files.
const twoFiles = `
[missions.t]
steps = [{ id = "A", executor = { plugin = "artifacts" } }, { id = "B" }, { id = "C" }]`

// onArtifacts are a report that carries files, and the two ends of a publication
// that was left over.
func onArtifacts() []operation {
	project := func(t *testing.T) string {
		root := makeProject(t, twoFiles, nil, "artifacts")
		withWrite(t, root, "artifacts", `"docs", "notes"`)
		return root
	}
	leftOver := func(q OperatorRequest) func(*testing.T, *Project) func(*Project) error {
		return func(t *testing.T, p *Project) func(*Project) error {
			token := tokenOf(t, p)
			noLinks := func(o *Options) {
				o.Commit, o.Trust = p.world.opts, consentOf(t, p.Config.Root)
				o.Artifacts = &durable.Faulty{Disk: o.Commit.Disk, Fail: func(_ int, op durable.Op) error {
					if op.Kind == "link" {
						return durable.ErrInjected
					}
					return nil
				}}
			}
			if a := must(t, open(t, p.Config.Root, noLinks), report("a", cursor.Success, token)); !hasWarning(a, commit.WarnNotPublished) {
				t.Fatalf("nothing was left over: %v", a.Warnings)
			}
			return operate((*Project).Publish, q)
		}
	}
	return []operation{
		{name: "report with files", method: "Next", kind: "advance", project: project, consent: true, costly: true, after: bothMade(true),
			ready: handedOut(func(token string) func(*Project) error { return next(report("a", cursor.Success, token)) })},
		{name: "publish", method: "Publish", kind: "publish", project: project, consent: true, after: bothMade(true), ready: leftOver(OperatorRequest{})},
		{name: "give files up", method: "Publish", kind: "discard", project: project, consent: true, after: bothMade(false),
			ready: leftOver(OperatorRequest{Discard: true, Reason: "not wanted"})},
	}
}

// bothMade wants both files, or none of them.
func bothMade(want bool) func(root string, d durable.Disk) error {
	return func(root string, d durable.Disk) error {
		var all error
		for path, text := range map[string]string{"docs/a.md": "x", "notes/deep/b.md": "y"} {
			raw, err := durable.ReadFile(d, filepath.Join(root, filepath.FromSlash(path)), 1<<10)
			if made := err == nil && string(raw) == text; made != want {
				all = errors.Join(all, fmt.Errorf("%s has %q (%v)", path, raw, err))
			}
		}
		return all
	}
}

// consentOf is the user's consent to what a project may run and write.
func consentOf(t testing.TB, root string) string {
	t.Helper()
	cfg, err := config.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return consentSet(cfg).Digest()
}

// P3: the sweeps know every kind of record that runs make, and every method of a
// project that writes.
func TestEveryOperationIsSwept_P3(t *testing.T) {
	kinds, methods := map[string]bool{}, map[string]bool{}
	for _, op := range operations() {
		kinds[op.kind], methods[op.method] = true, true
	}
	for _, kind := range committest.Kinds(t, filepath.Join("..", "cursor")) {
		if !kinds[kind] {
			t.Errorf("records of kind %q are made, and no sweep makes them", kind)
		}
	}
	writesNothing := []string{
		"CheckLoops", "Close", "Consent", "Consents", "Decision", "Decisions", "Definition", "Doctor", "Graph", "List", "Log", "Loops", "MayWrite",
		"Missions", "Pack", "PluginRequest", "Query", "Replay", "Show", "Simulate", "Status", "Verify", "WPHistory", "WPList", "WPShow",
	}
	elsewhere := []string{
		"Repair",                       // makes no record (TestMend and the sweeps of host/commit)
		"GiveConsent", "RevokeConsent", // one file in the user's own folder (TestSweepOfConsent of host/trust)
	}
	all := reflect.TypeFor[*Project]()
	for i := range all.NumMethod() {
		if name := all.Method(i).Name; !methods[name] && !slices.Contains(writesNothing, name) && !slices.Contains(elsewhere, name) {
			t.Errorf("Project.%s is neither swept nor known to write nothing", name)
		}
	}
}
