package guest

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/plugins/abi"
)

// The request that a plugin reads is the one that the host wrote.
func TestRequest(t *testing.T) {
	sent := abi.Request{
		Verb: "execute", Run: abi.Run{ID: "01K2ZK3V5Q8W7D0M9R4T6Y1XBC", Mission: "001-m", Type: "t", Revision: 7},
		Mission: abi.Mission{Dir: "/project/kitty-specs/001-m"}, Workspace: "/workspace", Package: "WP01",
		Step:   abi.Step{ID: "s", Title: "Prüfung \"x\" 👋", Attempt: 2, With: map[string]any{"file": "a.md", "list": []string{"a", "b"}}},
		Inputs: map[string]string{"topic": "x"}, Answers: map[string]string{"db": "sqlite"}, Completed: []string{"a", "b"},
		Packages: []abi.Package{{ID: "WP01", Title: "One", Lane: "planned", Dependencies: []string{"WP02"}, Path: "/project/WP01.md"}},
		Agent:    "me", Result: "success", Reason: "done\nall", Now: "2026-03-01T12:00:00Z",
		Commands: []abi.CommandResult{{Command: "tests", Exit: -1, Stdout: "out", Stderr: "err", TimedOut: true}},
	}
	raw, err := sent.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseRequest(raw)
	if err != nil {
		t.Fatal(err)
	}
	back := abi.Request{
		ABI: 0, Verb: got.Verb, Run: abi.Run{ID: got.Run.ID, Mission: got.Run.Mission, Type: got.Run.Type, Revision: uint64(got.Run.Revision)},
		Mission: abi.Mission{Dir: got.MissionDir}, Workspace: got.Workspace, Package: got.Package,
		Step:   abi.Step{ID: got.Step.ID, Title: got.Step.Title, Attempt: got.Step.Attempt, With: sent.Step.With},
		Inputs: stringsOf(got.Inputs), Answers: stringsOf(got.Answers), Completed: got.Completed,
		Agent: got.Agent, Result: got.Result, Reason: got.Reason, Now: got.Now,
	}
	for _, p := range got.Packages {
		back.Packages = append(back.Packages, abi.Package(p))
	}
	for _, c := range got.Commands {
		back.Commands = append(back.Commands, abi.CommandResult(c))
	}
	if diff := cmp.Diff(sent, back); diff != "" {
		t.Errorf("(-sent +read):\n%s", diff)
	}
	file, err := got.Step.With.TextOr("file", "")
	list, err2 := got.Step.With.TextsOr("list", nil)
	if err != nil || err2 != nil || file != "a.md" || len(list) != 2 {
		t.Errorf("settings: %q %v %v %v", file, err, list, err2)
	}
	if err := got.Step.With.Only("file"); err == nil || !strings.Contains(err.Error(), `"list"`) {
		t.Errorf("an unknown setting: %v", err)
	}
}

func stringsOf(v Value) map[string]string {
	all := map[string]string{}
	for i, key := range v.Keys() {
		all[key], _ = v.Items()[i].Text()
	}
	return all
}

// A request that is none is refused, with what is wrong.
func TestBadRequests(t *testing.T) {
	for doc, want := range map[string]string{
		`{"abi":1,`:              "not JSON",
		`[]`:                     "must be a JSON object",
		`{"abi":2}`:              "ABI version 1",
		`{"mission":{"dir":""}}`: "ABI version 1",
		`{"abi":1}`:              "mission.dir",
		"\xff":                   "not UTF-8",
	} {
		if _, err := ParseRequest([]byte(doc)); err == nil || !strings.Contains(err.Error(), want) || exitCode(err) != 2 {
			t.Errorf("%q: %v", doc, err)
		}
	}
	if _, err := ParseRequest(make([]byte, MaxRequest+1)); err == nil {
		t.Error("a request that is too large is read")
	}
}

// What this package writes the host takes, and reads as it was meant.
func TestAnswers(t *testing.T) {
	reason := Reason{"no \"title\"\n\x01 in \xff it", "/project/a.md", "write é"}
	guard, err := abi.DecodeGuard(Refuse(reason, Reason{Message: "m"}).Encode())
	want := abi.GuardAnswer{Verdict: abi.Refuse, Reasons: []abi.Reason{{Message: "no \"title\"\n\x01 in \ufffd it", Path: reason.Path, Fix: reason.Fix}, {Message: "m"}}}
	if diff := cmp.Diff(want, guard); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, a := range []GuardAnswer{Allow(), CannotJudge("why")} {
		if _, err := abi.DecodeGuard(a.Encode()); err != nil {
			t.Error(err)
		}
	}
	full := ExecuteAnswer{Outcome: "success", Inputs: map[string]string{"b": "2", "a": "1"}, Prompt: "p", Notes: []string{"n"}, Artifacts: []Artifact{{"docs/a.md", "c"}}}
	got, err := abi.DecodeExecute(full.Encode())
	if diff := cmp.Diff(abi.ExecuteAnswer{Outcome: "success", Inputs: full.Inputs, Prompt: "p", Notes: []string{"n"},
		Artifacts: []abi.Artifact{{Path: "docs/a.md", Content: "c"}}}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if !bytes.Contains(full.Encode(), []byte(`"inputs":{"a":"1","b":"2"}`)) {
		t.Errorf("inputs out of order: %s", full.Encode())
	}
	for _, a := range []ExecuteAnswer{Ask("db", "Which?", "a", "b"), Ask("db", "Which?"), Blocked(reason), {Needs: []string{"tests"}}} {
		if _, err := abi.DecodeExecute(a.Encode()); err != nil {
			t.Error(err)
		}
	}
}

func TestDescription(t *testing.T) {
	p := Plugin{Name: "x", Version: "1.0.0", Description: "d", With: `{"type":"object"}`,
		Guard: func(Request) (GuardAnswer, error) { return Allow(), nil }}
	raw, err := p.answer("describe", nil)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := abi.DecodeDescribe(raw); err != nil || d.Name != "x" || len(d.Verbs) != 1 {
		t.Errorf("%v %v", d, err)
	}
	if _, err := p.answer("execute", strings.NewReader("{}")); exitCode(err) != 2 {
		t.Errorf("a verb that is not there: %v", err)
	}
}

// corners are documents at the edges of JSON.
func corners() []string {
	return []string{
		``, ` `, `null`, ` true `, `nul`, `truex`, `"`, `"a`, `"\`, `"\u12`, `"\u123g"`, `"\u+123"`, `"\x"`, "\"\x00\"", "\"\n\"", "\"\x7f\"", "\x00", "[\x00]",
		`"\u0000\b\f\n\r\t\/\\\""`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`, `"\ud83d\n"`,
		"\"\xff\"", "\"\xc0\xaf\"", "\xef\xbb\xbf1", `0`, `-0`, `-`, `+1`, `01`, `1.`, `.5`, `1.5`, `1e`, `1E+5`, `1e-05`, `1 2`, `1,`, `NaN`,
		`[]`, `[ ]`, `[1,]`, `[,1]`, `[1 2]`, `[[],{},""]`, `[`, `]`, `[1}`, `{}`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":{"b":["}",{"c":null}]}}`, `{1:2}`, `{`,
		strings.Repeat("[", 64) + strings.Repeat("]", 64), strings.Repeat("[", 65) + strings.Repeat("]", 65), strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65),
	}
}

// FuzzParse holds the reader to encoding/json: what one takes the other takes,
// and reads the same.
func FuzzParse(f *testing.F) {
	for _, doc := range corners() {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		v, err := Parse(doc)
		if err != nil {
			if json.Valid(doc) && !strings.Contains(err.Error(), "deeply") && !strings.Contains(err.Error(), "UTF-8") {
				t.Fatalf("%q: %v", doc, err)
			}
			return
		}
		d := json.NewDecoder(bytes.NewReader(doc))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil || !json.Valid(doc) {
			t.Fatalf("%q is read, but is no JSON: %v", doc, err)
		}
		if !same(v, want) {
			t.Fatalf("%q: read as %v, want %v", doc, v, want)
		}
	})
}

// same compares, but for members whose key comes twice: there encoding/json
// takes the last.
func same(v Value, want any) bool {
	switch want := want.(type) {
	case nil:
		return v.Kind() == Null
	case bool:
		got, ok := v.Bool()
		return ok && got == want
	case string:
		got, ok := v.Text()
		return ok && got == want
	case json.Number:
		n, whole := v.Int()
		m, err := strconv.Atoi(string(want))
		return v.Kind() == Number && v.text == string(want) && whole == (err == nil) && (!whole || n == m)
	case []any:
		return v.Kind() == Array && len(v.Items()) == len(want) && all(want, func(i int) bool { return same(v.Items()[i], want[i]) })
	case map[string]any:
		if len(want) != len(v.Keys()) {
			return v.Kind() == Object && len(want) < len(v.Keys())
		}
		return v.Kind() == Object && all(v.Keys(), func(i int) bool { return same(v.Items()[i], want[v.Keys()[i]]) })
	}
	return false
}

func all[T any](list []T, good func(int) bool) bool {
	for i := range list {
		if !good(i) {
			return false
		}
	}
	return true
}
