//go:build unix

package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

const ranFile = "ran"

// wantUntrusted wants a block that names the topic and not the command that
// consents, and that nothing was run.
func wantUntrusted(t *testing.T, root string, a Answer) {
	t.Helper()
	fits(t, a)
	wantBlocked(t, a, "guard_error")
	if !strings.Contains(*a.Reason, notTrusted) || a.Recover[0] != "spec-kitty help trust" {
		t.Errorf("reason %q, recover %q", *a.Reason, a.Recover)
	}
	for _, line := range append(slices.Clone(a.Recover), *a.Reason) {
		if strings.Contains(line, "trust --digest") || strings.Contains(line, "SPEC_KITTY_TRUST") {
			t.Errorf("an agent that pastes what it reads would consent: %q", line)
		}
	}
	if _, err := os.Stat(filepath.Join(root, ranFile)); err == nil {
		t.Error("the command ran")
	}
}

// Without consent a command does not run: not by a report, not by a saved plan,
// not by a step that runs by itself.
func TestNotTrustedOnEveryPath(t *testing.T) {
	t.Run("next", func(t *testing.T) {
		p, root := commandProject(t, checked, "touch "+ranFile, false)
		must(t, p, report("a", cursor.Success))
		before := journal(t, root)
		wantUntrusted(t, root, must(t, p, report("a", cursor.Success)))
		if journal(t, root) != before {
			t.Error("the refused report wrote")
		}
	})
	t.Run("plan", func(t *testing.T) {
		p, root := commandProject(t, checked, "touch "+ranFile, false)
		must(t, p, report("a", cursor.Success))
		q := report("a", cursor.Success)
		q.PlanOut = func([]byte) error { t.Error("a plan was made"); return nil }
		wantUntrusted(t, root, must(t, p, q))
	})
	t.Run("apply", func(t *testing.T) {
		p, root := commandProject(t, checked, "touch "+ranFile, true)
		must(t, p, report("a", cursor.Success))
		plan := save(t, p, root, report("a", cursor.Success))
		if err := os.Remove(filepath.Join(root, ranFile)); err != nil {
			t.Fatal(err)
		}
		wantUntrusted(t, root, apply(t, open(t, root, trustIn(filepath.Join(t.TempDir(), "other"))), plan))
	})
	t.Run("auto", func(t *testing.T) {
		root := makeProject(t, `
[commands.check]
run = ["sh", "-c", "touch ran"]
[missions.t]
steps = [{ id = "A", executor = { plugin = "success", auto = true }, guards = [{ command = "check" }] }, { id = "B" }]`, nil, "success")
		p := open(t, root, trustIn(filepath.Join(t.TempDir(), "trust")))
		a := must(t, p, report("a", cursor.Success))
		if !a.Recorded { // the start of the run is, and what its first step came to is not
			t.Errorf("the start was not recorded")
		}
		a.Recorded = false
		wantUntrusted(t, root, a)
		trustAll(t, p)
		// The run froze the same set before it was consented to.
		wantStep(t, must(t, p, report("a", cursor.Success)), "B")
	})
}

// What is trusted is the bytes that will be used. A change asks again; a run that
// froze what was consented to goes on.
func TestChangedCommandAsksAgain(t *testing.T) {
	p, root := commandProject(t, checked, "echo x >>count", true)
	dir := p.trust.Folder()
	must(t, p, report("a", cursor.Success))
	file := filepath.Join(root, "spec-kitty.toml")
	text := read(t, file)

	write(t, file, "# a comment\n"+text)
	c, err := open(t, root, trustIn(dir)).Consent(context.Background(), ConsentTo{})
	if err != nil || !c.Consented {
		t.Errorf("a comment asks again: %+v, %v", c, err)
	}

	write(t, file, strings.Replace(text, `"./check.sh"]`, `"./check.sh", "--all"]`, 1))
	changed := open(t, root, trustIn(dir))
	if c, err := changed.Consent(context.Background(), ConsentTo{}); err != nil || c.Consented {
		t.Errorf("a changed command is trusted: %+v, %v", c, err)
	}
	a := must(t, changed, report("a", cursor.Success))
	wantStep(t, a, "B")
	if !slices.ContainsFunc(a.Warnings, func(w Warning) bool { return w.Code == "commands_drift" }) {
		t.Errorf("no drift was shown: %+v", a.Warnings)
	}
	if got := read(t, filepath.Join(root, "count")); got != "x\n" {
		t.Errorf("the frozen command ran %q", got)
	}
	if c, err := changed.Consent(context.Background(), ConsentTo{Mission: "m"}); err != nil || c.Of != "run" || !c.Consented {
		t.Errorf("the run's own: %+v, %v", c, err)
	}

	// A new run freezes the changed one, which nobody consented to.
	must(t, changed, report("a", cursor.Success))
	if _, err := changed.Start(context.Background(), StartRequest{Slug: "m", Again: true, Caller: Caller{Agent: "a"}}); err != nil {
		t.Fatal(err)
	}
	a = must(t, changed, report("a", cursor.Success))
	wantBlocked(t, a, "guard_error")
}

// Consent that is taken back is gone, also for a run under way.
func TestRevokedConsent(t *testing.T) {
	p, root := commandProject(t, checked, "touch "+ranFile, true)
	must(t, p, report("a", cursor.Success))
	all, err := p.Consents()
	if err != nil || len(all.Records) != 1 || !all.Records[0].Current || !slices.Equal(all.Records[0].Commands, []string{"check"}) {
		t.Fatalf("%+v, %v", all, err)
	}
	if r, err := p.RevokeConsent(all.Records[0].Digest); err != nil || !r.Revoked {
		t.Errorf("%+v, %v", r, err)
	}
	wantUntrusted(t, root, must(t, p, report("a", cursor.Success)))
	if r, err := p.RevokeConsent(all.Records[0].Digest); err != nil || r.Revoked {
		t.Errorf("twice: %+v, %v", r, err)
	}
	var known *Error
	if _, err := p.RevokeConsent("x"); !errors.As(err, &known) || known.Code != CodeUsage {
		t.Error(err)
	}
}

// A digest that is not the one shown is no consent: somebody looked at something
// else.
func TestConsentIsToWhatWasShown(t *testing.T) {
	p, root := commandProject(t, checked, "touch "+ranFile, false)
	must(t, p, report("a", cursor.Success))
	var known *Error
	if _, err := p.GiveConsent(context.Background(), ConsentTo{}, strings.Repeat("0", 64)); !errors.As(err, &known) || known.Code != CodeUsage {
		t.Error(err)
	}
	wantUntrusted(t, root, must(t, p, report("a", cursor.Success)))
	c, err := p.Consent(context.Background(), ConsentTo{})
	if err != nil || c.Consented || !c.Needed || len(c.Commands) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	inCI := open(t, root, func(o *Options) { o.TrustDir, o.Trust = filepath.Join(t.TempDir(), "none"), c.Digest })
	wantStep(t, must(t, inCI, report("a", cursor.Success)), "B")
}

// A project that is copied with its state brings no consent with it, neither to
// another folder nor to another user; nor does a run whose frozen commands were
// edited.
func TestCopiedRunIsNotTrusted(t *testing.T) {
	p, root := commandProject(t, checked, "touch "+ranFile, true)
	must(t, p, report("a", cursor.Success))
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(root)); err != nil {
		t.Fatal(err)
	}
	wantUntrusted(t, copied, must(t, open(t, copied, trustIn(p.trust.Folder())), report("a", cursor.Success)))
	wantUntrusted(t, root, must(t, open(t, root, trustIn(filepath.Join(t.TempDir(), "other"))), report("a", cursor.Success)))

	frozen := oneFile(t, root, blobCommands, "*.json")
	write(t, frozen, strings.Replace(read(t, frozen), "./check.sh", "./other.sh", 1))
	var known *Error
	if _, err := open(t, root, trustIn(p.trust.Folder())).Next(context.Background(), report("a", cursor.Success)); !errors.As(err, &known) || known.Code != CodeStateDamaged {
		t.Errorf("edited frozen commands: %v", err)
	}
}

// A folder of consents that others can write to is not relied on.
func TestUnsafeFolderOfConsents(t *testing.T) {
	p, root := commandProject(t, checked, "touch "+ranFile, true)
	must(t, p, report("a", cursor.Success))
	if err := os.Chmod(p.trust.Folder(), 0o777); err != nil {
		t.Fatal(err)
	}
	a := must(t, p, report("a", cursor.Success))
	wantUntrusted(t, root, a)
	if !strings.Contains(*a.Reason, "mode 0700") {
		t.Error(*a.Reason)
	}
	var known *Error
	if _, err := p.Consent(context.Background(), ConsentTo{}); !errors.As(err, &known) {
		t.Error(err)
	}
}

// A project without commands asks for nothing, and its runs freeze no set.
func TestNothingToConsentTo(t *testing.T) {
	root := makeProject(t, linear, nil, "success")
	p := open(t, root, trustIn(filepath.Join(t.TempDir(), "trust")))
	c, err := p.Consent(context.Background(), ConsentTo{})
	if err != nil || c.Needed {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = p.GiveConsent(context.Background(), ConsentTo{}, c.Digest); err != nil || c.Recorded {
		t.Errorf("%+v, %v", c, err)
	}
	must(t, p, report("a", cursor.Success))
	if strings.Contains(journal(t, root), `"commands"`) {
		t.Error("the run froze commands that nothing asks for")
	}
	var known *Error
	if _, err := p.Consent(context.Background(), ConsentTo{Mission: "m"}); !errors.As(err, &known) || known.Code != CodeNotFound {
		t.Error(err)
	}
}

// A write grant has no effect before somebody consented to it: the executor's
// files are not staged and nothing is recorded. A grant that was widened asks again.
func TestArtifactsNeedConsent(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [{ id = "A", executor = { plugin = "artifact" } }, { id = "B" }]`, nil, "artifact")
	withWrite(t, root, "artifact", `"docs"`)
	p := open(t, root, trustIn(filepath.Join(t.TempDir(), "trust")))
	must(t, p, report("a", cursor.Success))
	before := journal(t, root)
	wantUntrusted(t, root, must(t, p, report("a", cursor.Success)))
	if _, err := os.Stat(filepath.Join(root, "docs")); err == nil || journal(t, root) != before {
		t.Errorf("something was written: %v", err)
	}
	trustAll(t, p)
	wantStep(t, must(t, p, report("a", cursor.Success)), "B")

	file := filepath.Join(root, "spec-kitty.toml")
	write(t, file, strings.Replace(read(t, file), `write = ["docs"]`, `write = ["docs", "src"]`, 1))
	wider := open(t, root, trustIn(p.trust.Folder()))
	if c, err := wider.Consent(context.Background(), ConsentTo{}); err != nil || c.Consented {
		t.Errorf("another grant is trusted: %+v, %v", c, err)
	}
}
