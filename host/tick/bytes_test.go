package tick

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
)

// script writes an executable script of the project and commits it.
func (y *yard) script(name, body string) {
	y.t.Helper()
	write(y.t, filepath.Join(y.root, name), "#!/bin/sh\n"+body+"\n")
	git(y.t, y.root, "add", ".")
	git(y.t, y.root, "commit", "-qm", name)
}

// A script that is changed during a run is not run: the bytes that were there at the
// claim, and were consented to, are the bytes that run.
func TestChangedScriptIsNotRun(t *testing.T) {
	own := func(name string) *loop.Check {
		return &loop.Check{Run: []string{"./" + name}, Timeout: 10 * time.Second}
	}
	replace := func(name string) string {
		return `printf '#!/bin/sh\ntouch "$SPEC_KITTY_ROOT/ran"\n' > "$SPEC_KITTY_ROOT/` + name + `"; `
	}
	for name, tt := range map[string]struct {
		changed string
		work    string
		change  func(d *loop.Definition)
	}{
		"the gate changes the work": {"work.sh", "", func(d *loop.Definition) { d.Gate, d.Work.Run = sh(replace("work.sh")), []string{"./work.sh"} }},
		"the setup changes the work": {"work.sh", "", func(d *loop.Definition) {
			d.Worktree.Setup, d.Work.Run = []string{"sh", "-c", replace("work.sh")}, []string{"./work.sh"}
		}},
		"the work changes the verifier": {"verify.sh", replace("verify.sh") + commits, func(d *loop.Definition) { d.Verify = &loop.Verifier{Check: *own("verify.sh")} }},
		"the verifier changes the goal": {"goal.sh", commits, func(d *loop.Definition) {
			d.Verify, d.Goal = &loop.Verifier{Check: *sh(replace("goal.sh"))}, own("goal.sh")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, tt.work, tt.change)
			y.script(tt.changed, "exit 1")
			y.create("deps")
			y.want(y.tick(y.loops()), Failed, "definition_changed")
			if exists(filepath.Join(y.root, "ran")) {
				t.Error("the changed script was run")
			}
		})
	}
}

func TestChangedNotifyIsNotRun(t *testing.T) {
	y := newYard(t, `printf '#!/bin/sh\ntouch "$SPEC_KITTY_ROOT/ran"\n' > "$SPEC_KITTY_ROOT/notify.sh"; exit 1`, func(d *loop.Definition) {
		d.Limits.MaxFailures = 1
		d.Notify = loop.Notify{Run: []string{"./notify.sh"}, On: []loop.Occasion{loop.OnHalted}}
	})
	y.script("notify.sh", "exit 0")
	y.create("deps")
	r := y.tick(y.loops())
	if exists(filepath.Join(y.root, "ran")) || len(r.Warnings) == 0 || r.Warnings[len(r.Warnings)-1].Code != "notice_not_sent" {
		t.Errorf("%+v", r)
	}
	if s := y.status(); s.Due != 1 {
		t.Errorf("the notice is not due any more: %+v", s)
	}
}

// What judges by the name of a file runs the work's own file: a change of it asks a
// person.
func TestNamedFileOfAJudgeIsProtected(t *testing.T) {
	y := newYard(t, `echo 'exit 0' > check.sh && git add . && git commit -qm work`, func(d *loop.Definition) {
		d.Verify = &loop.Verifier{Check: loop.Check{Run: []string{"sh", "./check.sh"}, Timeout: 10 * time.Second}}
	})
	y.script("check.sh", "exit 1")
	y.create("deps")
	y.want(y.tick(y.loops()), Waiting, "waiting")
	if a := y.status().Approval; len(a.Subject.Protected) != 1 || a.Subject.Protected[0] != "check.sh" {
		t.Errorf("%+v", a)
	}
}

// The work cannot get at variables that it was not passed, by hooks of git.
func TestHooksGetNoSecrets(t *testing.T) {
	y := newYard(t, `hooks="$(git rev-parse --git-common-dir)/hooks"; mkdir -p "$hooks"
printf '#!/bin/sh\nenv >> "%s/seen"\n' "$SPEC_KITTY_ROOT" > "$hooks/reference-transaction"; cp "$hooks/reference-transaction" "$hooks/post-checkout"; chmod +x "$hooks"/*; `+commits)
	y.create("deps")
	t.Setenv("AWS_SECRET", "topsecret")
	y.want(y.tick(y.loops()), Done, "success")
	raw, err := os.ReadFile(filepath.Join(y.root, "seen"))
	if err != nil || strings.Contains(string(raw), "topsecret") {
		t.Errorf("%v: %.200s", err, raw)
	}
}

// The folder of worktrees is no part of the project.
func TestWorktreesAreIgnored(t *testing.T) {
	y := newYard(t, commits)
	write(t, filepath.Join(y.root, ".gitignore"), ".state/\n")
	git(t, y.root, "commit", "-qam", "ignore less")
	y.create("deps")
	y.want(y.tick(y.loops()), Done, "success")
	if got := git(t, y.root, "status", "--porcelain"); got != "" {
		t.Errorf("%s", got)
	}
}
