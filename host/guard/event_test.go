package guard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/guard"
	"github.com/spec-kitty/step-runner/host/mission"
)

func event(dir, kind string, least int) guard.Result {
	return guard.Event(guard.Folder{Dir: dir}, mission.EventGuard{Type: kind, Min: least})
}

func TestEvent(t *testing.T) {
	dir := folder(t, map[string]string{guard.EventLog: "{\"type\":\"source_documented\",\"n\":1}\r\n" +
		"\n  {\"n\":2, \"type\": \"source_documented\"}\n" +
		"{\"type\":\"gate_passed\"}\nnot JSON source_documented\n[\"type\",\"source_documented\"]\n\"source_documented\"\n" +
		"{\"type\":[\"source_documented\"]}\n{\"kind\":\"source_documented\"}\n{\"type\":\"source_docu"})
	for name, c := range map[string]struct {
		kind    string
		least   int
		verdict guard.Verdict
		words   string
	}{
		"one is enough":   {"source_documented", 0, guard.Allow, "2 such events"},
		"as many":         {"source_documented", 2, guard.Allow, "2 such events"},
		"too few":         {"source_documented", 3, guard.Refuse, "at least 3 events source_documented in mission-events.jsonl; found 2 such events"},
		"none":            {"published", 1, guard.Refuse, "found 0 such events"},
		"a part of a key": {"source_docu", 1, guard.Refuse, "0 such events"},
	} {
		t.Run(name, func(t *testing.T) { want(t, event(dir, c.kind, c.least), c.verdict, c.words) })
	}
	want(t, event(t.TempDir(), "x", 1), guard.Refuse, "no such file")
	want(t, event(filepath.Join(dir, "gone"), "x", 1), guard.Refuse, "no such file")
	want(t, event(folder(t, map[string]string{guard.EventLog + "/x": ""}), "x", 1), guard.Failed)
	staged := guard.Folder{Dir: dir, Staged: map[string][]byte{guard.EventLog: []byte(`{"type":"published"}`)}}
	want(t, guard.Event(staged, mission.EventGuard{Type: "published"}), guard.Allow)
}

func TestEventLogTooLarge(t *testing.T) {
	dir := folder(t, map[string]string{guard.EventLog: "x"})
	if err := os.Truncate(filepath.Join(dir, guard.EventLog), 16<<20+1); err != nil {
		t.Fatal(err)
	}
	want(t, event(dir, "x", 1), guard.Failed, "more than 16777216 bytes")
}

// FR-001: a further event of the type, or one that is taken back, is seen before
// the commit; one of another type changes nothing.
func TestEventFactShowsItsTypeAlone(t *testing.T) {
	log := "{\"type\":\"a\"}\n{\"type\":\"b\"}\n"
	for name, c := range map[string]struct {
		text string
		seen bool
	}{
		"nothing":      {log, false},
		"another type": {log + "{\"type\":\"c\"}\n", false},
		"one more":     {log + "{\"type\":\"a\"}\n", true},
		"one less":     {strings.Replace(log, `"a"`, `"x"`, 1), true},
		"edited":       {strings.Replace(log, `"a"`, `"a","n":1`, 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{guard.EventLog: log})
			r := event(dir, "a", 1)
			write(t, filepath.Join(dir, guard.EventLog), c.text)
			if got := len(changed(t, dir, r)) > 0; got != c.seen {
				t.Errorf("seen %t, want %t", got, c.seen)
			}
		})
	}
	dir := folder(t, nil)
	r := event(dir, "a", 1)
	write(t, filepath.Join(dir, guard.EventLog), log)
	if len(changed(t, dir, r)) == 0 {
		t.Error("a log that appeared was not seen")
	}
}
