// Package scheduler tells the schedulers of this machine about a loop, and asks
// them what they have of it: the user's systemd timers, and the user's crontab.
// It promises that nothing foreign is changed: what it writes has the loop's uid
// in its name or its marks, what it removes is exactly that, and whatever cannot
// be read whole is not written. It runs programs of the system only, takes no
// lock, and knows no run.
//
// A Host may be used by any number of goroutines, but a crontab has no lock of
// its own: of two that change it in the same moment one may be lost. That is looked
// for before and after a change.
package scheduler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/schedule"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// Ran is how a program of the system ended.
type Ran struct {
	Exit   int // -1: it was not started, or had no exit code
	Stdout string
	Stderr string
	Err    error // why it was not started, did not end by itself, or wrote too much to be kept
}

// Host is this machine, as far as its schedulers go.
type Host struct {
	Run     func(ctx context.Context, stdin string, argv ...string) Ran
	GOOS    string // as runtime.GOOS
	User    string // login name
	UnitDir string // of systemd's user units, absolute

	Disk durable.Disk // what is written goes through it; nil: the operating system's
}

func (h *Host) disk() durable.Disk {
	if h.Disk == nil {
		return durable.OS()
	}
	return h.Disk
}

// limits of one call of a program of the system.
const (
	callTimeout = 20 * time.Second
	callOutput  = 16 << 20 // bytes
)

// passed are the variables that the programs of the system need. Messages are
// asked for in English, since one of them is read.
func passed() []string {
	return []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS"}
}

// ThisHost is the machine that we are on, for the user who has this environment.
// dir is any folder that is there, absolute: programs are started in it.
func ThisHost(dir string, getenv func(string) string) *Host {
	env := command.Environ(passed(), map[string]string{"LC_ALL": "C"}, func(name string) (string, bool) {
		value := getenv(name)
		return value, value != ""
	})
	base := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(getenv("HOME"), ".config")
	}
	user := getenv("USER")
	if user == "" {
		user = getenv("LOGNAME")
	}
	return &Host{GOOS: runtime.GOOS, User: user, UnitDir: filepath.Join(base, "systemd", "user"),
		Run: func(ctx context.Context, stdin string, argv ...string) Ran { return run(ctx, dir, env, stdin, argv) }}
}

func run(ctx context.Context, dir string, env []string, stdin string, argv []string) Ran {
	done := command.Run(ctx, command.Command{Argv: argv, Dir: dir, Env: env, Stdin: []byte(stdin), Timeout: callTimeout, Output: callOutput})
	r := Ran{Exit: done.Exit, Stdout: string(done.Stdout.Kept), Stderr: string(done.Stderr.Kept), Err: done.Err}
	switch {
	case r.Err != nil:
	case done.End != command.Exited:
		r.Err = errors.New(done.String())
	case done.Stdout.Truncated:
		r.Err = fmt.Errorf("it wrote %d bytes, more than %d", done.Stdout.Bytes, callOutput)
	}
	return r
}

// Entry names what a scheduler may have of one loop.
type Entry struct{ Loop, UID string }

func (e Entry) name() string { return schedule.Job{Loop: e.Loop, UID: e.UID}.Name() }

// Change is what becomes of one file, or of the crontab.
type Change struct {
	Path   string
	Before *string // nil: it is not there
	After  *string // nil: it will not be there
}

// same tells whether a change changes nothing.
func (c Change) same() bool {
	return c.Before == nil && c.After == nil || c.Before != nil && c.After != nil && *c.Before == *c.After
}

// Found is what a scheduler says that it has of a loop.
type Found struct {
	Units   []schedule.Unit // none: it has nothing of it
	Active  bool            // it fires
	State   string          // in the scheduler's own words
	Next    string          // the next firing, in the scheduler's own words; "": it does not say
	Lingers *bool           // units go on without a login; nil: that is not known, or no matter here
}

// Scheduler is one of the schedulers of a Host.
type Scheduler interface {
	// Look asks for what it has of a loop, and changes nothing.
	Look(ctx context.Context, e Entry) (Found, error)
	// Plan says what would change for it to have these units; none: to have
	// nothing of the loop. It changes nothing.
	Plan(ctx context.Context, e Entry, units []schedule.Unit) ([]Change, error)
	// Install makes changes that Plan gave for units, or none of them, and sees to
	// it that they fire. *ChangedError where somebody else changed the same
	// meanwhile.
	Install(ctx context.Context, e Entry, changes []Change) error
	// Remove makes changes that Plan gave for no units. Errors as those of Install.
	Remove(ctx context.Context, e Entry, changes []Change) error
}

// Error says that a scheduler could not be asked, or did not do it.
type Error struct {
	System schedule.System
	Doing  string
	Why    string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s: %s", e.System, e.Doing, e.Why) }

// ChangedError says that somebody changed what was to be changed, after it was
// read.
type ChangedError struct{ What string }

func (e *ChangedError) Error() string {
	return e.What + " was changed by somebody else meanwhile: nothing was written; try again"
}

// UnsupportedError says that a scheduler is not told by this program, and how a
// person tells it.
type UnsupportedError struct {
	System schedule.System
	Do     string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s is not told by this program: %s", e.System, e.Do)
}

// Of is one of the host's schedulers. *UnsupportedError for those that can only
// be printed for.
func (h *Host) Of(system schedule.System, e Entry) (Scheduler, error) {
	switch system {
	case schedule.Systemd:
		return systemd{h}, nil
	case schedule.Cron:
		return cron{h}, nil
	case schedule.Launchd:
		file := "~/Library/LaunchAgents/" + schedule.LaunchdLabel(e.Loop, e.UID) + ".plist"
		return nil, &UnsupportedError{system, fmt.Sprintf("`spec-kitty loop schedule print %s --system launchd > %s`, then `launchctl bootstrap gui/$(id -u) %s`; `launchctl bootout` with the same takes it out again", e.Loop, file, file)}
	case schedule.Schtasks:
		name := e.name()
		return nil, &UnsupportedError{system, fmt.Sprintf("`spec-kitty loop schedule print %s --system schtasks > task.xml`, then `schtasks /Create /TN %s /XML task.xml`; `schtasks /Delete /TN %s` takes it out again", e.Loop, name, name)}
	}
	return nil, fmt.Errorf("there is no scheduler %q: one of systemd, cron, launchd and schtasks was expected", system)
}

// Usual is the scheduler that is told where nobody names one: the one of the
// system, and on Linux cron where the user has no systemd.
func (h *Host) Usual(ctx context.Context) schedule.System {
	switch h.GOOS {
	case "darwin":
		return schedule.Launchd
	case "windows":
		return schedule.Schtasks
	}
	if r := h.Run(ctx, "", "systemctl", "--user", "show", "--property=Version"); r.Err == nil && r.Exit == 0 {
		return schedule.Systemd
	}
	return schedule.Cron
}

// failed makes an error of a program's end; nil where it went well.
func failed(system schedule.System, doing string, r Ran) error {
	if r.Err == nil && r.Exit == 0 {
		return nil
	}
	why := strings.TrimSpace(r.Stderr)
	switch {
	case r.Err != nil:
		why = strings.TrimSpace(r.Err.Error() + " " + why)
	case why == "":
		why = fmt.Sprintf("exit code %d", r.Exit)
	}
	return &Error{System: system, Doing: doing, Why: why}
}

// readText is a file as it is; nil where there is none.
func readText(path string) (*string, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text := string(raw)
	return &text, nil
}
