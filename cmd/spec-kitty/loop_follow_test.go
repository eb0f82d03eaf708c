package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/tick"
)

// loopApp is a project with a loop that is there, and the program on it.
func loopApp(t *testing.T, out *drawings) *app {
	t.Helper()
	root := t.TempDir()
	config := "schema = 1\n[loops.deps]\nwork = { run = [\"true\"], timeout = \"1m\" }\nlimits = { max_runs = 3 }\n"
	if err := os.WriteFile(filepath.Join(root, "spec-kitty.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	runGit(t, root, "init", "-q", "-b", "main")
	runGit(t, root, "add", ".")
	runGit(t, root, "commit", "-qm", "one")
	a := &app{process: process{out: out, err: out, getenv: func(string) string { return "" }}, root: root}
	a.onLoopsOrFail(t, func(l *tick.Loops) error {
		_, err := l.Create(t.Context(), "deps", "human:me")
		return err
	})
	return a
}

// runGit calls git as a person would; without it the test is skipped.
func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func (a *app) onLoopsOrFail(t *testing.T, work func(l *tick.Loops) error) {
	t.Helper()
	if err := a.onLoops(work); err != nil {
		t.Fatal(err)
	}
}

// pause is what somebody else does meanwhile.
func (a *app) pause(t *testing.T, reason string) {
	a.onLoopsOrFail(t, func(l *tick.Loops) error {
		_, err := l.Pause(t.Context(), tick.PauseRequest{Loop: "deps", Who: "human:me", Reason: reason})
		return err
	})
}

// `loop status --watch` draws how things stand anew at every tick, the definition
// too, and ends well when it is interrupted.
func TestWatchLoops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	d := &drawings{tick: make(chan time.Time, 1), stop: stop}
	a := loopApp(t, d)
	d.after = func(page int) {
		switch page {
		case 1:
			a.pause(t, "lunch")
		case 2:
			if err := os.WriteFile(filepath.Join(a.root, "spec-kitty.toml"), []byte("schema = 1\n"), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
	if err := a.redraw(ctx, d.tick, a.loopsPage("deps")); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"deps  ready", "human:me: lunch", "definition_invalid"} {
		if i >= len(d.pages) || !bytes.HasPrefix(d.pages[i], []byte("\x1b[H\x1b[2J")) || !bytes.Contains(d.pages[i], []byte(want)) {
			t.Errorf("page %d: want %s in %q", i+1, want, d.pages)
		}
	}
}

// `loop log --follow` prints each record once, goes on with those that come, and ends
// well when it is interrupted.
func TestFollowHistory(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	d := &drawings{tick: make(chan time.Time, 1), stop: stop}
	a := loopApp(t, d)
	d.after = func(page int) {
		if page == 1 {
			a.pause(t, "lunch")
		} else if page == 2 {
			a.pause(t, "dinner")
		}
	}
	a.onLoopsOrFail(t, func(l *tick.Loops) error { return a.printHistory(ctx, l, "deps", 1, d.tick) })
	all := string(bytes.Join(d.pages, nil))
	for _, want := range []string{"  create  ", "lunch", "dinner"} {
		if strings.Count(all, want) != 1 {
			t.Errorf("%s: %s", want, all)
		}
	}
}

// `loop log --run --follow` goes on with what the run's programs write, and cuts no
// character in two.
func TestFollowRun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	d := &drawings{tick: make(chan time.Time, 1), stop: stop}
	a := loopApp(t, d)
	var dir string
	a.onLoopsOrFail(t, func(l *tick.Loops) error { dir, _ = l.RunDir("deps", 1); return nil })
	log := filepath.Join(dir, "work.log")
	rest := map[int]string{1: "\xa4hlt\nzwei", 2: "\ndrei\n"}
	add := func(text string) {
		f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err == nil {
			_, err = f.WriteString(text)
			f.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	add("eins z\xc3")
	d.after = func(page int) { add(rest[page]) }
	a.onLoopsOrFail(t, func(l *tick.Loops) error { return a.printRun(ctx, l, "deps", 1, d.tick) })
	if got, want := string(bytes.Join(d.pages, []byte("|"))), "== work\neins z|ählt\nzwei|\ndrei\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
