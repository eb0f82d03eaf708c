// Package command runs host programs that a project declares: guards, what a
// plugin needs, and the parts of a loop. A program gets its arguments without a
// shell, only the environment that it was granted, and a time; it runs in a
// process group of its own, which is ended as a whole at the time's end, with
// the caller's context, and when its leader ends before the rest of it. Whatever
// a program or what it started does, Run returns: nothing it holds open is
// waited for. How a program ended is told by the kernel, never by what it wrote.
//
// The package takes no lock and knows no run. Its functions may be called by any
// number of goroutines.
package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Defaults of a Command's zero fields.
const (
	DefaultTimeout   = 10 * time.Minute
	DefaultKillGrace = 5 * time.Second
	DefaultOutput    = 1 << 20 // bytes of each stream
)

// Command is one program to be run, once.
type Command struct {
	Name string   // for messages; "": the program
	Argv []string // the program and its arguments; no shell looks at them
	Dir  string   // the working folder, absolute; a program named ./x lies in it
	Env  []string // the whole environment, NAME=VALUE; see Environ

	Stdin     []byte        // all that the program can read; without, its input is at its end
	Timeout   time.Duration // from the start to the TERM; 0: DefaultTimeout
	KillGrace time.Duration // from TERM to KILL; 0: DefaultKillGrace
	Output    int64         // bytes of each stream that are kept, the last ones; 0: DefaultOutput

	// Log, where it is set, takes both streams in place of Result's: the program
	// writes to the file itself, without bound, and goes on to do so should its
	// caller die. The caller closes it.
	Log *os.File

	// Session makes the program the leader of a session of its own, so that it
	// outlives its caller. Without, it gets a TERM when its caller dies (Linux).
	Session bool

	// Watched ends the program's whole group when its caller dies, however it dies, at
	// the cost of another process. Without, what the program started stays. It needs
	// Main in the program's own main, and does nothing where there are no groups.
	Watched bool

	// Started is called once the process is there and before the program runs in
	// it (where processes cannot be held back so, just after): what it writes
	// down is true of whatever the program does. An error keeps the program from
	// being run. It needs Main in the program's own main.
	Started func(Process) error
}

// check says why a command cannot be run at all.
func (c Command) check() error {
	switch {
	case len(c.Argv) == 0 || c.Argv[0] == "":
		return errors.New("no program is named")
	case strings.ContainsRune(strings.Join(c.Argv, "")+strings.Join(c.Env, "")+c.Dir, 0):
		return errors.New("an argument, a variable or the folder holds a zero byte")
	case !filepath.IsAbs(c.Dir):
		return fmt.Errorf("the working folder %q is not absolute", c.Dir)
	}
	info, err := os.Stat(c.Dir)
	switch {
	case err != nil:
		return fmt.Errorf("the working folder: %w", err)
	case !info.IsDir():
		return fmt.Errorf("the working folder %s is not a folder", c.Dir)
	}
	return nil
}

// filled sets the defaults.
func (c Command) filled() Command {
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.KillGrace <= 0 {
		c.KillGrace = DefaultKillGrace
	}
	if c.Output <= 0 {
		c.Output = DefaultOutput
	}
	return c
}
