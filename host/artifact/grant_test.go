package artifact

import (
	"strings"
	"testing"
)

// Where an executor's files may go, and where never. Case 54.
func TestResolve_Case54(t *testing.T) {
	g := Grant{Folders: []string{"docs", "{mission}", "{workspace}"}, Mission: "kitty-specs/034", Workspace: ".worktrees/034-a",
		State: "docs/state", Config: "spec-kitty.toml"}
	for asked, want := range map[string]string{
		"docs/a.md":                       "docs/a.md",
		"docs/deep/a.md":                  "docs/deep/a.md",
		"kitty-specs/034/a.md":            "kitty-specs/034/a.md",
		"{mission}/a.md":                  "kitty-specs/034/a.md",
		"{workspace}/src/a.go":            ".worktrees/034-a/src/a.go",
		"docs":                            "",
		"documents/a.md":                  "",
		"kitty-specs/035/a.md":            "",
		"src/a.go":                        "",
		"{elsewhere}/a.md":                "",
		"docs/state/state.json":           "",
		"docs/STATE/state.json":           "",
		"docs/.git/config":                "",
		"{mission}/.GIT/hooks":            "",
		"spec-kitty.toml":                 "",
		"{mission}/status.events.jsonl":   "",
		"{mission}/Status.Events.jsonl":   "",
		"{mission}/mission-events.jsonl":  "",
		"{mission}/meta.json":             "",
		"docs/nul.md":                     "",
		"docs/.a.md.tmp-0123456789abcdef": "",

		// No folder in the place of a file that is kept, and no way around it.
		"{mission}/status.events.jsonl/x":         "",
		"{mission}/LANES.json/deep/x":             "",
		"docs/meta.json/a.md":                     "",
		"docs/state":                              "",
		"spec-kitty.toml/x":                       "",
		"docs/.a.md.tmp-0123456789abcdef/x":       "",
		"docs/../spec-kitty.toml":                 "",
		"docs/./a.md":                             "",
		"docs//a.md":                              "",
		"docs/../../a.md":                         "",
		"/docs/a.md":                              "",
		"docs/a.md/":                              "",
		"docs/status.json::$DATA":                 "",
		"docs/status.json.":                       "",
		`docs\status.json`:                        "",
		"docs/" + strings.Repeat("n", 234):        "",
		"docs/" + strings.Repeat("d", 256) + "/a": "",
	} {
		name, why := g.Resolve(asked)
		if name != want || (why == "") != (want != "") {
			t.Errorf("%s: %q, %q; want %q", asked, name, why, want)
		}
	}
	if name, why := (Grant{Folders: []string{"{workspace}"}}).Resolve("{workspace}/a"); why == "" {
		t.Errorf("without a work tree: %q", name)
	}
	if name, why := (Grant{}).Resolve("docs/a.md"); why == "" {
		t.Errorf("without a grant: %q", name)
	}
}
