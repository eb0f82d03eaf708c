package runner

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/archive"
	"github.com/spec-kitty/step-runner/host/artifact"
	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// leftOver is a project whose run recorded an artifact that is not in its place:
// what somebody could also have made by hand.
func leftOver(t *testing.T) string {
	t.Helper()
	root := changelogProject(t, logged)
	broken := true
	wantStep(t, must(t, open(t, root, trusting(t, root), failingPlace(root, "link", &broken)), because("First")), "B")
	return root
}

// Nobody consented: whatever call meets the record, it is not published, the
// answer says how to go on, and giving the artifacts up is a way. Case 54.
func TestLeftOverWithoutConsent_Case54(t *testing.T) {
	root := leftOver(t)
	p := open(t, root, trustIn(filepath.Join(t.TempDir(), "nobody")))
	before := journal(t, root)
	operator := OperatorRequest{Mission: "m", Actor: "kim", Reason: "over"}
	for name, call := range map[string]func() (Answer, error){
		"next":      func() (Answer, error) { return p.Next(t.Context(), because("Second")) },
		"by others": func() (Answer, error) { return p.Next(t.Context(), report("nobody", cursor.Failed)) },
		"abort":     func() (Answer, error) { return p.Abort(t.Context(), operator) },
		"skip":      func() (Answer, error) { return p.Skip(t.Context(), operator) },
		"publish":   func() (Answer, error) { return p.Publish(t.Context(), OperatorRequest{Mission: "m", Actor: "kim"}) },
	} {
		a, err := call()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantBlocked(t, a, "guard_error")
		if !strings.Contains(*a.Reason, notTrusted) || !slices.Equal(a.Recover[:1], []string{trustTopic}) || !slices.Contains(a.Recover, "spec-kitty help publish") {
			t.Errorf("%s: reason %q, recover %q", name, *a.Reason, a.Recover)
		}
		if _, err := os.Stat(changelogFile(root)); err == nil || journal(t, root) != before {
			t.Fatalf("%s: the artifact was written, or a record", name)
		}
	}
	a, err := p.Publish(t.Context(), OperatorRequest{Mission: "m", Actor: "kim", Discard: true, Reason: "not ours"})
	if err != nil || hasWarning(a, commit.WarnNotPublished) {
		t.Fatalf("discard: %v, %v", a.Warnings, err)
	}
	if a, err := p.Abort(t.Context(), operator); err != nil || a.MissionState != string(cursor.Aborted) {
		t.Errorf("abort after it: %s, %v", a.MissionState, err)
	}
	if _, err := os.Stat(changelogFile(root)); err == nil {
		t.Error("what was given up was written")
	}
}

// Consent given afterwards lets the same record be published.
func TestLeftOverWithConsent(t *testing.T) {
	root := leftOver(t)
	p := open(t, root, trusting(t, root))
	if a, err := p.Publish(t.Context(), OperatorRequest{Mission: "m", Actor: "kim"}); err != nil || a.Kind != KindQuery {
		t.Fatalf("%s, %v", a.Kind, err)
	}
	if got := read(t, changelogFile(root)); !strings.Contains(got, "- First") {
		t.Errorf("the changelog: %s", got)
	}
}

// A record that was made by hand, beside a set that is trusted here, is written
// only where the step's own executor may write by that set. Case 54.
func TestForgedRecord_Case54(t *testing.T) {
	root := changelogProject(t, logged)
	p := open(t, root, trusting(t, root))
	r, err := p.read(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	publish := func(step, path string) error {
		_, err := p.world.Publish(t.Context(), r.state, commit.Record[cursor.Event]{Events: []commit.RecordedEvent[cursor.Event]{{Known: true,
			Event: cursor.Reported{Step: step, Artifacts: []cursor.Artifact{cursor.NewArtifact(path, "x", cursor.Absent)}}}}})
		return err
	}
	for _, path := range []string{"src/a.go", "docs/a.md", "kitty-specs/other/a.md", "{mission}/a.md"} {
		if err := publish("A", path); !errors.As(err, new(*notTrustedError)) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, step := range []string{"C", "none", ""} {
		if err := publish(step, "kitty-specs/m/a.md"); !errors.As(err, new(*notTrustedError)) {
			t.Errorf("step %q: %v", step, err)
		}
	}
	for _, path := range []string{"../a.md", "/etc/a.md", "kitty-specs/m/../../src/a.go", "kitty-specs/m//a.md"} {
		if err := publish("A", path); !errors.As(err, new(*artifact.InTheWayError)) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := publish("A", "kitty-specs/m/a.md"); err != nil {
		t.Error(err)
	}
}

// A run whose plugin is not the one in the set that was consented to leaves no
// artifacts. Case 54.
func TestFrozenPluginIsTheConsentedOne_Case54(t *testing.T) {
	root := changelogProject(t, logged)
	p := open(t, root, trusting(t, root))
	r, err := p.read(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	frozen, err := r.run.grantOf("changelog", r.state)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.consentedPlugin(r.run, r.state, "changelog", frozen); err != nil {
		t.Errorf("as it was frozen: %v", err)
	}
	for name, change := range map[string]func(*frozenPlugin){
		"bytes":       func(f *frozenPlugin) { f.SHA256 = strings.Repeat("0", 64) },
		"folder":      func(f *frozenPlugin) { f.DirSum = strings.Repeat("0", 64) },
		"write":       func(f *frozenPlugin) { f.Write = append(slices.Clone(f.Write), "src") },
		"arguments":   func(f *frozenPlugin) { f.Args = []string{"--all"} },
		"read":        func(f *frozenPlugin) { f.Read = []string{"src"} },
		"environment": func(f *frozenPlugin) { f.Env = map[string]string{"A": "b"} },
	} {
		other := frozen
		change(&other)
		var untrusted *notTrustedError
		if err := p.consentedPlugin(r.run, r.state, "changelog", other); !errors.As(err, &untrusted) || !strings.Contains(err.Error(), "run migrate") {
			t.Errorf("other %s: %v", name, err)
		}
	}
	if err := p.consentedPlugin(r.run, r.state, "other", frozen); err == nil {
		t.Error("a plugin that the set does not name is trusted")
	}
}

// forged records whatever it holds, as a hand-made journal does.
type forged []cursor.Event

func (forged) Kind() string  { return "forged" }
func (forged) Actor() string { return "mallory" }
func (f forged) Decide(cursor.State, cursor.Facts, time.Time) ([]cursor.Event, error) {
	return f, nil
}

// forgedRun is a project whose run records a report with one artifact that no
// executor left.
func forgedRun(t *testing.T, path string) (string, *Project) {
	t.Helper()
	root := changelogProject(t, logged)
	p := open(t, root, trusting(t, root))
	r, err := p.read(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	report := cursor.Reported{Token: r.state.Issues()[0].Token, Step: "A", Result: cursor.Success, By: cursor.Holder{Agent: "a"},
		Artifacts: []cursor.Artifact{cursor.NewArtifact(path, "pwned", cursor.Absent)}}
	if err := r.commit(t.Context(), forged{report}); err != nil || !hasCode(r.warnings, commit.WarnNotPublished) {
		t.Fatalf("%v, warnings %v", err, r.warnings)
	}
	return root, p
}

func hasCode(all []Warning, code string) bool {
	return slices.ContainsFunc(all, func(w Warning) bool { return w.Code == code })
}

// A journal with a path that leads out of the project is not imported. One whose
// path is good brings no consent: the next call writes nothing. Case 54.
func TestImportedArtifacts_Case54(t *testing.T) {
	for _, path := range []string{"../out.md", "/etc/out.md", "docs/../../out.md", "docs//out.md", `docs\out.md`} {
		_, from := forgedRun(t, path)
		run, err := from.Pack(t.Context(), "m")
		if err != nil {
			t.Fatal(err)
		}
		_, err = open(t, makeProject(t, linear, nil)).Import(t.Context(), written(t, run))
		var known *Error
		if !errors.As(err, &known) || known.Code != CodeStateDamaged || !strings.Contains(err.Error(), "no file of a project") {
			t.Errorf("%s: %v", path, err)
		}
	}
	_, from := forgedRun(t, "src/out.md")
	run, err := from.Pack(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	root := makeProject(t, linear, nil)
	for name, trust := range map[string]func(*Options){
		"nobody": trustIn(filepath.Join(t.TempDir(), "nobody")),
		"who consented to it": func(o *Options) {
			o.Trust = strings.TrimSuffix(strings.TrimPrefix(frozenSet(run), blobCommands), ".json")
		},
		"who consented to other": trusting(t, root),
	} {
		p := open(t, root, trust)
		if _, err := p.Import(t.Context(), written(t, run)); err != nil {
			t.Fatal(err)
		}
		wantBlocked(t, must(t, p, because("Second")), "guard_error")
		if _, err := os.Stat(filepath.Join(root, "src", "out.md")); err == nil {
			t.Errorf("written for %s", name)
		}
	}
}

func frozenSet(run archive.Run) string {
	for name := range run.Frozen {
		if strings.HasPrefix(name, blobCommands) {
			return name
		}
	}
	return ""
}

// What executors of one step name is refused by name before anything is recorded,
// where not all of it can be made: also where only placeholders bring it together.
func TestArtifactsInEachOthersWay(t *testing.T) {
	root := changelogProject(t, logged)
	p := open(t, root, trusting(t, root))
	r, err := p.read(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	frozen := frozenPlugin{Write: []string{"{mission}", "kitty-specs/m"}}
	for _, paths := range [][]string{{"{mission}/x", "kitty-specs/m/x/y"}, {"{mission}/x", "kitty-specs/m/X"}, {"{mission}/D/x", "{mission}/d/y"}} {
		files := []abi.Artifact{{Path: paths[0]}, {Path: paths[1]}}
		if _, err := r.stage(&step{}, "changelog", frozen, files); err == nil || !strings.Contains(err.Error(), "not_granted") {
			t.Errorf("%q: %v", paths, err)
		}
	}
}
