package lanes_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

// move is a line that moves a package; its event id is its second, so that time
// and id give one order.
func move(second, pkg, to, actor string) string {
	return moveAt("01KN"+second, "2026-08-19T20:00:0"+second+".5+00:00", pkg, to, actor)
}

func moveAt(id, at, pkg, to, actor string) string {
	return fmt.Sprintf(`{"actor": %s, "at": %q, "event_id": %q, "evidence": null, "from_lane": null, "policy_metadata": null, "to_lane": %q, "wp_id": %q}`+"\n", actor, at, id, to, pkg)
}

func note(second, pkg, delta string) string {
	return fmt.Sprintf(`{"actor": "user", "at": "2026-08-19T20:00:0%s.7+00:00", "delta": %s, "event_id": "01KQ%s", "kind": "annotation", "wp_id": %q}`+"\n", second, delta, second, pkg)
}

func parse(t *testing.T, text string) lanes.Log {
	t.Helper()
	log, err := lanes.ParseLog("status.events.jsonl", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestTheLastMoveCounts(t *testing.T) {
	early, late := "2026-08-19T20:00:00Z", "2026-08-19T20:00:01Z"
	cases := map[string]struct {
		text string
		want mission.Lane
	}{
		"in the file's order":      {moveAt("a", early, "WP01", "claimed", `"x"`) + moveAt("b", late, "WP01", "in_progress", `"x"`), mission.InProgress},
		"by time, not by place":    {moveAt("b", late, "WP01", "in_progress", `"x"`) + moveAt("a", early, "WP01", "claimed", `"x"`), mission.InProgress},
		"by id at one time":        {moveAt("b", early, "WP01", "done", `"x"`) + moveAt("a", early, "WP01", "planned", `"x"`), mission.Done},
		"by instant, not by text":  {moveAt("b", "2026-08-19T22:00:00+02:00", "WP01", "planned", `"x"`) + moveAt("a", late, "WP01", "done", `"x"`), mission.Done},
		"each id once":             {moveAt("a", early, "WP01", "planned", `"x"`) + moveAt("b", late, "WP01", "done", `"x"`) + moveAt("a", early, "WP01", "planned", `"x"`), mission.Done},
		"doing is in_progress":     {move("1", "WP01", "doing", `"x"`), mission.InProgress},
		"genesis":                  {move("1", "WP01", "genesis", `"x"`), mission.Genesis},
		"CRLF, a mark and a blank": {"\xef\xbb\xbf" + strings.ReplaceAll(move("1", "WP01", "done", `"x"`), "\n", "\r\n") + "\r\n\n", mission.Done},
		"no newline at the end":    {strings.TrimSuffix(move("1", "WP01", "done", `"x"`), "\n"), mission.Done},
		"skipped lines": {move("1", "WP01", "planned", `{"tool": "x"}`) +
			`{"to_lane": null, "wp_id": "WP01", "at": "2026-08-19T20:00:09Z", "event_id": "z"}` + "\n" +
			`{"to_lane": "done", "wp_id": null, "at": "2026-08-19T20:00:09Z", "event_id": "y"}` + "\n" +
			`{"event_type": "MissionCreated", "payload": {"to_lane": "done", "wp_id": "WP01"}, "timestamp": 7}` + "\n" +
			note("9", "WP01", `{"subtasks": {"T001": "done"}}`), mission.Planned},
		"escapes": {`{"wp\u005fid": "WP01", "to_lane": "d\u006fne", "at": "2026-08-19T20:00:00Z", "event_id": "a\"}"}` + "\n" +
			`{"wp_id": "WP01", "to_lane": "d\u006fne", "at": "2026-08-19T20:00:00Z", "event_id": "a\"}"}`, mission.Done},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			log := parse(t, c.text)
			if got := log.At("WP01").Lane; got != c.want {
				t.Errorf("lane %s, want %s", got, c.want)
			}
			if len(log.Positions) != 1 || len(log.Warnings) != 0 {
				t.Errorf("positions %v, warnings %v", log.Positions, log.Warnings)
			}
		})
	}
}

func TestAPackageWithoutAMoveIsInGenesis(t *testing.T) {
	log := parse(t, move("1", "WP01", "planned", `"x"`))
	if got := log.At("WP02"); got.Lane != mission.Genesis || got.Package != "WP02" {
		t.Errorf("%+v, want genesis", got)
	}
}

// Case 35: who did the work is known through a review, a rejection and a second
// attempt; names of tools are nobody.
func TestHolderAndAuthor(t *testing.T) {
	lines := []struct{ line, lane, holder, author string }{
		{move("0", "WP01", "planned", `"finalize-tasks"`), "planned", "", ""},
		{move("1", "WP01", "claimed", `"claude:opus"`), "claimed", "claude:opus", ""},
		{move("2", "WP01", "in_progress", `"user"`), "in_progress", "claude:opus", ""},
		{move("3", "WP01", "for_review", `"migration:backfill"`), "for_review", "", "claude:opus"},
		{note("3", "WP01", `{"agent": "nobody", "role": "reviewer"}`), "for_review", "", "claude:opus"},
		{move("4", "WP01", "in_review", `{"tool": "user", "role": "reviewer"}`), "in_review", "", "claude:opus"},
		{note("4", "WP01", `{"agent": "rita", "role": "reviewer"}`), "in_review", "rita", "claude:opus"},
		{note("5", "WP01", `{"agent": "claude:opus", "role": "implementer"}`), "in_review", "rita", "claude:opus"},
		{move("6", "WP01", "planned", `"rita"`), "planned", "", "claude:opus"},
		{move("7", "WP01", "in_progress", `{"tool": "codex", "model": "m"}`), "in_progress", "codex", "claude:opus"},
		{note("7", "WP01", `{"agent": "rita", "role": "reviewer"}`), "in_progress", "codex", "claude:opus"},
		{move("8", "WP01", "blocked", `"user"`), "blocked", "codex", "claude:opus"},
		{move("9", "WP01", "in_progress", `"user"`), "in_progress", "codex", "claude:opus"},
	}
	var text string
	for _, l := range lines {
		text += l.line
		got := parse(t, text).At("WP01")
		if string(got.Lane) != l.lane || got.Holder != l.holder || got.Author != l.author {
			t.Errorf("after %s: lane %s, holder %q, author %q; want %s, %q, %q", l.line, got.Lane, got.Holder, got.Author, l.lane, l.holder, l.author)
		}
	}
}

func TestWhoMadeAMove(t *testing.T) {
	line := `{"at": "2026-08-19T20:00:00Z", "event_id": "a", "wp_id": "WP01", "to_lane": "claimed", %s}`
	for parts, want := range map[string]string{
		`"actor": "a"`: "a",
		`"actor": "a", "policy_metadata": {"agent": "b", "shell_pid": 1}`:            "b",
		`"actor": "a", "policy_metadata": {"agent": "b"}, "delta": {"agent": "c"}`:   "c",
		`"actor": "a", "policy_metadata": {"agent": "user"}, "delta": {"agent": ""}`: "a",
		`"actor": "a", "policy_metadata": [1], "delta": "x"`:                         "a",
		`"actor": {"id": "a", "kind": "runtime"}`:                                    "a",
		`"actor": {"tool": "a", "profile": null}`:                                    "a",
		`"actor": {"tool": "user"}`:                                                  "",
		`"actor": null`:                                                              "",
		`"actor": 7`:                                                                 "",
		`"actor": "migration"`:                                                       "",
		`"actor": "migration:x"`:                                                     "",
		`"actor": "merge"`:                                                           "",
		`"actor": "spec-kitty-generator"`:                                            "",
		`"actor": "implement-command"`:                                               "",
		`"actor": "unknown"`:                                                         "",
		`"actor": "migrations-are-us"`:                                               "migrations-are-us",
		`"actor": "ä\u0020b"`:                                                        "ä b",
	} {
		if got := parse(t, fmt.Sprintf(line, parts)).At("WP01").Holder; got != want {
			t.Errorf("%s: %q, want %q", parts, got, want)
		}
	}
}

func TestAClaimGivenUpIsNobodys(t *testing.T) {
	log := parse(t, move("1", "WP01", "claimed", `"a"`)+note("2", "WP01", `{"release_runtime_claim": true}`))
	if got := log.At("WP01"); got.Holder != "" || got.Lane != mission.Claimed {
		t.Errorf("%+v, want nobody", got)
	}
}

func TestPositionSaysSinceWhen(t *testing.T) {
	log := parse(t, move("1", "WP02", "claimed", `"a"`)+move("3", "WP01", "planned", `"a"`)+note("9", "WP02", `{"agent": "b"}`))
	at := func(second int) time.Time { return time.Date(2026, 8, 19, 20, 0, second, 5e8, time.UTC) }
	want := []lanes.Position{
		{Package: "WP01", Lane: mission.Planned, From: mission.Genesis, Since: at(3), EventID: "01KN3", Latest: "01KN3"},
		{Package: "WP02", Lane: mission.Claimed, From: mission.Genesis, Holder: "b", Since: at(1), EventID: "01KN1", Latest: "01KQ9"},
	}
	if diff := cmp.Diff(want, log.Positions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := at(9).Add(2e8); !log.Last.Equal(want) {
		t.Errorf("the last line is of %s, want %s", log.Last, want)
	}
}

func TestTornLastLineIsAWarning(t *testing.T) {
	whole := move("1", "WP01", "planned", `"a"`)
	next := move("2", "WP01", "done", `"a"`)
	for n := 1; n < len(next)-1; n++ {
		log := parse(t, whole+next[:n])
		if log.At("WP01").Lane != mission.Planned || len(log.Warnings) != 1 || log.Warnings[0].Code != lanes.WarnTornLine {
			t.Fatalf("torn after %d bytes: %+v", n, log)
		}
	}
}

func TestDamagedLinesAreNamed(t *testing.T) {
	good := move("1", "WP01", "planned", `"a"`)
	for name, c := range map[string]struct{ line, why string }{
		"not JSON":      {`{"wp_id": `, "not a JSON object"},
		"a list":        {`[1]`, "not a JSON object"},
		"two objects":   {`{} {}`, "not a JSON object"},
		"zero bytes":    {"\x00\x00\x00", "not a JSON object"},
		"a merge":       {"<<<<<<< HEAD", "merge"},
		"no lane":       {strings.TrimSpace(move("2", "WP01", "plannd", `"a"`)), "plannd"},
		"lane a number": {`{"wp_id": "WP01", "to_lane": 3, "at": "2026-08-19T20:00:00Z", "event_id": "a"}`, "to_lane 3"},
		"no time":       {`{"wp_id": "WP01", "to_lane": "done", "at": "yesterday", "event_id": "a"}`, "yesterday"},
		"no event id":   {`{"wp_id": "WP01", "to_lane": "done", "at": "2026-08-19T20:00:00Z"}`, "event_id"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := lanes.ParseLog("status.events.jsonl", []byte(good+"\n"+c.line+"\n"+good))
			wantFault(t, err, 3, "status.events.jsonl", c.why)
		})
	}
}

func TestOneIDOfTwoEventsIsAWarning(t *testing.T) {
	at := "2026-08-19T20:00:00Z"
	log := parse(t, moveAt("a", at, "WP01", "planned", `"x"`)+moveAt("a", at, "WP01", "done", `"x"`))
	if log.At("WP01").Lane != mission.Planned || len(log.Warnings) != 1 || log.Warnings[0].Code != lanes.WarnSameEventID {
		t.Errorf("%+v, want the first event and a warning", log)
	}
}

func TestLogReader(t *testing.T) {
	dir := t.TempDir()
	r := lanes.NewLogReader(dir)
	if _, err := r.Read(); !errors.Is(err, fs.ErrNotExist) || len(faults(err)) != 1 {
		t.Errorf("no log: %v", err)
	}
	path := filepath.Join(dir, lanes.LogFile)
	var last string
	for _, text := range []string{"", move("1", "WP01", "planned", `"a"`), move("1", "WP01", "claimed", `"a"`)} {
		write(t, path, text)
		log, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		if log.Digest == last {
			t.Errorf("digest %s, as before a change", last)
		}
		again, err := r.Read()
		if diff := cmp.Diff(log, again); diff != "" || err != nil {
			t.Errorf("read again: %v\n%s", err, diff)
		}
		last = log.Digest
	}
	write(t, path, "{bad}\n")
	_, err := r.Read()
	wantFault(t, err, 1, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a log that is gone: %v", err)
	}
}

func TestChoose(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "with", lanes.LogFile), "")
	for _, c := range []struct {
		folder        string
		setting, want lanes.Source
	}{
		{"with", lanes.Auto, lanes.KittySpecs},
		{"with", "", lanes.KittySpecs},
		{"with", lanes.Journal, lanes.Journal},
		{"without", lanes.Auto, lanes.Journal},
		{"without", lanes.KittySpecs, lanes.KittySpecs},
	} {
		got, err := lanes.Choose(c.setting, filepath.Join(dir, c.folder))
		if err != nil || got != c.want {
			t.Errorf("%s a log, set to %q: %s, %v; want %s", c.folder, c.setting, got, err, c.want)
		}
	}
	if _, err := lanes.Choose("jornal", dir); err == nil {
		t.Error("an unknown setting is taken")
	}
}

// FuzzParseLog: no bytes make it panic; what it accepts, it accepts again with
// the same result, and a torn copy of the last line changes nothing.
func FuzzParseLog(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "{}", "{}\n{", "null\n", `{"a":{"b":"}"},"wp_id":"WP01"}`,
		move("1", "WP01", "planned", `{"tool": "a", "x": [1, {"y": "]"}]}`),
		move("1", "WP01", "done", `"\u00e4\\"`) + note("2", "WP01", `{"agent": "b", "role": "reviewer"}`),
		"\xef\xbb\xbf" + move("1", "WP01", "genesis", "null") + "{\"torn",
		"<<<<<<< HEAD\n", `{"to_lane":"done","wp_id":"WP01","at":"2026-08-19T20:00:00Z","event_id":"a"}`, `{ "to_lane" : 1e5 , "wp_id":"x" }`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := lanes.ParseLog("log", data)
		if err != nil {
			if len(faults(err)) == 0 {
				t.Errorf("an error without file and line: %v", err)
			}
			return
		}
		for _, p := range log.Positions {
			if _, ok := mission.ParseLane(string(p.Lane)); !ok || p.Package == "" {
				t.Errorf("position %+v", p)
			}
		}
		again, err := lanes.ParseLog("log", append(data[:len(data):len(data)], "\n{"...))
		if err == nil && cmp.Diff(log.Positions, again.Positions) != "" {
			t.Errorf("a torn line changed the lanes")
		}
	})
}
