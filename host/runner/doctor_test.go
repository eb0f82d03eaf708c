package runner

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/cursor"
)

func diagnose(t *testing.T, p *Project) Diagnosis {
	t.Helper()
	d, err := p.Doctor(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// codes are the findings, as level and code.
func codes(d Diagnosis) string {
	var all []string
	for _, f := range d.Findings {
		all = append(all, f.Level+" "+f.Code)
	}
	return strings.Join(all, ", ")
}

// Plugins and their pins: what a start of a run would refuse. Runs go on with
// what they froze, so it is a warning.
func TestDoctorPlugins(t *testing.T) {
	root := makeProject(t, composed, nil, "success")
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	d := diagnose(t, p)
	if got := codes(d); got != "" || len(d.Plugins) != 1 || !d.Plugins[0].Cached || d.Plugins[0].Found != d.Plugins[0].Pinned || d.Cache.Codes == 0 {
		t.Errorf("%s: %+v %+v", got, d.Plugins, d.Cache)
	}
	wasm := filepath.Join(root, "success.wasm")
	write(t, wasm, "other bytes")
	if d := diagnose(t, p); codes(d) != "warning plugin_pin" || !d.Healthy {
		t.Errorf("%s %v", codes(d), d.Healthy)
	}
	if err := os.Remove(wasm); err != nil {
		t.Fatal(err)
	}
	if d := diagnose(t, p); codes(d) != "warning plugin_unreadable" || d.Plugins[0].Found != "" {
		t.Errorf("%s %+v", codes(d), d.Plugins)
	}
}

// A cache folder that is not there yet is no fault, and looking does not make
// it; one that others may write to is one.
func TestDoctorCache(t *testing.T) {
	root := makeProject(t, composed, nil, "success")
	folder := filepath.Join(t.TempDir(), "cache")
	at := func(o *Options) { o.CacheDir = folder }
	if d := diagnose(t, open(t, root, at)); codes(d) != "" || d.Cache.Folder != "" {
		t.Errorf("%s %+v", codes(d), d.Cache)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("the folder was made")
	}
	inside := func(o *Options) { o.CacheDir = root }
	if d := diagnose(t, open(t, root, inside)); codes(d) != "warning no_cache" {
		t.Errorf("%s %+v", codes(d), d.Cache)
	}
}

// A clock that was set back is told, and what was recorded keeps its order.
func TestDoctorClock(t *testing.T) {
	root := makeProject(t, linear, nil)
	must(t, open(t, root), report("a", cursor.Success))
	yesterday := func(o *Options) { o.Now = func() time.Time { return time.Now().Add(-24 * time.Hour) } }
	p := open(t, root, yesterday)
	if d := diagnose(t, p); codes(d) != "warning clock_behind" || !d.Clock.Behind {
		t.Errorf("%s %+v", codes(d), d.Clock)
	}
	must(t, p, report("a", cursor.Success))
	wantSound(t, p)
}

// Field case 16: a run's lock that is held is no damage, and a repair waits for
// it like a commit, then says that it could not be had.
func TestDoctorHeldLock_Case16(t *testing.T) {
	root := makeProject(t, "[runtime]\nlock_timeout = \"100ms\"\n"+packaged, packages(2))
	p := open(t, root)
	run := *must(t, p, report("a", cursor.Success)).RunID
	if err := os.Remove(filepath.Join(p.Config.StateRoot(), "runs", run, "state.json")); err != nil {
		t.Fatal(err)
	}
	h := heldBy(t, root, "b")
	d := diagnose(t, p)
	if len(d.Locks) != 2 || d.Locks[0].Held || !d.Locks[1].Held || !d.Healthy {
		t.Errorf("%+v", d.Locks)
	}
	_, err := p.Repair(context.Background(), run)
	if known := new(Error); !errors.As(err, &known) || known.Code != CodeNotRecorded || !strings.Contains(known.Message, "never delete the file") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(p.Config.StateRoot(), "backups")); err == nil {
		t.Error("a backup was made of a run that others write")
	}
	h.release()
	h.answer()
	d, err = p.Repair(context.Background(), "m")
	if err != nil || len(d.Repair.Done) != 0 { // b's commit made the view anew
		t.Errorf("%+v %v", d.Repair, err)
	}
}

// Field case 10: what is no run, among the runs, is marked, and the others are
// looked at all the same.
func TestDoctorMarksWhatIsNoRun_Case10(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	run := *must(t, p, report("a", cursor.Success)).RunID
	write(t, filepath.Join(p.Config.StateRoot(), "runs", "notes.txt"), "not a run")
	d := diagnose(t, p)
	if len(d.RunHealth) != 2 || d.RunHealth[0].RunID != run || d.RunHealth[0].Damaged || !d.RunHealth[1].Damaged || d.Healthy {
		t.Errorf("%+v", d.RunHealth)
	}
	if _, err := p.Repair(context.Background(), "notes.txt"); err == nil {
		t.Error("it was repaired")
	}
	if d, err := p.Repair(context.Background(), run); err != nil || d.Repair == nil {
		t.Errorf("the healthy one: %v", err)
	}
}

// A part that cannot be looked at is a finding, and all else is looked at.
func TestDoctorGoesOnWithoutAPart(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	index := filepath.Join(p.Config.StateRoot(), "index")
	if err := errors.Join(os.RemoveAll(index), os.WriteFile(index, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	d := diagnose(t, open(t, root))
	if d.Healthy || len(d.RunHealth) != 1 || d.RunHealth[0].Damaged || d.Clock.Newest == "" || !strings.Contains(codes(d), string(CodeNotRecorded)) {
		t.Errorf("%+v", d)
	}
}

// A repair that could not write is no repair, and says why.
func TestRepairThatCannotWrite(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	runs, err := filepath.Glob(filepath.Join(p.Config.StateRoot(), "runs", "*"))
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	prompts := filepath.Join(runs[0], promptFolder)
	if err := errors.Join(os.RemoveAll(prompts), os.Symlink(t.TempDir(), prompts)); err != nil {
		t.Skip(err)
	}
	_, err = p.Repair(t.Context(), "m")
	if known := new(Error); !errors.As(err, &known) || known.Code != CodeNotRecorded || !strings.Contains(known.Message, "prompts is damaged") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(prompts); err != nil {
		t.Fatal(err)
	}
	if d, err := p.Repair(t.Context(), "m"); err != nil || len(d.Repair.Done) == 0 || len(d.Findings) != 0 {
		t.Errorf("%+v, %v", d.Findings, err)
	}
}

// A meta.json with merge markers is found, and keeps nobody from looking at the run.
func TestRunBehindAnUnreadableMeta(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	write(t, filepath.Join(root, "kitty-specs", "m", "meta.json"), "<<<<<<< HEAD\n")
	p = open(t, root)
	if d := diagnose(t, p); !strings.Contains(codes(d), string(CodeDefinitionInvalid)) {
		t.Errorf("%+v", d.Findings)
	}
	_, verify := p.Verify(t.Context(), "m")
	_, replay := p.Replay(t.Context(), ReplayRequest{Mission: "m"})
	_, pack := p.Pack(t.Context(), "m")
	_, repair := p.Repair(t.Context(), "m")
	if err := errors.Join(verify, replay, pack, repair); err != nil {
		t.Error(err)
	}
	if _, err := p.Next(t.Context(), report("a", cursor.Success)); err == nil {
		t.Error("work went on without it")
	}
}

// Where a report is not recorded, doctor names what keeps it from being so.
func TestDoctorNamesWhatMayNotBeTouched(t *testing.T) {
	if os.Geteuid() <= 0 {
		t.Skip("this user may touch everything, or the system has no modes")
	}
	for name, c := range map[string]struct{ file, code string }{
		"the journal":          {".kittify/step-runner/runs/*/run.events.jsonl", "not_writable"},
		"the run's folder":     {".kittify/step-runner/runs/*", "not_writable"},
		"the mission's folder": {"kitty-specs/m", "not_recorded"},
		"all missions":         {"kitty-specs", "not_recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			root := makeProject(t, linear, nil)
			must(t, open(t, root), report("a", cursor.Success))
			found, err := filepath.Glob(filepath.Join(root, c.file))
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			mode := os.FileMode(0)
			if c.code == notWritable {
				mode = 0o555
			}
			if err := os.Chmod(found[0], mode); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(found[0], 0o755) })
			p := open(t, root)
			if _, err := p.Next(t.Context(), report("a", cursor.Success)); err == nil && name != "the run's folder" {
				t.Error("it was recorded")
			}
			if d := diagnose(t, p); codes(d) != "warning "+c.code || !strings.Contains(d.Findings[0].Message, filepath.Base(c.file)) && name != "the run's folder" {
				t.Errorf("%+v", d.Findings)
			}
			d, err := p.Repair(t.Context(), "m")
			if c.code == notWritable && err == nil || c.code != notWritable && (err != nil || len(d.Findings) != 1) {
				t.Errorf("repair: %v %+v", err, d.Findings)
			}
		})
	}
}

// A state file that has a right sum and is not what the journal says is a view:
// doctor calls it repairable, and a repair makes it anew.
func TestRepairOfAWrongStateFile(t *testing.T) {
	for name, change := range map[string][2]string{
		"another state": {`"pos":1`, `"pos":99`},
		"no state":      {`"pos":1`, `"pos":"1"`},
	} {
		t.Run(name, func(t *testing.T) {
			root := makeProject(t, linear, nil)
			p := open(t, root)
			must(t, p, report("a", cursor.Success))
			must(t, p, report("a", cursor.Success))
			found, err := filepath.Glob(filepath.Join(p.Config.StateRoot(), "runs", "*", "state.json"))
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			right, err := os.ReadFile(found[0])
			if err != nil {
				t.Fatal(err)
			}
			body, _, ok := strings.Cut(strings.Replace(string(right), change[0], change[1], 1), `,"sum":"`)
			sum := sha256.Sum256([]byte(body))
			if !ok || strings.HasPrefix(string(right), body) {
				t.Fatalf("%s", right)
			}
			write(t, found[0], fmt.Sprintf("%s,\"sum\":\"%x\"}\n", body, sum[:16]))
			p = open(t, root)
			if d := diagnose(t, p); codes(d) != "repairable view_wrong" || !d.Healthy || d.RunHealth[0].Damaged {
				t.Errorf("%s %+v", codes(d), d.RunHealth)
			}
			if v, err := p.Verify(t.Context(), "m"); err != nil || v.Sound {
				t.Errorf("verify: %+v %v", v, err)
			}
			d, err := p.Repair(t.Context(), "m")
			if err != nil || codes(d) != "" || len(d.Repair.Done) != 1 || d.Repair.Done[0] != "made state.json anew from the journal" || d.Repair.Backup == nil {
				t.Errorf("%s %+v %v", codes(d), d.Repair, err)
			}
			if got, err := os.ReadFile(found[0]); err != nil || string(got) != string(right) {
				t.Errorf("after: %s %v", got, err)
			}
			wantSound(t, p)
		})
	}
}
