package runner

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// saying is a project whose plugin may write and always gives one answer. A step
// beside those given follows them.
func saying(t *testing.T, steps, answer string) string {
	t.Helper()
	root := makeProject(t, "\n[missions.t]\nsteps = ["+steps+`, { id = "B" }]`, nil, "says")
	withWrite(t, root, "says", `"docs"`)
	file := filepath.Join(root, "spec-kitty.toml")
	write(t, file, strings.Replace(read(t, file), `timeout = "5s"`, "args = ['"+answer+"']", 1))
	return root
}

// wantUncalled wants a block for want of consent, with the topic as its way out.
func wantUncalled(t *testing.T, a Answer) {
	t.Helper()
	if a.Kind != KindBlocked || code(a) != string(GuardError) || !strings.Contains(value(a.Reason), notTrusted) || a.Recover[0] != trustTopic {
		t.Fatalf("%s %s: %s, recover %q", a.Kind, code(a), value(a.Reason), a.Recover)
	}
}

// A plugin that may write is not called before somebody consented to it, whatever
// it would answer and on whatever path: neither what it says of its step nor a
// verdict is heard, and nothing is recorded.
func TestWriterIsNotCalledBeforeConsent(t *testing.T) {
	nobody := func(t *testing.T, root string) *Project {
		return open(t, root, trustIn(filepath.Join(t.TempDir(), "nobody")))
	}
	const executed = `{ id = "A", executor = { plugin = "says" }, retry = 1 }`
	for name, answer := range map[string]string{
		"success":  `{"outcome":"success","inputs":{"layout":"flat"}}`,
		"failed":   `{"outcome":"failed","reasons":[{"message":"I say so"}]}`,
		"blocked":  `{"outcome":"blocked","reasons":[{"message":"I say so"}]}`,
		"question": `{"outcome":"question","question":{"key":"k","question":"Which?"}}`,
		"nonsense": `no answer at all`,
	} {
		t.Run("executor says "+name, func(t *testing.T) {
			root := saying(t, executed, answer)
			p := nobody(t, root)
			must(t, p, report("a", cursor.Success))
			before := journal(t, root)
			wantUncalled(t, must(t, p, report("a", cursor.Success)))
			if journal(t, root) != before {
				t.Error("what it said was recorded")
			}
		})
	}
	for name, verdict := range map[string]string{"allows": `{"verdict":"allow"}`, "refuses": `{"verdict":"refuse","reasons":[{"message":"no"}]}`} {
		t.Run("guard "+name, func(t *testing.T) {
			root := saying(t, `{ id = "A", guards = [{ plugin = "says" }] }`, verdict)
			p := nobody(t, root)
			must(t, p, report("a", cursor.Success))
			before := journal(t, root)
			wantUncalled(t, must(t, p, report("a", cursor.Success)))
			if journal(t, root) != before {
				t.Error("what it said was recorded")
			}
			trustAll(t, p)
			if a := must(t, p, report("a", cursor.Success)); a.Recorded != (name == "allows") {
				t.Errorf("with consent: %s", value(a.Reason))
			}
		})
	}
	const auto = `{ id = "A", executor = { plugin = "says", auto = true } }`
	t.Run("a step that runs by itself", func(t *testing.T) {
		root := saying(t, auto, `{"outcome":"success"}`)
		wantUncalled(t, must(t, nobody(t, root), report("a", cursor.Success)))
		again, err := nobody(t, root).Query(t.Context(), "m", Caller{Agent: "a"})
		if err != nil || value(again.StepID) != "A" {
			t.Errorf("it completed: %s, %v", value(again.StepID), err)
		}
	})
	t.Run("run start", func(t *testing.T) {
		root := saying(t, auto, `{"outcome":"success"}`)
		a, err := nobody(t, root).Start(t.Context(), StartRequest{Slug: "m", Caller: Caller{Agent: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(journal(t, root), `"reported"`) {
			t.Errorf("it was called: %s", value(a.Reason))
		}
	})
	t.Run("run retry", func(t *testing.T) {
		root := saying(t, auto, `{"outcome":"failed","reasons":[{"message":"I say so"}]}`)
		failed := must(t, open(t, root, trusting(t, root)), report("a", cursor.Success))
		if code(failed) != string(cursor.StepFailed) {
			t.Fatalf("%s: %s", code(failed), value(failed.Reason))
		}
		p, before := nobody(t, root), strings.Count(journal(t, root), `"reported"`)
		if _, err := p.Retry(t.Context(), OperatorRequest{Mission: "m", Caller: Caller{Agent: "a"}}); err != nil {
			t.Fatal(err)
		}
		wantUncalled(t, must(t, p, report("a", cursor.Success)))
		if got := strings.Count(journal(t, root), `"reported"`); got != before {
			t.Error("it was called")
		}
	})
	t.Run("a saved plan", func(t *testing.T) {
		root := saying(t, executed, `{"outcome":"success"}`)
		p := open(t, root, trusting(t, root))
		must(t, p, report("a", cursor.Success))
		plan := save(t, p, root, report("a", cursor.Success))
		wantUncalled(t, apply(t, nobody(t, root), plan))
	})
}

// Calls of a plugin that may write are made again by a replay only with consent:
// the run may have come from anywhere.
func TestReplayCallsNoWriterWithoutConsent(t *testing.T) {
	root := saying(t, `{ id = "A", executor = { plugin = "says" } }`, `{"outcome":"success"}`)
	p := open(t, root, trusting(t, root))
	must(t, p, report("a", cursor.Success))
	wantStep(t, must(t, p, report("a", cursor.Success)), "B")
	wantCalls(t, replayed(t, p, true), "same")
	got := replayed(t, open(t, root, trustIn(filepath.Join(t.TempDir(), "nobody"))), true)
	wantCalls(t, got, "not_repeated "+notTrusted)
	wantVerdict(t, got, VerdictSame)
}

// Who only reads needs no consent, also beside one that writes.
func TestReaderNeedsNoConsent(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [{ id = "A", executor = { plugin = "success" } }, { id = "B", executor = { plugin = "artifact" } }]`, nil, "artifact", "success")
	withWrite(t, root, "artifact", `"docs"`)
	p := open(t, root, trustIn(filepath.Join(t.TempDir(), "nobody")))
	must(t, p, report("a", cursor.Success))
	wantStep(t, must(t, p, report("a", cursor.Success)), "B")
	a := must(t, p, report("a", cursor.Success))
	wantUncalled(t, a)
	if !slices.ContainsFunc(a.Guards, func(g Guard) bool { return g.Guard == "executor artifact" }) {
		t.Errorf("guards %+v", a.Guards)
	}
}
