package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spec-kitty/step-runner/host/config"
)

// yardConfig has a loop for each reason to skip. The work of busy and beside goes on
// until the file go is there.
const yardConfig = `schema = 1
[loops.paused]
work = { run = ["true"], timeout = "1m" }
limits = { max_runs = 10 }
[loops.halted]
work = { run = ["false"], timeout = "1m" }
limits = { max_runs = 10, max_failures = 1 }
[loops.waiting]
work = { run = ["true"], timeout = "1m" }
approval = { before = ["start"] }
limits = { max_runs = 10 }
[loops.long]
work = { run = ["true"], timeout = "1m" }
limits = { max_runs = 10 }
[loops.steered]
work = { run = ["true"], timeout = "1m" }
limits = { max_runs = 10 }
[loops.busy]
work = { run = ["./work.sh"], timeout = "1h" }
limits = { max_runs = 10 }
[loops.beside]
work = { run = ["./work.sh"], timeout = "1h" }
limits = { max_runs = 10 }
`

const yardWork = `#!/bin/sh
touch "$SPEC_KITTY_ROOT/begun-$SPEC_KITTY_LOOP"
while ! test -e "$SPEC_KITTY_ROOT/go"; do sleep 0.2; done
`

// yard is a repository with those loops, each in its state.
type yard struct {
	b    *bed
	root string
	path string // of the program
	env  []string
	busy []*exec.Cmd
}

func (b *bed) makeYard() (*yard, error) {
	path, err := b.build(productProgram)
	if err != nil {
		return nil, err
	}
	y := &yard{b: b, root: b.path("yard"), path: path}
	y.env = []string{"HOME=" + b.path("home"), "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}
	if err := y.fill(); err != nil {
		return nil, err
	}
	if err := y.begin(); err != nil {
		return nil, y.end(err)
	}
	return y, nil
}

// fill makes the repository and its loops.
func (y *yard) fill() error {
	err := errors.Join(os.MkdirAll(y.root, 0o755), os.MkdirAll(y.b.path("home"), 0o755),
		os.WriteFile(filepath.Join(y.root, config.FileName), []byte(yardConfig), 0o644),
		os.WriteFile(filepath.Join(y.root, "work.sh"), []byte(yardWork), 0o755))
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-qm", "one"}} {
		if _, err := y.call(0, "git", args...); err != nil {
			return err
		}
	}
	for _, name := range append(longLoops(), "paused", "halted", "waiting", "busy", "beside") {
		if err := y.consent(name); err != nil {
			return err
		}
		if _, err := y.call(0, y.path, "loop", "create", name); err != nil {
			return err
		}
	}
	return nil
}

func (y *yard) consent(name string) error {
	out, err := y.call(0, y.path, "trust", "--loop", name, "--json")
	if err != nil {
		return err
	}
	var asked struct{ Digest string }
	if err := json.Unmarshal(out, &asked); err != nil {
		return err
	}
	_, err = y.call(0, y.path, "trust", "--loop", name, "--digest", asked.Digest)
	return err
}

// begin brings each loop into its state.
func (y *yard) begin() error {
	_, paused := y.call(0, y.path, "loop", "pause", "paused")
	_, halted := y.call(1, y.path, "loop", "tick", "halted")
	_, waiting := y.call(0, y.path, "loop", "tick", "waiting")
	if err := errors.Join(paused, halted, waiting, y.age()); err != nil {
		return err
	}
	for _, name := range []string{"busy", "beside"} {
		cmd := exec.CommandContext(y.b.ctx, y.path, "loop", "tick", name)
		cmd.Dir, cmd.Env = y.root, y.env
		if err := cmd.Start(); err != nil {
			return err
		}
		y.busy = append(y.busy, cmd)
		if err := y.await("begun-" + name); err != nil {
			return err
		}
	}
	return nil
}

// await waits for a file that another process makes.
func (y *yard) await(name string) error {
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(y.root, name)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s never came", name)
}

// end lets the work end.
func (y *yard) end(err error) error {
	err = errors.Join(err, os.WriteFile(filepath.Join(y.root, "go"), nil, 0o644))
	for _, cmd := range y.busy {
		err = errors.Join(err, cmd.Wait())
	}
	return err
}

// call runs a program that is not timed, and wants its exit code.
func (y *yard) call(code int, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(y.b.ctx, program, args...)
	cmd.Dir, cmd.Env = y.root, y.env
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		return nil, fmt.Errorf("%s %q: %v: %s%s", program, args, err, out, said.Bytes())
	}
	return out, nil
}

// tick is a tick of a loop that skips for the reason of its name.
func (y *yard) tick(name string) *program {
	return y.verb("a tick that skips as "+name, 0, name, "tick", name)
}

// answer is a verb on a loop that is at work.
func (y *yard) answer(verb string, code int, says string, args ...string) *program {
	return y.verb(verb+" while work goes on", code, says, append([]string{verb}, args...)...)
}

// verb is a whole process of a verb that ends with a code and says a word.
func (y *yard) verb(name string, code int, says string, args ...string) *program {
	p := &program{name: name, path: y.path, exit: code, env: func(int) []string { return y.env }}
	argv := append(append([]string{"loop"}, args...), "--root", y.root, "--json")
	p.args = func(int) []string { return argv }
	p.settle = func(int) error {
		out, err := p.printed()
		if err == nil && !bytes.Contains(out, []byte(`"`+says+`"`)) {
			err = fmt.Errorf("%s: it does not say %s: %s", name, says, out)
		}
		return err
	}
	return p
}
