//go:build unix

package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"

	"github.com/spec-kitty/step-runner/host/internal/proc"
)

// holdWord is the first argument of a process that waits to become a program.
// The program's path and its arguments follow.
const holdWord = "spec-kitty-command-held"

// The descriptors of such a process, behind the three of the program.
const (
	holdFD   = 3 // a byte comes when it may go on; at its end it may not
	statusFD = 4 // why the program could not be run; closed by running it
)

// registered tells that this program dispatches its held processes. Without it
// such a process would be the whole program again.
var registered atomic.Bool

// Main is to be called first thing in main, and in TestMain of tests whose
// commands have Started or are Watched. In an ordinary process it returns at once,
// having noted that; in one that was started to become a program, or to watch over
// one, it never returns. What a
// process that calls it got from its own parent beside its three streams is not
// passed on to programs: with `flock FILE spec-kitty` a program that stays behind
// would hold that lock for ever.
func Main() {
	switch {
	case len(os.Args) == 2 && os.Args[1] == watchWord:
		os.Exit(watched())
	case len(os.Args) >= 4 && os.Args[1] == holdWord:
		os.Exit(held(os.Args[2], os.Args[3:]))
	}
	registered.Store(true)
}

// held waits for leave and becomes the program. Its caller's death is a no.
func held(program string, argv []string) int {
	hold, status := os.NewFile(holdFD, "hold"), os.NewFile(statusFD, "status")
	syscall.CloseOnExec(holdFD)
	syscall.CloseOnExec(statusFD)
	if _, err := io.ReadFull(hold, make([]byte, 1)); err != nil {
		return 1
	}
	err := syscall.Exec(program, argv, os.Environ())
	var number syscall.Errno
	errors.As(err, &number)
	_, _ = fmt.Fprint(status, int(number))
	return 1
}

// startHeld starts the program; where somebody wants to know of the process
// before, a process that waits to become it.
func startHeld(c Command, program string, files []*os.File) (*os.Process, error) {
	attr := &os.ProcAttr{Dir: c.Dir, Env: c.Env, Files: files, Sys: attributes(c.Session)}
	if registered.Load() {
		keepInherited()
	}
	if c.Started == nil {
		return os.StartProcess(program, c.Argv, attr)
	}
	if !registered.Load() {
		return nil, errors.New("this program does not call command.Main, so it cannot hold a program back")
	}
	exe, err := self()
	if err != nil {
		return nil, err
	}
	leave, status, err := holdPipes(attr)
	if err != nil {
		return nil, err
	}
	defer leave.Close()
	defer status.Close()
	child, err := os.StartProcess(exe, append([]string{"spec-kitty", holdWord, program}, c.Argv...), attr)
	for _, f := range attr.Files[len(files):] {
		_ = f.Close()
	}
	if err != nil {
		return nil, err
	}
	if err := c.release(child, program, leave, status); err != nil {
		_ = leave.Close()
		proc.KillGroup(child)
		_, _ = child.Wait()
		return nil, err
	}
	return child, nil
}

// holdPipes adds the two further descriptors to what the process gets.
func holdPipes(attr *os.ProcAttr) (leave, status *os.File, err error) {
	hold, leave, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	status, report, err := os.Pipe()
	if err != nil {
		_, _ = hold.Close(), leave.Close()
		return nil, nil, err
	}
	attr.Files = append(attr.Files[:len(attr.Files):len(attr.Files)], hold, report)
	return leave, status, nil
}

// release tells the caller of the process and lets it become the program.
func (c Command) release(child *os.Process, program string, leave, status *os.File) error {
	who, err := Identify(child.Pid)
	if err == nil {
		err = c.Started(who)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errHeldBack, err)
	}
	if _, err := leave.Write([]byte{1}); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	why, err := io.ReadAll(status)
	if err != nil || len(why) == 0 {
		return err
	}
	number, _ := strconv.Atoi(string(why))
	return &os.PathError{Op: "exec", Path: program, Err: syscall.Errno(number)}
}
