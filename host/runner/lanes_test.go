package runner

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// Lanes of the kitty-specs source: our own moves are appended to the log, with a
// warning that it changed; what the existing tool moves meanwhile counts. A
// success that the log denies is refused and writes nothing.
func TestLanesInTheLog(t *testing.T) {
	files := packages(2)
	files["status.events.jsonl"] = laneLog("planned", "for_review")
	root := makeProject(t, packaged, files)
	log := root + "/kitty-specs/m/status.events.jsonl"
	p := open(t, root)
	a := must(t, p, report("a", cursor.Success))
	if value(a.WPID) != "WP01" || !hasWarning(a, WarnLogChanged) || a.Progress.InProgress != 1 {
		t.Fatalf("package %s (%s), warnings %v", value(a.WPID), value(a.Reason), a.Warnings)
	}
	added, kept := strings.CutPrefix(read(t, log), files["status.events.jsonl"])
	if !kept || strings.Count(added, "\n") != 2 {
		t.Fatalf("appended was %q", added)
	}
	write(t, log, toolMoves(read(t, log), "WP01", "planned"))
	before := read(t, log) + journal(t, root)
	refused := must(t, p, report("a", cursor.Success, *a.Token))
	wantBlocked(t, refused, "guard_refused")
	if !strings.Contains(*refused.Reason, "WP01 lies in lane planned") || refused.Token == nil || hasWarning(refused, WarnLogChanged) {
		t.Errorf("%s, %v", *refused.Reason, refused.Warnings)
	}
	if read(t, log)+journal(t, root) != before {
		t.Fatal("a refused report wrote")
	}
	write(t, log, toolMoves(read(t, log), "WP01", "for_review"))
	before = read(t, log)
	a = must(t, p, report("b", cursor.Success, *a.Token))
	if a.MissionState != "review" || !a.Recorded || value(a.WPID) != "WP01" {
		t.Fatalf("state %s, %s (%s)", a.MissionState, value(a.WPID), value(a.Reason))
	}
	if got := read(t, log)[len(before):]; strings.Count(got, "\n") != 1 || !strings.Contains(got, `"to_lane": "in_review"`) {
		t.Errorf("for the end of work that lay where it belongs, and the review, appended was %q", got)
	}
}

// toolMoves is a log with one more line of the existing tool, later than all
// before it.
func toolMoves(log, id, to string) string {
	n := 100 + strings.Count(log, "\n")
	return log + fmt.Sprintf(`{"actor":"user","at":"2099-01-01T00:00:00.%06dZ","event_id":"01KMB0MJYY10DBJNG3ZD%06d","from_lane":"planned","to_lane":%q,"wp_id":%q}`+"\n", n, n, to, id)
}

// A lane without a file is shown and not counted; a torn last line of the log is
// a warning.
func TestLaneWithoutFile(t *testing.T) {
	files := packages(1)
	files["status.events.jsonl"] = laneLog("planned", "approved") + `{"event_id": "01K`
	root := makeProject(t, packaged, files)
	p := open(t, root)
	a := must(t, p, report("a", cursor.Success))
	if a.Progress.Total != 1 || len(a.Warnings) == 0 || a.Warnings[0].Code != "lane_log_torn_line" {
		t.Errorf("%d packages, warnings %v", a.Progress.Total, a.Warnings)
	}
	o, err := p.Show(context.Background(), "m")
	if err != nil || len(o.Packages) != 2 || !o.Packages[1].NoFile || o.Packages[1].Lane != "approved" {
		t.Errorf("%+v %v", o.Packages, err)
	}
}

// A package file that cannot be read keeps packages from being handed out, with
// file and line, and nothing else.
func TestUnreadablePackage(t *testing.T) {
	files := packages(1)
	files["tasks/WP02.md"] = "---\nwork_package_id: [\n---\n"
	root := makeProject(t, "[missions.t]\nsteps = [{ id = \"A\" }, { id = \"P\", depends_on = [\"A\"], work_packages = { take = [\"planned\"], claim = \"in_progress\", success = \"done\", failed = \"planned\", until = [\"done\"] } }]", files)
	p := open(t, root)
	a := must(t, p, report("a", cursor.Success))
	wantStep(t, a, "A")
	if len(a.Warnings) != 1 || a.Warnings[0].Code != "packages_unreadable" || !strings.Contains(a.Warnings[0].Message, "WP02.md") {
		t.Errorf("warnings %v", a.Warnings)
	}
	before := journal(t, root)
	_, err := p.Next(context.Background(), report("a", cursor.Success))
	e, ok := err.(*Error)
	if !ok || e.Code != CodeDefinitionInvalid || !strings.HasSuffix(e.File, "WP02.md") || e.Line == 0 {
		t.Fatalf("error %v", err)
	}
	if journal(t, root) != before {
		t.Error("a refused report wrote")
	}
	write(t, root+"/kitty-specs/m/tasks/WP02.md", packages(2)["tasks/WP02.md"])
	if a := must(t, p, report("a", cursor.Success)); value(a.WPID) != "WP01" {
		t.Errorf("package %s", value(a.WPID))
	}
}
