package runner

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/artifact"
	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// logged is A, whose executor writes the changelog, and B.
const logged = `
[missions.t]
steps = [{ id = "A", executor = { plugin = "changelog" } }, { id = "B", executor = { plugin = "changelog" } }, { id = "C" }]`

// withWrite grants a plugin of a project folders to write to.
func withWrite(t testing.TB, root, plugin, folders string) {
	t.Helper()
	file := filepath.Join(root, "spec-kitty.toml")
	table := "[plugins." + plugin + "]\n"
	write(t, file, strings.Replace(read(t, file), table, table+"write = ["+folders+"]\n", 1))
}

// changelogProject is a project whose changelog plugin may write the mission's
// folder, with a run at A.
func changelogProject(t testing.TB, missions string) string {
	t.Helper()
	root := makeProject(t, missions, map[string]string{"spec.md": spec}, "changelog", "spec-lint", "artifact")
	withWrite(t, root, "changelog", `"{mission}"`)
	must(t, open(t, root, trusting(t, root)), report("a", cursor.Success))
	return root
}

func changelogFile(root string) string {
	return filepath.Join(root, "kitty-specs", "m", "CHANGELOG.md")
}

// trusting consents to what a project's configuration may run and write.
func trusting(t testing.TB, root string) func(*Options) {
	t.Helper()
	cfg, err := config.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *Options) { o.Trust = consentSet(cfg).Digest() }
}

// because is a report of success with a reason.
func because(reason string) Request {
	q := report("a", cursor.Success)
	q.Reason = reason
	return q
}

func hasWarning(a Answer, code string) bool {
	return slices.ContainsFunc(a.Warnings, func(w Warning) bool { return w.Code == code })
}

// failingPlace fails every operation of one kind on artifacts while on is set.
func failingPlace(root, kind string, on *bool) func(*Options) {
	return func(o *Options) {
		o.Artifacts = &durable.Faulty{Disk: artifact.Disk(root), Fail: func(_ int, op durable.Op) error {
			if *on && op.Kind == kind {
				return durable.ErrInjected
			}
			return nil
		}}
	}
}

// An executor's artifact is in its place when the report is answered, its bytes
// and what it replaces are in the record, and a second record says that it is
// made.
func TestArtifactIsPublished(t *testing.T) {
	root := changelogProject(t, logged)
	p := open(t, root, trusting(t, root))
	a := must(t, p, because("Greets by name"))
	wantStep(t, a, "B")
	if hasWarning(a, commit.WarnNotPublished) {
		t.Errorf("warnings %v", a.Warnings)
	}
	first := read(t, changelogFile(root))
	if !strings.Contains(first, "- Greets by name\n") {
		t.Fatalf("the changelog: %s", first)
	}
	wantStep(t, must(t, p, because("Greets politely")), "C")
	if both := read(t, changelogFile(root)); !strings.Contains(both, "- Greets politely\n") || !strings.Contains(both, "- Greets by name\n") {
		t.Errorf("the changelog: %s", both)
	}
	log := journal(t, root)
	for _, want := range []string{`"replaces":"absent"`, `"replaces":"` + hexSum([]byte(first)), `{"published":{"revision":2,"paths":["kitty-specs/m/CHANGELOG.md"]}}`} {
		if !strings.Contains(log, want) {
			t.Errorf("the journal lacks %s:\n%s", want, log)
		}
	}
	wantSound(t, p)
}

// Guards see the project with the staged artifacts laid over it: the built-in
// ones and plugins. What they saw of them is no fact that could be stale.
func TestGuardsSeeStagedArtifacts(t *testing.T) {
	guarded := func(contains string) string {
		return `
[[missions.t.steps]]
id = "A"
executor = { plugin = "changelog", with = { file = "log/CHANGES.md" } }
guards = [
  { artifact = "log/CHANGES.md", contains = "` + contains + `" },
  { artifact = "log/*.md" },
  { plugin = "spec-lint", with = { file = "log/CHANGES.md", sections = [], min_stories = 0 } },
]
[[missions.t.steps]]
id = "B"`
	}
	root := changelogProject(t, guarded("Greets"))
	wantStep(t, must(t, open(t, root, trusting(t, root)), because("Greets by name")), "B")
	if got := read(t, filepath.Join(root, "kitty-specs", "m", "log", "CHANGES.md")); !strings.Contains(got, "Greets") {
		t.Errorf("the changelog: %s", got)
	}

	refused := changelogProject(t, guarded("Whispers"))
	before := journal(t, refused)
	wantBlocked(t, must(t, open(t, refused, trusting(t, refused)), because("Greets by name")), "guard_refused")
	if _, err := os.Stat(filepath.Join(refused, "kitty-specs", "m", "log")); err == nil || journal(t, refused) != before {
		t.Error("a refused report left a trace")
	}
}

// Somebody writes the file between the executor's answer and the commit: the
// report is refused by name, nothing is written, and the next one has both.
func TestArtifactConflict(t *testing.T) {
	root := changelogProject(t, logged)
	caller := open(t, root, trusting(t, root), peerAt(PointPlanned, func() { write(t, changelogFile(root), "# Changes\n\n## Theirs\n\n- theirs\n") }))
	before := journal(t, root)
	a := must(t, caller, because("Ours"))
	wantBlocked(t, a, "artifact_conflict")
	if a.Token == nil || len(a.Recover) == 0 {
		t.Errorf("no way on: token %v, recover %v", a.Token, a.Recover)
	}
	if journal(t, root) != before || strings.Contains(read(t, changelogFile(root)), "Ours") {
		t.Error("the conflict left a trace")
	}
	wantStep(t, must(t, caller, because("Ours")), "B")
	if got := read(t, changelogFile(root)); !strings.Contains(got, "theirs") || !strings.Contains(got, "Ours") {
		t.Errorf("the changelog: %s", got)
	}
}

// That the very content stands there already is no conflict.
func TestArtifactThatIsThereAlready(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [{ id = "A", executor = { plugin = "artifact" } }, { id = "B" }]`, nil, "artifact")
	withWrite(t, root, "artifact", `"docs"`)
	must(t, open(t, root, trusting(t, root)), report("a", cursor.Success))
	caller := open(t, root, trusting(t, root), peerAt(PointPlanned, func() { write(t, filepath.Join(root, "docs", "a.md"), "x") }))
	wantStep(t, must(t, caller, report("a", cursor.Success)), "B")
}

// A publication that failed is a warning of its report, shown by queries, and
// the first work of the next report, whose executor then sees the file.
func TestLeftOverIsFinishedFirst(t *testing.T) {
	root := changelogProject(t, logged)
	broken := true
	p := open(t, root, trusting(t, root), failingPlace(root, "link", &broken))
	a := must(t, p, because("First"))
	wantStep(t, a, "B")
	if !hasWarning(a, commit.WarnNotPublished) {
		t.Errorf("warnings %v", a.Warnings)
	}
	query, err := p.Query(t.Context(), "m", Caller{Agent: "a"})
	if err != nil || !hasWarning(query, commit.WarnNotPublished) {
		t.Errorf("query: %v, %v", query.Warnings, err)
	}
	health, err := p.Doctor(t.Context())
	if err != nil || !slices.ContainsFunc(health.Findings, func(f Finding) bool { return f.Code == commit.WarnNotPublished }) {
		t.Errorf("doctor: %v, %v", health.Findings, err)
	}
	before := journal(t, root)
	var known *Error
	if _, err := p.Next(t.Context(), because("Second")); !errors.As(err, &known) || known.Code != CodeNotRecorded || len(known.Recover) != 2 {
		t.Errorf("while it cannot be finished: %v", err)
	}
	if journal(t, root) != before {
		t.Error("something was recorded before the publication was finished")
	}
	broken = false
	wantStep(t, must(t, p, because("Second")), "C")
	got := read(t, changelogFile(root))
	if first, second := strings.Index(got, "- First"), strings.Index(got, "- Second"); second < 0 || first < second {
		t.Errorf("the changelog: %s", got)
	}
	wantSound(t, p)
}

// Other content stands where a left-over publication is to go: nothing is
// overwritten, every report is told so with the ways out, and both ways work.
func TestLeftOverConflict_P4(t *testing.T) {
	leave := func(t *testing.T) (string, *Project) {
		root := changelogProject(t, logged)
		broken := true
		must(t, open(t, root, trusting(t, root), failingPlace(root, "link", &broken)), because("First"))
		write(t, changelogFile(root), "theirs")
		p := open(t, root, trusting(t, root))
		a := must(t, p, because("Second"))
		wantBlocked(t, a, "artifact_conflict")
		if !slices.Equal(a.Recover, []string{"spec-kitty run publish --root " + root + " m", "spec-kitty help publish"}) {
			t.Errorf("recover %v", a.Recover)
		}
		if got := read(t, changelogFile(root)); got != "theirs" {
			t.Errorf("overwritten: %s", got)
		}
		again, err := p.Publish(t.Context(), OperatorRequest{Mission: "m", Actor: "kim"})
		if err != nil || code(again) != "artifact_conflict" {
			t.Errorf("publish: %s, %v", code(again), err)
		}
		return root, p
	}
	t.Run("moved away", func(t *testing.T) {
		root, p := leave(t)
		if err := os.Remove(changelogFile(root)); err != nil {
			t.Fatal(err)
		}
		a, err := p.Publish(t.Context(), OperatorRequest{Mission: "m", Actor: "kim"})
		if err != nil || a.Kind != KindQuery || hasWarning(a, commit.WarnNotPublished) {
			t.Fatalf("publish: %s %v, %v", a.Kind, a.Warnings, err)
		}
		if got := read(t, changelogFile(root)); !strings.Contains(got, "- First") {
			t.Errorf("the changelog: %s", got)
		}
		wantStep(t, must(t, p, because("Second")), "C")
	})
	t.Run("given up", func(t *testing.T) {
		root, p := leave(t)
		if _, err := p.Publish(t.Context(), OperatorRequest{Mission: "m", Actor: "kim", Discard: true}); err == nil {
			t.Error("given up without a reason")
		}
		q := OperatorRequest{Mission: "m", Actor: "kim", Discard: true, Reason: "theirs is better"}
		a, err := p.Publish(t.Context(), q)
		if err != nil || a.Kind != KindQuery || hasWarning(a, commit.WarnNotPublished) {
			t.Fatalf("discard: %s %v, %v", a.Kind, a.Warnings, err)
		}
		if got := read(t, changelogFile(root)); got != "theirs" || !strings.Contains(journal(t, root), `{"discarded":{"revision":2,`) {
			t.Errorf("the changelog: %s\n%s", got, journal(t, root))
		}
		var known *Error
		if _, err := p.Publish(t.Context(), q); !errors.As(err, &known) || known.Code != Code(cursor.NothingToPublish) {
			t.Errorf("a second time: %v", err)
		}
		wantStep(t, must(t, p, because("Second")), "C")
		wantSound(t, p)
	})
}

// A run that is over is followed by another one only when its files are made.
func TestNoSuccessorBeforeItIsPublished(t *testing.T) {
	root := changelogProject(t, `
[missions.t]
steps = [{ id = "A", executor = { plugin = "changelog" } }]`)
	broken := true
	p := open(t, root, trusting(t, root), failingPlace(root, "link", &broken))
	if a := must(t, p, because("First")); a.Kind != KindTerminal {
		t.Fatalf("kind %s", a.Kind)
	}
	again := StartRequest{Slug: "m", Caller: Caller{Agent: "a"}, Again: true}
	var known *Error
	if _, err := p.Start(t.Context(), again); !errors.As(err, &known) || known.Code != CodeRunExists {
		t.Fatalf("a run that follows: %v", err)
	}
	broken = false
	if _, err := p.Publish(t.Context(), OperatorRequest{Mission: "m", Actor: "kim"}); err != nil {
		t.Fatal(err)
	}
	if a, err := p.Start(t.Context(), again); err != nil || a.Kind != KindStep {
		t.Errorf("kind %s, %v", a.Kind, err)
	}
}

// What is not granted, and what is in the way, is refused before anything is
// recorded.
func TestArtifactsWithoutGrant_Case54(t *testing.T) {
	const one = `
[missions.t]
steps = [{ id = "A", executor = { plugin = "artifact" } }, { id = "B" }]`
	tests := []struct {
		name, write, code, says string
		spoil                   func(t *testing.T, root string)
	}{
		{"none", ``, "plugin_failed", "not_granted", nil},
		{"another folder", `"src"`, "plugin_failed", "not_granted", nil},
		{"a deeper folder", `"docs/deep"`, "plugin_failed", "not_granted", nil},
		{"a link in place of the folder", `"docs"`, "artifact_conflict", "a link", func(t *testing.T, root string) {
			if err := os.Symlink("kitty-specs", filepath.Join(root, "docs")); err != nil {
				t.Skip("no links here: ", err)
			}
		}},
		{"a folder in place of the file", `"docs"`, "artifact_conflict", "a folder", func(t *testing.T, root string) {
			write(t, filepath.Join(root, "docs", "a.md", "x"), "")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := makeProject(t, one, nil, "artifact")
			if tt.write != "" {
				withWrite(t, root, "artifact", tt.write)
			}
			if tt.spoil != nil {
				tt.spoil(t, root)
			}
			p := open(t, root, trusting(t, root))
			must(t, p, report("a", cursor.Success))
			before := journal(t, root)
			a := must(t, p, report("a", cursor.Success))
			wantBlocked(t, a, tt.code)
			if !strings.Contains(*a.Reason, tt.says) || journal(t, root) != before {
				t.Errorf("reason %s", *a.Reason)
			}
		})
	}
}

// A saved plan carries its artifacts; applying it asks the executor again, and
// an edited content, or another file in the place, is refused by name.
func TestSavedPlanWithArtifacts(t *testing.T) {
	root := changelogProject(t, logged)
	p := open(t, root, trusting(t, root))
	plan := save(t, p, root, because("Greets"))
	if _, err := os.Stat(changelogFile(root)); err == nil {
		t.Fatal("planning made the file")
	}
	forged := strings.Replace(string(plan), `- Greets\n`, `- Forged\n`, 1)
	if forged == string(plan) {
		t.Fatalf("the plan has no artifact:\n%s", plan)
	}
	wantBlocked(t, apply(t, p, []byte(forged)), "stale_plan")

	write(t, changelogFile(root), "theirs\n")
	wantBlocked(t, apply(t, p, plan), "stale_plan", "artifact_conflict")
	if err := os.Remove(changelogFile(root)); err != nil {
		t.Fatal(err)
	}
	wantStep(t, apply(t, p, plan), "B")
	if got := read(t, changelogFile(root)); !strings.Contains(got, "- Greets\n") {
		t.Errorf("the changelog: %s", got)
	}
	if a := apply(t, p, plan); !a.Replayed {
		t.Errorf("the same plan again: %s", value(a.Reason))
	}
}

// Where the executor did not look at what it replaces, a plan that is applied
// after somebody wrote there is a conflict.
func TestSavedPlanOverwritesNothing(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [{ id = "A", executor = { plugin = "artifact" } }, { id = "B" }]`, nil, "artifact")
	withWrite(t, root, "artifact", `"docs"`)
	p := open(t, root, trusting(t, root))
	must(t, p, report("a", cursor.Success))
	plan := save(t, p, root, report("a", cursor.Success))
	file := filepath.Join(root, "docs", "a.md")
	write(t, file, "theirs")
	wantBlocked(t, apply(t, p, plan), "artifact_conflict")
	if got := read(t, file); got != "theirs" {
		t.Errorf("overwritten: %s", got)
	}
}

// What the configuration no longer allows at the time of writing is not written:
// the file has become the state's.
func TestPathIsCheckedAgainAtTheWriting_Case54(t *testing.T) {
	root := changelogProject(t, logged)
	w := open(t, root, trusting(t, root)).world
	for _, path := range []string{"spec-kitty.toml", ".kittify/step-runner/runs/x", "docs/.git/x"} {
		rec := commit.Record[cursor.Event]{Events: []commit.RecordedEvent[cursor.Event]{{Known: true,
			Event: cursor.Reported{Artifacts: []cursor.Artifact{cursor.NewArtifact(path, "x", cursor.Absent)}}}}}
		if _, err := w.Publish(t.Context(), cursor.State{}, rec); !errors.As(err, new(*artifact.InTheWayError)) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A package's executor writes to its work tree by its placeholder.
func TestArtifactInAWorkTree(t *testing.T) {
	root := makeProject(t, packaged, packages(1), "changelog")
	r := reading{p: open(t, root, trusting(t, root))}
	grant := r.p.writeGrant([]string{"{workspace}"}, "kitty-specs/m", r.p.within(filepath.Join(root, ".worktrees", "m-lane-a")))
	if path, why := grant.Resolve("{workspace}/src/a.go"); path != ".worktrees/m-lane-a/src/a.go" || why != "" {
		t.Errorf("%q, %q", path, why)
	}
	if r.p.within(t.TempDir()) != "" {
		t.Error("a folder outside of the project is taken for one in it")
	}
}
