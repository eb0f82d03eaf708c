package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// project writes files below a new folder and returns its path.
func project(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const everyKey = `schema = 1

[project]
name = "shop"

[runtime]
dir = ".state/runner"
specs_dir = "docs/missions"
lock_timeout = "2s"
require_token = true
holder = "any"

[work_packages]
source = "journal"

[plugins.spec-lint]
wasm = "./plugins/spec-lint.wasm"
sha256 = "ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef0123456789"
args = ["--strict"]
read = ["{mission}", "docs/", "{workspace}"]
write = ["{mission}", "docs/", "{workspace}"]
max_rounds = 7
memory = "128MiB"
timeout = "1m30s"
output = "2MiB"
log = "1KiB"
env = { LANG = "C" }

[plugins.bare]
wasm = "bare.wasm"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"

[commands.unit-tests]
run = ["go", "test", "./..."]
timeout = "20m"
cwd = "workspace"
pass_env = ["GOCACHE"]
output = "64KiB"

[commands.lint]
run = ["./lint.sh"]

[commands.bare]
run = ["true"]
pass_env = []

[missions.inline]
name = "Inline"
steps = [{ id = "a" }]

[missions.software-dev]
file = "missions/dev.toml"
`

func TestLoad(t *testing.T) {
	root := project(t, map[string]string{FileName: everyKey})
	got, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Root: root, File: filepath.Join(root, FileName), Name: "shop",
		Runtime: Runtime{Dir: ".state/runner", SpecsDir: "docs/missions", LockTimeout: 2 * time.Second, RequireToken: true, Holder: HolderAny},
		Source:  SourceJournal,
		Plugins: map[string]Plugin{
			"spec-lint": {Name: "spec-lint", Wasm: "plugins/spec-lint.wasm", SHA256: "abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789",
				Args: []string{"--strict"}, Read: []string{"{mission}", "docs", "{workspace}"}, Env: map[string]string{"LANG": "C"},
				Write:  []string{"{mission}", "docs", "{workspace}"},
				Memory: 128 << 20, Timeout: 90 * time.Second, Output: 2 << 20, Log: 1 << 10, MaxRounds: 7},
			"bare": {Name: "bare", Wasm: "bare.wasm", SHA256: strings.Repeat("0", 64), Memory: 64 << 20, Timeout: 10 * time.Second, Output: 1 << 20, Log: 256 << 10, MaxRounds: 4},
		},
		Commands: map[string]Command{
			"unit-tests": {Name: "unit-tests", Run: []string{"go", "test", "./..."}, Timeout: 20 * time.Minute, Cwd: CwdWorkspace, PassEnv: []string{"GOCACHE"}, Output: 64 << 10},
			"lint":       {Name: "lint", Run: []string{"./lint.sh"}, Timeout: 10 * time.Minute, Cwd: CwdProject, PassEnv: []string{"HOME", "PATH"}, Output: 1 << 20},
			"bare":       {Name: "bare", Run: []string{"true"}, Timeout: 10 * time.Minute, Cwd: CwdProject, Output: 1 << 20},
		},
		Missions: map[string]Mission{"inline": {Type: "inline"}, "software-dev": {Type: "software-dev", File: "missions/dev.toml"}},
		Loops:    map[string]Loop{},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Mission{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, paths := range map[string][2]string{
		"state root": {got.StateRoot(), ".state/runner"},
		"specs":      {got.SpecsDir(), "docs/missions"},
		"wasm":       {got.WasmPath(got.Plugins["spec-lint"]), "plugins/spec-lint.wasm"},
	} {
		if want := filepath.Join(root, filepath.FromSlash(paths[1])); paths[0] != want {
			t.Errorf("%s is %s, want %s", name, paths[0], want)
		}
	}
	file, err := got.DefinitionFile("software-dev")
	if want := filepath.Join(root, "missions", "dev.toml"); err != nil || file != want {
		t.Errorf("the definition is in %s, %v", file, err)
	}
	if file, err := got.DefinitionFile("inline"); err != nil || file != got.File {
		t.Errorf("the inline definition is in %s, %v", file, err)
	}
}

// TestLoadDefaults: the smallest configuration, and a mark and CRLF in it.
func TestLoadDefaults(t *testing.T) {
	for _, text := range []string{"schema = 1\n", "\xef\xbb\xbfschema = 1\r\n[runtime]\r\n# nothing\r\n"} {
		root := project(t, map[string]string{FileName: text})
		got, err := Load(root)
		if err != nil {
			t.Fatal(err)
		}
		want := Runtime{Dir: ".kittify/step-runner", SpecsDir: "kitty-specs", LockTimeout: 10 * time.Second, Holder: HolderOnly}
		if got.Runtime != want || got.Source != SourceAuto || got.Name != filepath.Base(root) {
			t.Errorf("%+v", got)
		}
	}
}

func TestLoadOneMissionTypeOrSeveral(t *testing.T) {
	none := &Config{Missions: map[string]Mission{}}
	var missing *NotFoundError
	if _, err := none.OnlyType(); !errors.As(err, &missing) {
		t.Errorf("none: %v", err)
	}
	one := &Config{Missions: map[string]Mission{"a": {}}}
	if got, err := one.OnlyType(); got != "a" || err != nil {
		t.Errorf("one: %s, %v", got, err)
	}
	two := &Config{Missions: map[string]Mission{"b": {}, "a": {}}}
	var several *AmbiguousError
	if _, err := two.OnlyType(); !errors.As(err, &several) || cmp.Diff([]string{"a", "b"}, several.Candidates) != "" {
		t.Errorf("two: %v", err)
	}
	if _, _, err := LoadMission(two, "aa"); !errors.As(err, &missing) || missing.Near != "a" {
		t.Errorf("unknown: %v", err)
	}
	if _, err := two.DefinitionFile("c"); !errors.As(err, &missing) {
		t.Errorf("unknown: %v", err)
	}
}

func TestLoadNotFound(t *testing.T) {
	var missing *NotFoundError
	if _, err := Load(t.TempDir()); !errors.As(err, &missing) || missing.What != "project" {
		t.Errorf("%v", err)
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, FileName), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(root); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"64MiB": 64 << 20, "1 KiB": 1024, "7B": 7, "4GiB": 4 << 30} {
		if got, ok := ParseSize(text); !ok || got != want {
			t.Errorf("%s is %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "64", "64MB", "MiB", "-1MiB", "1.5MiB", "0x1B", "1e3B", "99999999999GiB", "1KiBB"} {
		if got, ok := ParseSize(text); ok {
			t.Errorf("%s was read as %d", text, got)
		}
	}
}
