package tick

import (
	"context"
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/loop"
)

var torture = flag.Bool("torture", false, "run races at their full length")

func TestMain(m *testing.M) {
	command.Main()
	if os.Getenv(handVariable) != "" {
		os.Exit(beHand())
	}
	goleak.VerifyTestMain(m)
}

// git calls git as a person would.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o755)); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// yard is a project with loops, for one test.
type yard struct {
	t     testing.TB
	root  string
	defs  map[string]*loop.Definition
	trust error
}

// commits is work that leaves one more commit each time.
const commits = `echo "$SPEC_KITTY_LOOP_TOKEN" >> done.txt && git add . && git commit -qm work`

// newYard is a project with one loop, deps, whose work is a shell script.
func newYard(t testing.TB, work string, change ...func(*loop.Definition)) *yard {
	t.Helper()
	for _, program := range []string{"git", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not there")
		}
	}
	y := &yard{t: t, root: filepath.Join(t.TempDir(), "project"), defs: map[string]*loop.Definition{}}
	write(t, filepath.Join(y.root, "file"), "one\n")
	write(t, filepath.Join(y.root, ".gitignore"), ".worktrees/\n.state/\n")
	git(t, y.root, "init", "-q", "-b", "main")
	git(t, y.root, "add", ".")
	git(t, y.root, "commit", "-qm", "one")
	y.define("deps", work, change...)
	return y
}

func (y *yard) define(name, work string, change ...func(*loop.Definition)) {
	d := &loop.Definition{
		Name:     name,
		Work:     loop.Work{Run: []string{"sh", "-c", work}, Timeout: 30 * time.Second, KillGrace: 300 * time.Millisecond, PassEnv: []string{"HOME", "PATH", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"}},
		Approval: loop.ApprovalRule{Expires: time.Hour},
		Limits:   loop.Limits{MaxRuns: 1000, MaxFailures: 3, MaxNoProgress: 3},
		Worktree: loop.Worktree{Base: "main", Branch: "loop/" + name, KeepRuns: 20},
		Lease:    90 * time.Second,
	}
	for _, c := range change {
		c(d)
	}
	y.defs[name] = d
}

func sh(script string) *loop.Check {
	return &loop.Check{Run: []string{"sh", "-c", script}, Timeout: 20 * time.Second}
}

func (y *yard) source(name string) (Source, error) {
	d, ok := y.defs[name]
	if !ok {
		return Source{}, errors.New("no loop " + name + " is defined")
	}
	file := filepath.Join(y.root, "spec-kitty.toml")
	scripts, err := ScriptDigests(d, file)
	if err != nil {
		return Source{}, err
	}
	text := string(d.Canonical())
	for _, path := range slices.Sorted(maps.Keys(scripts)) {
		text += "\n" + scripts[path]
	}
	return Source{Definition: d, Digest: sum(text), File: file, Scripts: scripts}, nil
}

func (y *yard) names() []string {
	var names []string
	for name := range y.defs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// loops opens the project as another process would.
func (y *yard) loops(change ...func(*Options)) *Loops {
	o := Options{Getenv: func(name string) string {
		switch name {
		case "GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME":
			return "Loop"
		case "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL":
			return "loop@example.org"
		case "PATH", "HOME", "TMPDIR":
			return os.Getenv(name)
		}
		return ""
	}}
	for _, c := range change {
		c(&o)
	}
	return New(Ground{
		Root: y.root, State: filepath.Join(y.root, ".state"), Source: y.source, Names: y.names,
		Command: func(name string) (Declared, error) {
			return Declared{Argv: []string{"sh", "-c", "exit 0"}, Timeout: time.Minute, PassEnv: []string{"PATH"}}, nil
		},
		Guard: func(context.Context, string, Question) (Judgement, error) {
			return Judgement{Verdict: command.Allow, Detail: "allowed"}, nil
		},
		Trusted: func(Source) error { return y.trust },
	}, o)
}

func hooked(f func(point string)) func(*Options) { return func(o *Options) { o.Hook = f } }

func (y *yard) create(name string) {
	y.t.Helper()
	if _, err := y.loops().Create(y.t.Context(), name, "human:me"); err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) tick(l *Loops) Report {
	y.t.Helper()
	r, err := l.Tick(y.t.Context(), Request{Loop: "deps", Who: "tick", ByHand: true})
	if err != nil {
		y.t.Fatal(err)
	}
	return r
}

func (y *yard) want(r Report, outcome Outcome, code string) {
	y.t.Helper()
	if r.Outcome != outcome || r.ReasonCode != code {
		y.t.Fatalf("%s, %s: %s; want %s, %s", r.Outcome, r.ReasonCode, r.Reason, outcome, code)
	}
}

func (y *yard) status() Status {
	y.t.Helper()
	s, err := y.loops().Status(y.t.Context(), "deps")
	if err != nil {
		y.t.Fatal(err)
	}
	return s
}

func (y *yard) head() string { return git(y.t, y.root, "rev-parse", "loop/deps") }

func wantRefusal(t testing.TB, err error, codes ...loop.Code) {
	t.Helper()
	if !refusedAs(err, codes...) {
		t.Fatalf("%v; want a refusal as one of %v", err, codes)
	}
}

// waitFor polls for what another process or goroutine does.
func waitFor(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// approve grants what is asked, if anything is.
func (y *yard) approve() {
	y.t.Helper()
	if a := y.status().Approval; a != nil && a.State == "open" {
		_, err := y.loops().Approve(y.t.Context(), "deps", "human:me", a.ID, "")
		must(y.t, err)
	}
}

// landed is how many commits of the loop lie on its branch.
func (y *yard) landed() int {
	y.t.Helper()
	if git(y.t, y.root, "for-each-ref", "refs/heads/loop/deps") == "" {
		return 0
	}
	n, err := strconv.Atoi(git(y.t, y.root, "rev-list", "--count", "main..loop/deps"))
	must(y.t, err)
	return n
}
