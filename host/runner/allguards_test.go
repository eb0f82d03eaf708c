package runner

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
)

// The six kinds of guards at one step, each with its three results: all that do not
// allow are listed at once, each with what was expected, what was found and what
// clears it, and one that could not judge is never shown as a refusal (Case29).
func TestAllGuardsAreListed_Case29(t *testing.T) {
	if testing.Short() {
		t.Skip("calls plugins")
	}
	kinds := []string{"artifact", "event", "input", "work_packages", "plugin", "command"}
	for name, c := range map[string]struct {
		plugin  string
		script  string
		files   map[string]string
		code    string
		verdict map[string]string // by kind; the others refuse
	}{
		"refuse": {plugin: "refuse", script: "exit 1", code: "guard_refused"},
		"cannot judge": {plugin: "trap", script: "exit 3", code: "plugin_failed",
			files:   map[string]string{"a.md": "\xff", "mission-events.jsonl/in-the-way": ""},
			verdict: map[string]string{"artifact": "error", "event": "error", "plugin": "error", "command": "error"}},
		"no plugin among them": {plugin: "refuse", script: "exit 3", code: "guard_error", verdict: map[string]string{"command": "error"}},
		"allow":                {plugin: "allow", script: "exit 0", files: map[string]string{"a.md": "done", "mission-events.jsonl": `{"type":"met"}` + "\n", "tasks/WP01.md": packages(1)["tasks/WP01.md"]}},
	} {
		t.Run(name, func(t *testing.T) {
			guards := `{ artifact = "a.md", contains = "done" }, { event = "met" }, { input = "mission_owner_id" }, { work_packages = "WP01", lanes = ["planned"] }, { plugin = "` + c.plugin + `" }, { command = "check" }`
			root := makeProject(t, "[commands.check]\nrun = [\"sh\", \"-c\", \""+c.script+"\"]\n[missions.t]\nsteps = [{ id = \"A\", guards = ["+guards+"] }, { id = \"B\" }]\n", c.files, c.plugin)
			p := open(t, root, trustIn(filepath.Join(t.TempDir(), "trust")))
			trustAll(t, p)
			inputs := map[string]string{}
			if name == "allow" {
				inputs[cursor.OwnerInput] = "kim"
			}
			if _, err := p.Start(t.Context(), StartRequest{Slug: "m", Caller: Caller{Agent: "a"}, Inputs: inputs}); err != nil {
				t.Fatal(err)
			}
			before := journal(t, root)
			a := must(t, p, report("a", cursor.Success))
			if c.code == "" {
				wantStep(t, a, "B")
				return
			}
			wantBlocked(t, a, c.code)
			if len(a.Guards) != len(kinds) || len(a.GuardFailures) != len(kinds) || journal(t, root) != before {
				t.Fatalf("%d guards and %d failures are listed: %v", len(a.Guards), len(a.GuardFailures), a.GuardFailures)
			}
			for i, kind := range kinds {
				g, want := a.Guards[i], "refuse"
				if c.verdict[kind] != "" {
					want = c.verdict[kind]
				}
				if !strings.HasPrefix(g.Guard, kind) && !strings.HasPrefix(g.Guard, "package") || g.Verdict != want || g.Examined == "" || g.Fix == "" {
					t.Errorf("%s: %+v, want %s", kind, g, want)
				}
				if !strings.Contains(*a.Reason, a.GuardFailures[i]) {
					t.Errorf("%s is not in the reason: %s", a.GuardFailures[i], *a.Reason)
				}
			}
		})
	}
}

// A guard that looks where a package lies holds also where no step works on
// packages, in both sources; the lane is compared again under the lock, and a file
// that cannot be read is no refusal.
func TestPackageGuard(t *testing.T) {
	const guarded = "[missions.t]\nsteps = [{ id = \"A\", guards = [{ work_packages = \"WP01\", lanes = [\"approved\"] }] }, { id = \"B\" }]\n"
	for _, source := range []string{"journal", "kitty-specs"} {
		t.Run(source, func(t *testing.T) {
			files := packages(1)
			if source == "kitty-specs" {
				files[lanes.LogFile] = laneLog("planned")
			}
			root := makeProject(t, guarded, files)
			p := started(t, root)
			put := func(to string) {
				q := OperatorRequest{Mission: "m", Actor: "ops", Package: "WP01", To: to, Force: true, Reason: "by hand"}
				if a, err := p.WPMove(t.Context(), q); err != nil || !a.Recorded {
					t.Fatalf("%v %s", err, value(a.Reason))
				}
			}
			must(t, p, report("a", cursor.Success))
			a := must(t, p, report("a", cursor.Success))
			wantBlocked(t, a, "guard_refused")
			if !strings.Contains(*a.Reason, "WP01 in planned") {
				t.Errorf("%s", *a.Reason)
			}
			put("approved")
			late := open(t, root, func(o *Options) {
				o.Hook = func(point string) {
					if point == PointPlanned { // the guard has allowed
						put("planned")
					}
				}
			})
			a = must(t, late, report("a", cursor.Success))
			wantBlocked(t, a, "stale_plan")
			if !strings.Contains(*a.Reason, "the lane of package WP01") {
				t.Errorf("%s", *a.Reason)
			}
			put("approved")
			file := filepath.Join(root, "kitty-specs", "m", "tasks", "WP01.md")
			text := read(t, file)
			write(t, file, "no front matter")
			wantBlocked(t, must(t, p, report("a", cursor.Success)), "guard_error")
			write(t, file, text)
			wantStep(t, must(t, p, report("a", cursor.Success)), "B")
			wantSound(t, p)
		})
	}
}
