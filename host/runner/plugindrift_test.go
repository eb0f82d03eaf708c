package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/bundle"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// drifts are the warnings about plugins.
func drifts(all []Warning) string {
	var found []string
	for _, w := range all {
		if w.Code == pluginDriftCode {
			found = append(found, w.Message)
		}
	}
	return strings.Join(found, "\n")
}

// Issue 3 item 4: a pin, a grant or a limit that the configuration has otherwise
// than the run is shown in every answer and by run show, and not one that is the
// same in other words; the run goes on with what it froze.
func TestPluginDrift(t *testing.T) {
	root := makeProject(t, composed, nil, "success")
	must(t, open(t, root), report("a", cursor.Success))
	file := filepath.Join(root, "spec-kitty.toml")
	text := read(t, file)
	sum := hexSum([]byte(read(t, filepath.Join(root, "success.wasm"))))
	for name, c := range map[string]struct{ old, new, says string }{
		"nothing":          {"", "", ""},
		"a comment":        {"[plugins.success]", "# mine\n[plugins.success] # too", ""},
		"a limit's unit":   {`timeout = "5s"`, `timeout = "5000ms"`, ""},
		"an empty list":    {`timeout = "5s"`, "timeout = \"5s\"\nargs = []", ""},
		"another pin":      {sum, strings.Repeat("0", 64), "sha256 in spec-kitty.toml was changed"},
		"a grant more":     {`read = ["{mission}"]`, `read = ["{mission}", "docs"]`, "grants or limits"},
		"another limit":    {`timeout = "5s"`, `timeout = "6s"`, "grants or limits"},
		"a folder":         {`timeout = "5s"`, "timeout = \"5s\"\ndir = \"docs\"\ndir_sha256 = \"" + strings.Repeat("0", 64) + `"`, "dir_sha256 in spec-kitty.toml was changed"},
		"the module's own": {`wasm = "success.wasm"`, `wasm = "elsewhere.wasm"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, file, strings.Replace(text, c.old, c.new, 1))
			p := open(t, root)
			a, err := p.Query(t.Context(), "m", Caller{})
			if err != nil {
				t.Fatal(err)
			}
			shown, err := p.Show(t.Context(), "m")
			if err != nil {
				t.Fatal(err)
			}
			for of, got := range map[string]string{"answer": drifts(a.Warnings), "run show": drifts(shown.Warnings)} {
				if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
					t.Errorf("%s: %q, want %q", of, got, c.says)
				}
			}
		})
	}
	write(t, file, strings.Replace(text, sum, strings.Repeat("0", 64), 1))
	if a := must(t, open(t, root), report("a", cursor.Success)); a.Kind == KindBlocked || drifts(a.Warnings) == "" {
		t.Errorf("the report: %s, %+v", a.Kind, a.Warnings)
	}
}

// What lies in a run's folder is called only as what the run froze: other bytes of
// the module or of the plugin's own folder are damage, by the file's name.
func TestFrozenPluginIsWhatWasPinned(t *testing.T) {
	for file, spoil := range map[string]func(t *testing.T, path string){
		blobWasm + "*.wasm": func(t *testing.T, path string) { write(t, path, "other bytes") },
		blobBundle + "*.bundle": func(t *testing.T, path string) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "main.js"), "other")
			own, err := bundle.PackFolder(dir)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, string(own))
		},
	} {
		t.Run(file, func(t *testing.T) {
			root := makeProject(t, composed, nil, "success")
			own := filepath.Join(root, "own")
			write(t, filepath.Join(own, "main.js"), "mine")
			packed, err := bundle.PackFolder(own)
			if err != nil {
				t.Fatal(err)
			}
			config := filepath.Join(root, "spec-kitty.toml")
			write(t, config, strings.Replace(read(t, config), `wasm = "success.wasm"`, "wasm = \"success.wasm\"\ndir = \"own\"\ndir_sha256 = \""+bundle.Sum(packed)+`"`, 1))
			p := open(t, root)
			must(t, p, report("a", cursor.Success))
			found, err := filepath.Glob(filepath.Join(runFolder(t, root), file))
			if err != nil || len(found) != 1 {
				t.Fatalf("%v, %v", found, err)
			}
			if err := os.Chmod(found[0], 0o600); err != nil {
				t.Fatal(err)
			}
			spoil(t, found[0])
			before := journal(t, root)
			_, err = open(t, root).Next(t.Context(), report("a", cursor.Success))
			if err == nil || !strings.Contains(err.Error(), filepath.Base(found[0])) || !strings.Contains(err.Error(), "not what the run froze") {
				t.Errorf("got %v", err)
			}
			if journal(t, root) != before {
				t.Error("something was recorded")
			}
		})
	}
}

// A plugin that fails is mended and pinned, and the run still goes by the bytes that
// it froze: the answer, its warning and the page name the migration, and after it the
// report is heard. A migration that was made warns of no drift, and neither does a run
// that is over.
func TestMendedPluginIsTakenOver_P4(t *testing.T) {
	root := makeProject(t, "\n[missions.t]\nsteps = [{ id = \"A\", executor = { plugin = \"exit3\" } }]", nil, "exit3")
	must(t, open(t, root), report("a", cursor.Success))
	wasm, err := os.ReadFile(filepath.Join("..", "sandbox", "testdata", "success.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(root, "spec-kitty.toml")
	text := read(t, config)
	write(t, config, strings.Replace(text, hexSum([]byte(read(t, filepath.Join(root, "exit3.wasm")))), hexSum(wasm), 1)+"\n[commands.c]\nrun = [\"true\"]\n")
	write(t, filepath.Join(root, "exit3.wasm"), string(wasm))

	p := open(t, root)
	a := must(t, p, report("a", cursor.Success))
	wantBlocked(t, a, string(PluginFailed))
	way := "spec-kitty run migrate --root " + root + " m --dry-run"
	if !slices.Contains(a.Recover, way) || !strings.Contains(drifts(a.Warnings), way) {
		t.Errorf("recover %q, warnings %q", a.Recover, drifts(a.Warnings))
	}
	dry, _, err := p.Migrate(t.Context(), MigrateRequest{Mission: "m", Actor: "kim", DryRun: true})
	if err != nil || dry.Applied || len(dry.Plugins) != 1 {
		t.Fatalf("%+v, %v", dry, err)
	}
	done, _, err := p.Migrate(t.Context(), MigrateRequest{Mission: "m", Actor: "kim"})
	if err != nil || !done.Applied || slices.ContainsFunc(done.Warnings, isDrift) {
		t.Fatalf("%+v, %v", done, err)
	}
	if a := must(t, p, report("a", cursor.Success)); a.Kind != KindTerminal {
		t.Fatalf("%s: %s", a.Kind, value(a.Reason))
	}
	write(t, config, strings.Replace(text, `"A"`, `"Z"`, 1))
	if a, err := open(t, root).Query(t.Context(), "m", Caller{}); err != nil || slices.ContainsFunc(a.Warnings, isDrift) {
		t.Errorf("of a run that is over: %v, %v", a.Warnings, err)
	}
}

// A plugin that is not configured is told with a table that TOML takes, and a file
// with none of its name.
func TestUnconfiguredPluginIsTold(t *testing.T) {
	for name, says := range map[string]string{"lint": "[plugins.lint]", "a.b": `[plugins."a.b"]`, "./x.wasm": "[plugins.NAME]", "sp ace": "[plugins.NAME]"} {
		if err := unconfigured(name); !strings.Contains(err.NextStep, says) || !strings.Contains(err.Message, name) {
			t.Errorf("%s: %s; %s", name, err.Message, err.NextStep)
		}
	}
}
