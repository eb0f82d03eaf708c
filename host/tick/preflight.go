package tick

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/worktree"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// Diagnosis is what doctor found about loops.
type Diagnosis struct {
	Schema    int         `json:"schema"`
	Healthy   bool        `json:"healthy"` // no check failed
	Preflight []Preflight `json:"preflight"`
}

// Preflight is whether a tick of one loop could do its work from where it was looked
// at. Nothing of the loop was run.
type Preflight struct {
	Loop   string           `json:"loop"`
	Ready  bool             `json:"ready"`
	Path   string           `json:"path"` // the PATH that programs were looked for in
	Checks []PreflightCheck `json:"checks_made"`
}

// PreflightCheck is one thing that was looked at.
type PreflightCheck struct {
	Check   string `json:"check"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
	Fix     string `json:"fix"` // "" where nothing is to be done
}

// Level is what a check found.
type Level string

// The levels. A tick fails for a fault, and goes on in spite of a warning.
const (
	LevelOK      Level = "ok"
	LevelWarning Level = "warning"
	LevelFault   Level = "fault"
)

// clockGrain is how far a recorded time may be ahead of the clock unnoticed.
const clockGrain = 2 * time.Second

func (p *Preflight) add(check string, level Level, message, fix string) {
	p.Checks = append(p.Checks, PreflightCheck{check, level, message, fix})
	p.Ready = p.Ready && level != LevelFault
}

// judge adds a fault for an error, and that all is well for none.
func (p *Preflight) judge(check string, err error, well, fix string) bool {
	if err != nil {
		p.add(check, LevelFault, err.Error(), fix)
		return false
	}
	p.add(check, LevelOK, well, "")
	return true
}

// Preflight looks at what a tick of a loop needs, in our own environment: nothing of
// the loop is run, no lock is taken, nothing is written.
func (l *Loops) Preflight(ctx context.Context, name string) Preflight {
	p := Preflight{Loop: name, Ready: true, Path: l.getenv("PATH"), Checks: []PreflightCheck{}}
	src, err := l.ground.Source(name)
	known := p.judge("definition", err, "it is valid", "`spec-kitty loop validate "+name+"` tells all that is wrong")
	o, err := l.open(ctx, name)
	if gone(err) {
		p.add("state", LevelFault, err.Error(), "spec-kitty loop create "+name)
	} else if p.judge("state", err, "it can be read", "spec-kitty help loops-recover") {
		defer o.close()
		p.judge("journal", o.sound(ctx), "every record of it is whole", "spec-kitty help loops-recover")
	}
	if known {
		p.git(ctx, l, src)
		p.programs(l, src)
		p.judge("consent", l.ground.Trusted(src), "you consented to what it runs", "spec-kitty help trust")
		p.worktrees(l, name)
	}
	p.place(l, name)
	if err == nil {
		if older := o.state.Older(l.facts(name, o.state)); older != "" {
			p.add("copy", LevelWarning, older, "look at what lies on the branch, then clear the halt that the next tick sets")
		}
		p.clock(l, o)
		if known {
			p.schedule(l, o, src)
		}
	}
	return p
}

func (p *Preflight) git(ctx context.Context, l *Loops, src Source) {
	if _, err := exec.LookPath("git"); err != nil {
		p.add("git", LevelFault, "git is not in PATH: "+p.Path, "have the schedule installed again from a shell that finds git")
		return
	}
	err := l.grounded(ctx, src)
	if err == nil {
		err = l.repoOf(src.Name).MayLand(ctx, src.Worktree.Branch)
	}
	if lock := l.repo.Lock(src.Worktree.Branch); err == nil && lock != "" {
		level := LevelWarning
		if !worktree.Unlocks {
			level = LevelFault
		}
		p.add("git", level, lock+" keeps branch "+src.Worktree.Branch+" from being moved: a git left it, or is at work", unlocking(src.Name, lock))
		return
	}
	p.judge("git", err, "branch "+src.Worktree.Branch+" can be moved", "mend [worktree], or free the branch: a loop's branch is checked out nowhere")
}

// programs looks for each program as the tick would.
func (p *Preflight) programs(l *Loops, src Source) {
	all := programs(src.Definition)
	for _, c := range src.Checks() {
		if c.Command == "" {
			continue
		}
		declared, err := l.ground.Command(c.Command)
		if err != nil {
			p.add("programs", LevelFault, err.Error(), "declare it under [commands."+c.Command+"]")
			continue
		}
		all = append(all, declared.Argv)
	}
	for _, run := range all {
		if len(run) == 0 {
			continue
		}
		program := src.argv(run)[0]
		p.judge("programs", runnable(program), program+" can be run", "install it, mend its path or mode, or have the schedule installed again from a shell that finds it")
	}
}

// runnable tells whether a program could be started: it is there, may be executed,
// and so may what its first line names.
func runnable(program string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return err
	}
	return interpreted(path)
}

// interpreted looks for the program that a script's first line names: with env it is
// looked up in PATH, which a scheduler's ticks have less of.
func interpreted(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // it may be executed without being read
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := f.Read(head)
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 {
		return nil
	}
	if filepath.Base(words[0]) == "env" && len(words) > 1 && !strings.HasPrefix(words[1], "-") {
		words = words[1:]
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return fmt.Errorf("%s is run by %s: %w", path, words[0], err)
	}
	return nil
}

// worktrees looks at the two folders that runs work and are verified in.
func (p *Preflight) worktrees(l *Loops, name string) {
	for _, path := range []string{l.worktreePath(name), l.verifyPath(name)} {
		_, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			p.add("worktree", LevelOK, path+" is made when it is needed", "")
			continue
		}
		if err == nil {
			var info fs.FileInfo
			if in, _ := os.Lstat(filepath.Dir(path)); in != nil && in.Mode()&fs.ModeSymlink != 0 {
				err = errors.New(filepath.Dir(path) + " is a link, which is not followed")
			} else if worktree.Begun(path) {
				p.add("worktree", LevelOK, path+" was begun: where that did not end, the next run makes it anew", "")
				continue
			} else if info, err = os.Lstat(filepath.Join(path, ".git")); err == nil && !info.Mode().IsRegular() {
				err = errors.New(path + " is no worktree of this repository")
			}
		}
		p.judge("worktree", err, path+" is a worktree", "move away what lies there: the loop needs the place")
	}
}

// place looks at where the state lies.
func (p *Preflight) place(l *Loops, name string) {
	lock := l.lockPath(name)
	if _, err := os.Lstat(lock); errors.Is(err, fs.ErrNotExist) {
		p.add("lock", LevelOK, "the first commit makes it", "")
	} else {
		p.judge("lock", errors.Join(err, l.soundLock(name)), lock+" is a file", "remove what lies there, or mend its permissions")
	}
	if kind := durable.Shared(l.ground.State); kind != "" {
		p.add("file_system", LevelWarning, l.ground.State+" lies on a "+kind+" mount, where locks may not hold, and claims of several machines are not kept apart", "keep the state on a local disk: [runtime] dir")
		return
	}
	p.add("file_system", LevelOK, cmp.Or(durable.Kind(l.ground.State), "local"), "")
}

func (p *Preflight) clock(l *Loops, o *opened) {
	shown := o.state.Shown(l.facts(o.name, o.state), l.now())
	newest := o.state.Last.Success
	if c := o.state.Claim; c != nil && c.Since.After(newest) {
		newest = c.Since
	}
	switch ahead := newest.Sub(l.now()); {
	case shown.Warning != "":
		p.add("clock", LevelWarning, shown.Warning, "set the clock")
	case ahead > clockGrain:
		p.add("clock", LevelWarning, "the newest record is "+ahead.Round(time.Second).String()+" ahead of the clock", "set the clock")
	default:
		p.add("clock", LevelOK, "no record is ahead of it", "")
	}
}

func (p *Preflight) schedule(l *Loops, o *opened, src Source) {
	flags, warning := o.scheduleFlags(src)
	fix := "spec-kitty loop schedule install " + o.name
	switch {
	case warning != "":
		p.add("schedule", LevelWarning, warning, fix)
	case o.state.Control.Desired == loop.Stopped:
		p.add("schedule", LevelWarning, "the loop is retired: its ticks skip", "")
	case len(flags) > 0 && flags[0] == "unscheduled":
		p.add("schedule", LevelWarning, "no scheduler was told of it", fix)
	case len(flags) > 0:
		p.add("schedule", LevelWarning, changedSinceInstall, fix)
	default:
		p.add("schedule", LevelOK, "what was installed is what the definition says", "")
	}
}
