//go:build linux || darwin

package torture

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

const (
	stateDir     = ".state"   // below the project
	overlapsFile = "overlaps" // runs of the loop that met another one's work
)

// definition has all kinds of commits: steps, questions, files of an executor,
// packages, reviews; and a loop that lands after a person said so.
func definition(changelog []byte) string {
	sum := sha256.Sum256(changelog)
	var b strings.Builder
	fmt.Fprintf(&b, `schema = 1
[runtime]
dir = %q
[plugins.changelog]
wasm = "changelog.wasm"
sha256 = %q
read = ["{mission}"]
write = ["{mission}"]
[loops.deps]
file = "loops/deps.toml"
`, stateDir, hex.EncodeToString(sum[:]))
	for i := range 8 {
		fmt.Fprintf(&b, "[[missions.t.steps]]\nid = \"w%d\"\n", i)
		if i%2 == 1 {
			b.WriteString("executor = { plugin = \"changelog\" }\n")
		}
		fmt.Fprintf(&b, "[[missions.t.steps]]\nid = \"q%d\"\ninputs = [{ key = \"a%d\", question = \"A?\" }, { key = \"b%d\", question = \"B?\" }]\n", i, i, i)
	}
	b.WriteString(`[[missions.t.steps]]
id = "build"
work_packages = { take = ["planned"], claim = "in_progress", success = "for_review", failed = "planned", until = ["for_review"] }
[[missions.t.steps]]
id = "review"
work_packages = { take = ["for_review"], claim = "in_review", success = "approved", failed = "planned", until = ["approved"], self_review = true }
[[missions.t.steps]]
id = "end"
`)
	return b.String()
}

// loopDefinition is the loop. Two works at once would be seen: the second finds the
// first one's lock, which the kernel holds as long as any of its processes lives. A work whose
// runner died stays as long as it is let.
const loopDefinition = `schema = 1
[gate]
run = ["true"]
timeout = "20s"
[work]
run = ["sh", "-c", '''
if command -v flock >/dev/null; then
  exec 9>>"$SPEC_KITTY_ROOT/busy"
  flock -n 9 || echo "$SPEC_KITTY_LOOP_TOKEN" >> "$SPEC_KITTY_ROOT/overlaps"
fi
sleep 0.2
kill -0 "$PPID" 2>/dev/null || sleep 10
echo "$SPEC_KITTY_LOOP_TOKEN" >> done.txt && git add . && git commit -qm work
''']
timeout = "60s"
kill_grace = "1s"
pass_env = ["HOME", "PATH"]
[verify]
run = ["sh", "-c", "test -s done.txt"]
timeout = "20s"
[approval]
before = ["land"]
[limits]
max_runs = 1000000
max_failures = 3
[worktree]
base = "main"
branch = "loop/deps"
[lease]
ttl = "10s"
`

// project makes one below dir, and the home of its user beside it, who consented to all
// that it runs and writes.
func project(t *testing.T, dir string) (root, home string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	root, home = filepath.Join(dir, "project"), t.TempDir()
	changelog, err := os.ReadFile(filepath.Join("..", "examples", "plugins", "changelog", "changelog.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"spec-kitty.toml":         definition(changelog),
		"loops/deps.toml":         loopDefinition,
		"changelog.wasm":          string(changelog),
		"kitty-specs/m/meta.json": `{"mission_type": "t"}`,
		".gitignore":              ".worktrees/\n" + stateDir + "/\nbusy\noverlaps\nballast\n",
	}
	for i := range packageCount {
		files[fmt.Sprintf("kitty-specs/m/tasks/WP%02d.md", i+1)] = fmt.Sprintf("---\nwork_package_id: WP%02d\ntitle: P\ndependencies: []\n---\n", i+1)
	}
	for name, text := range files {
		write(t, filepath.Join(root, filepath.FromSlash(name)), text)
	}
	git(t, root, "init", "-q", "-b", "main")
	git(t, root, "config", "user.name", "Torture")
	git(t, root, "config", "user.email", "torture@example.org")
	git(t, root, "add", ".")
	git(t, root, "commit", "-qm", "one")
	consent(t, root, home)
	return root, home
}

// consent consents to what the project lets missions and its loop run, compiles its
// plugin by way of a first run's start, and makes the loop.
func consent(t *testing.T, root, home string) {
	t.Helper()
	p := openProject(t, root, home)
	for _, to := range []runner.ConsentTo{{}, {Loop: loopName}} {
		c, err := p.Consent(t.Context(), to)
		if err == nil {
			c, err = p.GiveConsent(t.Context(), to, c.Digest)
		}
		if err != nil || !c.Consented {
			t.Fatalf("consent to %+v: %+v %v", to, c, err)
		}
	}
	if _, err := p.Start(t.Context(), runner.StartRequest{Slug: mission, Caller: runner.Caller{Agent: "judge"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Loops(tick.Options{}).Create(t.Context(), loopName, "judge"); err != nil {
		t.Fatal(err)
	}
}

func userOptions(root, home string) runner.Options {
	return runner.Options{Root: root, CacheDir: filepath.Join(home, "cache"), TrustDir: filepath.Join(home, "trust")}
}

func openProject(t *testing.T, root, home string) *runner.Project {
	t.Helper()
	p, err := runner.Open(userOptions(root, home))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// git calls git as a person would.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}
