package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

func replayed(t testing.TB, p *Project, plugins bool) Replay {
	t.Helper()
	got, err := p.Replay(context.Background(), ReplayRequest{Mission: "m", Plugins: plugins})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func wantVerdict(t testing.TB, got Replay, want Verdict, words ...string) {
	t.Helper()
	if got.Verdict != want || (want == VerdictSame) != (len(got.Problems) == 0) {
		t.Fatalf("verdict %s, want %s: %q", got.Verdict, want, got.Problems)
	}
	for _, word := range words {
		if !strings.Contains(strings.Join(got.Problems, "\n"), word) {
			t.Errorf("%q does not say %q", got.Problems, word)
		}
	}
}

// forge writes the journal anew with an edit of each record's body, digests and
// chain right again, as a program that knows the format would.
func forge(t testing.TB, root string, edit func(body string) string) {
	t.Helper()
	const tail, prev = `,"digest":"`, `,"prev":"`
	last := strings.Repeat("0", 64)
	var out strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(journal(t, root)), "\n") {
		body := edit(line[:strings.LastIndex(line, tail)])
		if i > 0 {
			body = body[:strings.LastIndex(body, prev)] + prev + last + `"`
		}
		sum := sha256.Sum256([]byte(body))
		last = hex.EncodeToString(sum[:])
		fmt.Fprintf(&out, "%s%s%s\"}\n", body, tail, last)
	}
	write(t, filepath.Join(onlyRun(t, root), "run.events.jsonl"), out.String())
	if err := os.Remove(filepath.Join(onlyRun(t, root), "state.json")); err != nil {
		t.Fatal(err)
	}
}

func onlyRun(t testing.TB, root string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, ".kittify", "step-runner", "runs", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("runs: %v %v", found, err)
	}
	return found[0]
}

// P6: a run that was worked on in many ways comes out the same, and every commit
// of it is told.
func TestReplayComesOutTheSame_P6(t *testing.T) {
	root := makeProject(t, packaged, packages(2))
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	must(t, p, report("a", cursor.Success))
	must(t, p, report("a", cursor.Failed))
	if _, err := p.WPMove(t.Context(), OperatorRequest{Mission: "m", Actor: "kim", Package: "WP01", To: "blocked", Force: true, Reason: "waits for the bank"}); err != nil {
		t.Fatal(err)
	}
	got := replayed(t, p, true)
	wantVerdict(t, got, VerdictSame)
	if n := strings.Count(journal(t, root), "\n"); len(got.Moments) != n || got.Revision != uint64(n) {
		t.Errorf("%d moments of %d records", len(got.Moments), n)
	}
	var all []string
	for _, m := range got.Moments {
		for _, said := range m.Told {
			all = append(all, said.Text)
		}
	}
	for _, want := range []string{
		"mission m of type t begins", "step implement is current", "WP01 of step implement is handed to a: attempt 1, token ",
		"a reports success on WP01 of step implement", "WP01 goes from in_progress to for_review", "waits for the bank",
	} {
		if !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("nothing says %q:\n%s", want, strings.Join(all, "\n"))
		}
	}
}

// P6: a replay is read-only, also with --plugins.
func TestReplayWritesNothing(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	before := read(t, filepath.Join(onlyRun(t, root), "state.json")) + journal(t, root)
	wantVerdict(t, replayed(t, open(t, root), true), VerdictSame)
	if after := read(t, filepath.Join(onlyRun(t, root), "state.json")) + journal(t, root); after != before {
		t.Error("the run was changed")
	}
}

// A state that is intact and not what the journal says, as a faulty Evolve of the
// same version would leave it, is told by its fields.
func TestReplayFindsAnotherState_P6(t *testing.T) {
	root := makeProject(t, linear, nil)
	must(t, open(t, root), report("a", cursor.Success))
	file := filepath.Join(onlyRun(t, root), "state.json")
	const sum = `,"sum":"`
	text := read(t, file)
	body := strings.Replace(text[:strings.LastIndex(text, sum)], `"attempt":1`, `"attempt":7`, 1)
	digest := sha256.Sum256([]byte(body))
	write(t, file, body+sum+hex.EncodeToString(digest[:16])+"\"}\n")
	p := open(t, root)
	if query, err := p.Query(t.Context(), "m", Caller{Agent: "a"}); err != nil || len(query.Warnings) > 0 {
		t.Fatalf("the forged state is not believed: %+v %v", query.Warnings, err)
	}
	wantVerdict(t, replayed(t, p, false), VerdictDiffers, "differ in: cursor")
}

// A damaged journal is told up to the damage.
func TestReplayOfADamagedJournal(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	for range 3 {
		must(t, p, report("a", cursor.Success))
	}
	text := journal(t, root)
	second := strings.Index(text, "\n") + 1
	write(t, filepath.Join(onlyRun(t, root), "run.events.jsonl"), text[:second+20]+"x"+text[second+21:])
	got := replayed(t, open(t, root), false)
	wantVerdict(t, got, VerdictDamaged, "run.events.jsonl:2")
	if len(got.Moments) != 1 || got.MissionState != "damaged" {
		t.Errorf("%d moments, %s", len(got.Moments), got.MissionState)
	}
}

// An event of a newer version is shown as it stands, what follows it too, and
// nothing is said of the state.
func TestReplayShowsWhatItDoesNotKnow(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	for range 3 {
		must(t, p, report("a", cursor.Success))
	}
	forge(t, root, func(body string) string {
		return strings.Replace(body, `{"completed":{"pos":0,`, `{"celebrated":{"how":"loudly","pos":0,`, 1)
	})
	got := replayed(t, open(t, root), true)
	wantVerdict(t, got, VerdictNotJudged, `unknown event "celebrated"`)
	told := got.Moments[1].Told
	if !slices.ContainsFunc(told, func(s Saying) bool {
		return s.Event == "celebrated" && strings.Contains(s.Text, "loudly")
	}) || len(got.Moments) != 3 {
		t.Errorf("%d moments, %+v", len(got.Moments), told)
	}
}

// Every kind of event has words of its own.
func TestEveryEventIsTold(t *testing.T) {
	raw := read(t, filepath.Join("..", "cursor", "testdata", "events.golden.json"))
	kinds := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(raw), "\n") {
		e, err := cursor.DecodeEvent(json.RawMessage(line))
		if err != nil {
			t.Fatal(err)
		}
		said := tell(commit.RecordedEvent[cursor.Event]{Event: e, Known: true, Raw: json.RawMessage(line)})
		if said.Text == "" || said.Text == fmt.Sprintf("%+v", e) {
			t.Errorf("%s: %q", said.Event, said.Text)
		}
		kinds[said.Event] = true
		if said.Event == "reported" && len(said.Evidence) < 5 {
			t.Errorf("evidence %q", said.Evidence)
		}
	}
	if len(kinds) < 20 {
		t.Errorf("only %d kinds", len(kinds))
	}
}
