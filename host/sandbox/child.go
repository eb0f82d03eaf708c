package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spec-kitty/step-runner/host/bundle"
	"github.com/spec-kitty/step-runner/host/internal/readonly"
)

// childWord is the child's first argument. Its second is the guest's memory
// limit and its third the mode, since limits are set before anything is read.
const childWord = "spec-kitty-plugin-child"

// registered tells that this program dispatches its children. Without it a
// child would be the whole program again: a test binary would run all its
// tests, and start children, for ever.
var registered atomic.Bool

// ChildMain is to be called first thing in main, and in TestMain of tests that
// call plugins. In an ordinary process it returns at once, having noted that
// this program can be started as its own child; in such a child it runs the
// guest and ends the process.
func ChildMain() {
	if !IsChild(os.Args) {
		registered.Store(true)
		return
	}
	os.Exit(childMain(time.Now(), os.Args))
}

// IsChild tells whether the arguments (with the program's name first) are those
// of a child process that Call or Prepare started.
func IsChild(args []string) bool { return len(args) == 4 && args[1] == childWord }

// exitBroken is the child's exit code where it could not even report.
const exitBroken = 3

func childMain(start time.Time, args []string) int {
	memory, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil || memory < 0 || memory > maxMemory {
		return exitBroken
	}
	m := mode(strings.TrimSuffix(args[3], backgroundMark))
	background := string(m) != args[3]
	quiet(m, memory)
	if err := confine(m, memory); err != nil {
		fmt.Fprintln(os.Stderr, "the child's limits cannot be set:", err)
		return exitBroken
	}
	if background {
		time.AfterFunc(fillTime, func() { os.Exit(exitBroken) })
		if err := stepBack(); err != nil {
			return exitBroken
		}
	}
	c := child{start: start, in: os.Stdin, out: os.Stdout}
	if err := c.serve(m); err != nil {
		fmt.Fprintln(os.Stderr, "the child cannot speak to its parent:", err)
		return exitBroken
	}
	return 0
}

// quiet sets up Go's runtime: a process that lives for milliseconds collects
// nothing, and a crash prints no stacks, which would show paths.
func quiet(m mode, memory int64) {
	debug.SetGCPercent(-1)
	debug.SetTraceback("none")
	limit := int64(400 << 20)
	if m == compile || m == fill {
		limit = dataLimit(memory) - 192<<20
	}
	debug.SetMemoryLimit(limit)
}

// dataLimit is how much writable memory the child may have.
func dataLimit(memory int64) int64 { return 2*memory + ownMemory }

// child is the work of one child process.
type child struct {
	start time.Time
	in    io.Reader
	out   io.Writer
	job   job
}

func (c *child) serve(m mode) error {
	if _, err := readFrame(c.in, &c.job, frameJob); err != nil {
		return err
	}
	if c.job.Mode != m {
		return errors.New("mode and job differ")
	}
	if c.job.Background { // no parent waits for it to stop it
		time.AfterFunc(c.job.Limits.CompileTime, func() { os.Exit(exitBroken) })
	}
	wasm, err := c.module()
	if err != nil {
		return c.done(report{Code: ChildFailed, Detail: "the module cannot be read: " + firstLine(err.Error())}, nil)
	}
	if got := hexSum(wasm); !strings.EqualFold(got, c.job.SHA256) {
		return c.done(report{Code: WrongSHA256, Detail: wrongSum(got, c.job.SHA256)}, nil)
	}
	g := &guest{job: c.job}
	if err := g.load(context.Background(), wasm); err != nil {
		return c.done(loadReport(err), nil)
	}
	if m == fill {
		if c.job.Hint != "" && (entry{dir: c.job.Cache}).warm() {
			_ = os.Remove(c.job.Hint)
		}
		return c.done(report{}, nil)
	}
	if err := writeFrame(c.out, frameReady, struct{}{}); err != nil {
		return err
	}
	return c.call(g)
}

func (c *child) module() ([]byte, error) {
	if c.job.Path == "" {
		if c.job.Wasm > maxWasm {
			return nil, errors.New("too large")
		}
		b := make([]byte, c.job.Wasm)
		_, err := io.ReadFull(c.in, b)
		return b, err
	}
	b, err := readModule(c.job.Path)
	if c.job.Remove {
		_ = os.Remove(c.job.Path)
	}
	return b, err
}

// readModule reads a regular file of at most maxWasm bytes, and one more.
func readModule(path string) ([]byte, error) {
	f, err := os.OpenFile(filepath.Clean(path), os.O_RDONLY|readonly.NoWait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	data, fits, err := readonly.AtMost(f, info.Size(), maxWasm)
	if err == nil && !fits {
		err = fmt.Errorf("%s has more than %d MiB", path, maxWasm>>20)
	}
	return data, err
}

func wrongSum(got, want string) string {
	if want == "" {
		return "no sha256 is given; the bytes have " + got
	}
	return fmt.Sprintf("the module's bytes have sha256 %s, pinned is %s: look at what changed, then pin it anew", got, tidy(want, 64))
}

func loadReport(err error) report {
	var end *endError
	switch {
	case errors.As(err, &end):
		return report{Code: end.Code, Detail: end.Detail}
	case errors.Is(err, errCache):
		return report{Code: ChildFailed, Detail: firstLine(err.Error()), Cache: cacheFault(err)}
	default:
		return report{Code: BadModule, Detail: tidy(err.Error(), 2000)}
	}
}

// cacheFault tells an entry that is missing for this processor (writing it was
// tried and could not be) from one that is damaged.
func cacheFault(err error) string {
	if errors.Is(err, syscall.EFBIG) {
		return cacheMiss
	}
	return cacheBad
}

// call runs the guest and reports. The time that loading took counts, except
// where the module had to be compiled, which has a limit of its own.
func (c *child) call(g *guest) error {
	g.request = make([]byte, min(c.job.Request, maxRequest))
	if _, err := io.ReadFull(c.in, g.request); err != nil {
		return err
	}
	if err := c.readBundle(g); err != nil {
		return err
	}
	if hasLifeline {
		go func() { // there is no other sign of the parent's death here
			_, _ = io.Copy(io.Discard, c.in)
			os.Exit(exitBroken)
		}()
	}
	from := c.start
	if c.job.Mode == compile {
		from = time.Now()
	}
	ctx, cancel := context.WithDeadline(context.Background(), from.Add(c.job.Limits.Timeout-c.job.Spent))
	defer cancel()
	log := &capped{ctx, os.Stderr, c.job.Limits.Log, errLog}
	d := newDesk(ctx, c.job.Limits.Files, log)
	out, err := g.run(ctx, d)
	r := report{Facts: d.sorted(), Incomplete: d.incomplete}
	var end *endError
	if errors.As(err, &end) {
		r.Code, r.Detail, r.Exit = end.Code, end.Detail, end.Exit
	}
	return c.done(r, out)
}

// readBundle reads the plugin's own folder, where it has one. The parent unpacked
// it once before, so that it is sound.
func (c *child) readBundle(g *guest) (err error) {
	if c.job.Bundle == 0 {
		return nil
	}
	packed := make([]byte, min(c.job.Bundle, bundle.MaxBytes))
	if _, err = io.ReadFull(c.in, packed); err == nil {
		g.files, err = bundle.Unpack(packed)
	}
	return err
}

func (c *child) done(r report, out []byte) error {
	r.Output = int64(len(out))
	if err := writeFrame(c.out, frameDone, r); err != nil {
		return err
	}
	_, err := c.out.Write(out)
	return err
}

const (
	backgroundMark = "-background"
	fillTime       = defaultCompileTime // a filler's whole life
	cacheMiss      = "miss"
	cacheBad       = "bad"
)
