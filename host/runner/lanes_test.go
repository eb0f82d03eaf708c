package runner

import (
	"context"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// Lanes of the kitty-specs source: packages are offered and guarded by what the
// log says, and handing one out writes nothing there.
func TestLanesAreOnlyRead(t *testing.T) {
	files := packages(2)
	files["status.events.jsonl"] = laneLog("planned", "for_review")
	root := makeProject(t, packaged, files)
	log := root + "/kitty-specs/m/status.events.jsonl"
	p := open(t, root)
	a := must(t, p, report("a", cursor.Success))
	if value(a.WPID) != "WP01" {
		t.Fatalf("package %s (%s)", value(a.WPID), value(a.Reason))
	}
	refused := must(t, p, report("a", cursor.Success, *a.Token))
	wantBlocked(t, refused, "guard_refused")
	if !strings.Contains(*refused.Reason, "WP01 lies in lane planned") || refused.Token == nil {
		t.Errorf("%s", *refused.Reason)
	}
	if read(t, log) != files["status.events.jsonl"] {
		t.Fatal("the lane log was written to")
	}
	write(t, log, laneLog("for_review", "for_review"))
	if a = must(t, p, report("a", cursor.Success, *a.Token)); a.MissionState != "review" || !a.Recorded {
		t.Fatalf("state %s (%s)", a.MissionState, value(a.Reason))
	}
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
