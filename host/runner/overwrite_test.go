package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

// writerProject is a project with a run at A whose executors never look: artifact
// writes x to docs/a.md, and says writes y to a file, both without reading; between
// them changelog reads the mission's changelog and adds to it.
func writerProject(t *testing.T, file, steps string) (root string, p *Project) {
	t.Helper()
	root = makeProject(t, "\n[missions.t]\nsteps = ["+steps+`, { id = "Z" }]`, nil, "says", "artifact", "changelog")
	withWrite(t, root, "artifact", `"docs"`)
	withWrite(t, root, "says", `"docs", "{mission}"`)
	withWrite(t, root, "changelog", `"{mission}"`)
	config := filepath.Join(root, "spec-kitty.toml")
	answer := `{"outcome":"success","artifacts":[{"path":"` + file + `","content":"y"}]}`
	table := "[plugins.says]\n"
	write(t, config, strings.Replace(read(t, config), table, table+"args = ['"+answer+"']\n", 1))
	p = open(t, root, trusting(t, root))
	must(t, p, report("a", cursor.Success))
	return root, p
}

const (
	writesX  = `{ id = "A", executor = { plugin = "artifact" } }`
	writesY  = `{ id = "B", executor = { plugin = "says" } }`
	readsToo = `{ id = "A", executor = { plugin = "changelog" } }`
)

// wantKept wants a report to be refused as it would overwrite a file: with its name
// and a way on, nothing recorded, and the content as it was.
func wantKept(t *testing.T, root string, p *Project, file, content string) {
	t.Helper()
	before := journal(t, root)
	a := must(t, p, report("a", cursor.Success))
	wantBlocked(t, a, string(cursor.ArtifactConflict))
	if !strings.Contains(*a.Reason, file) || !strings.Contains(*a.Reason, "move") || a.Token == nil || len(a.Recover) == 0 {
		t.Errorf("reason %q, token %v, recover %q", *a.Reason, a.Token, a.Recover)
	}
	if got := read(t, filepath.Join(root, file)); got != content {
		t.Errorf("%s was overwritten: %q", file, got)
	}
	if journal(t, root) != before {
		t.Error("the conflict left a trace")
	}
}

// An executor replaces nothing that neither it nor its run knows: what somebody put
// there, whenever, stays, and moving it away is the way on.
func TestNobodysFileIsOverwritten(t *testing.T) {
	root, p := writerProject(t, "docs/b.md", writesY)
	file := filepath.Join(root, "docs", "b.md")
	write(t, file, "two days of my own work")
	wantKept(t, root, p, "docs/b.md", "two days of my own work")

	q := report("a", cursor.Success)
	q.PlanOut = func([]byte) error { t.Error("a plan was made"); return nil }
	wantBlocked(t, must(t, p, q), string(cursor.ArtifactConflict))

	write(t, file, "")
	wantKept(t, root, p, "docs/b.md", "")
	if err := os.Rename(file, file+".mine"); err != nil {
		t.Fatal(err)
	}
	wantStep(t, must(t, p, report("a", cursor.Success)), "Z")
	if got := read(t, file); got != "y" {
		t.Errorf("the file: %q", got)
	}
}

// All files in the way are named at once.
func TestAllFilesInTheWayAreNamed(t *testing.T) {
	root, p := writerProject(t, `docs/b.md","content":"y"},{"path":"docs/c.md`, writesY)
	write(t, filepath.Join(root, "docs", "b.md"), "mine")
	write(t, filepath.Join(root, "docs", "c.md"), "mine too")
	a := must(t, p, report("a", cursor.Success))
	wantBlocked(t, a, string(cursor.ArtifactConflict))
	if !strings.Contains(*a.Reason, "docs/b.md, docs/c.md") {
		t.Error(*a.Reason)
	}
}

// What this run published may be replaced by it without a look, as long as nobody
// changed it.
func TestOwnArtifactIsReplaced(t *testing.T) {
	root, p := writerProject(t, "docs/a.md", writesX+","+writesY)
	wantStep(t, must(t, p, report("a", cursor.Success)), "B")
	file := filepath.Join(root, "docs", "a.md")
	write(t, file, "x, and a line of mine")
	wantKept(t, root, p, "docs/a.md", "x, and a line of mine")
	write(t, file, "x")
	wantStep(t, must(t, p, report("a", cursor.Success)), "Z")
	if got := read(t, file); got != "y" {
		t.Errorf("the file: %q", got)
	}
	wantSound(t, p)
}

// What the run published at another place, what it replaced and somebody put back,
// and what an earlier run of the mission made are not this run's.
func TestWhatIsNotTheRunsOwn(t *testing.T) {
	t.Run("at another place", func(t *testing.T) {
		root, p := writerProject(t, "docs/b.md", writesX+","+writesY)
		wantStep(t, must(t, p, report("a", cursor.Success)), "B")
		write(t, filepath.Join(root, "docs", "b.md"), "x")
		wantKept(t, root, p, "docs/b.md", "x")
	})
	t.Run("put back", func(t *testing.T) {
		const theirs = "# Changes\n\n- theirs\n"
		root, p := writerProject(t, "{mission}/CHANGELOG.md", readsToo+","+writesY)
		write(t, changelogFile(root), theirs)
		wantStep(t, must(t, p, because("Ours")), "B")
		write(t, changelogFile(root), theirs)
		wantKept(t, root, p, "kitty-specs/m/CHANGELOG.md", theirs)
	})
	t.Run("of an earlier run", func(t *testing.T) {
		root, p := writerProject(t, "docs/a.md", writesX)
		wantStep(t, must(t, p, report("a", cursor.Success)), "Z")
		must(t, p, report("a", cursor.Success))
		config := filepath.Join(root, "spec-kitty.toml")
		write(t, config, strings.Replace(read(t, config), writesX, writesY, 1))
		p = open(t, root, trusting(t, root))
		if _, err := p.Start(t.Context(), StartRequest{Slug: "m", Again: true, Caller: Caller{Agent: "a"}}); err != nil {
			t.Fatal(err)
		}
		wantBlocked(t, must(t, p, report("a", cursor.Success)), string(cursor.ArtifactConflict))
		if got := read(t, filepath.Join(root, "docs", "a.md")); got != "x" {
			t.Errorf("overwritten: %q", got)
		}
	})
}

// What an executor read in this call is what it may replace: that very content at
// that very place, by either name that the place has for it.
func TestReadBeforeReplaced(t *testing.T) {
	artifact := cursor.NewArtifact(".worktrees/m-a/docs/a.md", "new", hexSum([]byte("theirs")))
	for name, c := range map[string]struct {
		plugin, pkg, path string
		kind              sandbox.FactKind
		content           string
		want              bool
	}{
		"under the project":     {"w", "WP01", "/project/.worktrees/m-a/docs/a.md", sandbox.FactFile, "theirs", true},
		"under the workspace":   {"w", "WP01", "/workspace/docs/a.md", sandbox.FactFile, "theirs", true},
		"what stood there once": {"w", "WP01", "/workspace/docs/a.md", sandbox.FactFile, "older", false},
		"another file":          {"w", "WP01", "/workspace/docs/b.md", sandbox.FactFile, "theirs", false},
		"that it is there":      {"w", "WP01", "/workspace/docs/a.md", sandbox.FactStat, "theirs", false},
		"another plugin":        {"v", "WP01", "/workspace/docs/a.md", sandbox.FactFile, "theirs", false},
	} {
		seen := newWitness()
		seen.facts[pluginFactName(c.plugin, c.pkg, sandbox.Fact{Path: c.path, Kind: c.kind, SHA256: hexSum([]byte(c.content))})] = unchanged
		if got := seen.read("w", "WP01", artifact, ".worktrees/m-a"); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
