package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

var update = flag.Bool("update", false, "write what the golden tests find")

func TestMain(m *testing.M) {
	sandbox.ChildMain()
	command.Main()
	testscript.Main(leakless{m}, map[string]func(){
		"spec-kitty": func() {
			os.Exit(run(process{args: os.Args[1:], in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, tune: tune, alert: os.Getenv(pointVariable) != ""}))
		},
		"holdlock": holdLock,
	})
}

// leakless fails tests that leave goroutines.
type leakless struct{ tests testscript.TestingM }

func (l leakless) Run() int {
	if _, err := judge(); err != nil { // from this folder and environment, which tests leave
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if signal.Ignored(syscall.SIGHUP) { // under nohup; what scripts start gets its terminal's end as ever
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	code := l.tests.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// pointVariable is what a script sets to stop a call at a named point:
// POINT=panic or POINT=touch:FILE. Such a call hears signals from the beginning, so
// that one which is sent at the point is not one that came too early.
const pointVariable = "SPEC_KITTY_TEST_AT"

// tune lets a script stop a call at a named point.
func tune(o *runner.Options) {
	point, act, ok := strings.Cut(os.Getenv(pointVariable), "=")
	if !ok {
		return
	}
	hook := func(at string) {
		file, touch := strings.CutPrefix(act, "touch:")
		switch {
		case at != point:
		case touch:
			os.WriteFile(file, nil, 0o644)
		default:
			panic("as the script wants it\x1b[2J")
		}
	}
	o.Hook, o.Commit.Hook = hook, hook
}

// holdLock is a program that holds a lock file until a file is there: holdlock
// LOCK READY STOP; it makes READY once it has the lock.
func holdLock() {
	lock, ready, stop := os.Args[1], os.Args[2], os.Args[3]
	err := locks.At(lock).Do(context.Background(), time.Minute, func(*locks.Held) error {
		if err := os.WriteFile(ready, nil, 0o644); err != nil {
			return err
		}
		for range 60_000 {
			if _, err := os.Stat(stop); err == nil {
				return nil
			}
			time.Sleep(2 * time.Millisecond)
		}
		return errors.New("nobody stopped it")
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
