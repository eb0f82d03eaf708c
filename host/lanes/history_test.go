package lanes_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

// The history of a package is its lines in the order in which they count, each
// id once, with who and why.
func TestHistory(t *testing.T) {
	forced := strings.Replace(move("2", "WP01", "planned", `{"tool": "x"}`), `"from_lane": null`, `"from_lane": "doing", "force": true, "reason": "not \u0041gain"`, 1)
	text := forced + move("1", "WP01", "doing", `"user"`) + move("1", "WP02", "done", `"x"`) + forced +
		note("3", "WP01", `{"agent": "ann"}`) + note("4", "WP01", `{"subtasks": {}}`)
	all, err := lanes.ParseHistory("status.events.jsonl", []byte(text), "WP01")
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v %v", all, err)
	}
	if c := all[0]; c.To != mission.InProgress || c.From != "" || c.Actor != "user" || c.Agent != "" || c.Force {
		t.Errorf("%+v", c)
	}
	if c := all[1]; c.To != mission.Planned || c.From != mission.InProgress || c.Actor != "x" || c.Reason != "not Again" || !c.Force {
		t.Errorf("%+v", c)
	}
	if c := all[2]; c.To != "" || c.Agent != "ann" {
		t.Errorf("%+v", c)
	}
}

// A damaged log has no history, only its fault.
func TestHistoryOfADamagedLog(t *testing.T) {
	if all, err := lanes.ParseHistory("status.events.jsonl", []byte("{]\n"), "WP01"); err == nil || all != nil {
		t.Errorf("%v %v", all, err)
	}
	if _, err := lanes.NewLogReader(t.TempDir()).History("WP01"); err == nil || !strings.Contains(err.Error(), lanes.LogFile) {
		t.Errorf("%v", err)
	}
}

// In every mission of the real projects a package lies where the last move of its
// history leads.
func TestHistoriesOfRealMissions(t *testing.T) {
	logs, err := filepath.Glob(filepath.Join(realMissions(t), "*", lanes.LogFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range logs {
		r := lanes.NewLogReader(filepath.Dir(name))
		log, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range log.Positions {
			changes, err := r.History(at.Package)
			if err != nil {
				t.Fatal(err)
			}
			var last lanes.Change
			for _, c := range changes {
				if c.To != "" {
					last = c
				}
			}
			if last.To != at.Lane || !last.At.Equal(at.Since) || last.EventID != at.EventID {
				t.Errorf("%s %s lies in %s since %s, its history ends with %+v", name, at.Package, at.Lane, at.Since, last)
			}
		}
	}
}
