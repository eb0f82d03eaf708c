package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spec-kitty/step-runner/plugins/abi"
)

// Options say where a Host keeps its cache and what it starts.
type Options struct {
	CacheDir string // compilation cache; "" is the user's own, "-" none
	Project  string // project root: a cache inside it is not used
	Exe      string // program to start as child, which must call ChildMain; "" is the running one
}

// Host calls plugins. Its methods may be called concurrently.
type Host struct {
	opts  Options
	cache func() cache

	mu      sync.Mutex
	fillers []int // guarded by mu: process ids not yet reaped
}

// New makes a Host. It opens and starts nothing.
func New(o Options) *Host {
	return &Host{opts: o, cache: sync.OnceValue(func() cache { return openCache(o) })}
}

// exe is the program to start. /proc/self/exe stays the same program even
// while its file is being replaced.
func (h *Host) exe() string {
	if h.opts.Exe != "" {
		return h.opts.Exe
	}
	const self = "/proc/self/exe"
	if _, err := os.Readlink(self); err == nil {
		return self
	}
	exe, err := os.Executable()
	if err != nil {
		return self
	}
	return exe
}

// Call runs the plugin once in a child process and waits for its end. The error
// is a *Failure, or ctx's own, for which the child is killed at once. On return
// the child has ended and was reaped; only a filler of the cache may be left,
// for at most a minute.
func (h *Host) Call(ctx context.Context, p Plugin, c Call) (Answer, error) {
	p, err := h.admit(p)
	if err != nil {
		return Answer{}, err
	}
	j, input, err := callJob(p, c)
	if err != nil {
		return Answer{}, &Failure{Plugin: p.Name, Code: ChildFailed, Detail: err.Error()}
	}
	begun := time.Now()
	res, err := h.attempt(ctx, p, j, input, begun)
	if err != nil {
		return Answer{}, h.callError(ctx, p, err)
	}
	if f := failureOf(p, res); f != nil {
		return Answer{}, f
	}
	return Answer{
		Stdout:      res.stdout,
		Log:         res.log,
		Read:        res.report.Facts,
		Incomplete:  res.report.Incomplete,
		Elapsed:     time.Since(begun),
		Interpreted: res.interpreted,
	}, nil
}

// attempt chooses between the cache, the interpreter and the compiler.
func (h *Host) attempt(ctx context.Context, p Plugin, j job, input [][]byte, begun time.Time) (result, error) {
	e := h.cache().entry(p.SHA256)
	j.Cache = e.dir
	if e.warm() {
		j.Mode = cached
		res, err := converse(ctx, h.exe(), j, input)
		if err != nil || !res.blamesCache() {
			return res, err
		}
		if res.report == nil || res.report.Cache == cacheBad {
			e.drop()
		}
		if j.Spent = time.Since(begun); j.Spent >= j.Limits.Timeout {
			return res, nil
		}
	}
	h.fillLater(p, e)
	j.Mode = interpret
	res, err := converse(ctx, h.exe(), j, input)
	res.interpreted = true
	if err != nil || !res.outOfTime() || j.Spent > 0 {
		return res, err
	}
	// The interpreter is slower by far: its time is not the plugin's.
	j.Mode = compile
	if e.warm() {
		j.Mode = cached
	}
	return converse(ctx, h.exe(), j, input)
}

// blamesCache tells whether code from the cache may be what failed: the child
// said so, or it ended with no word, as code that was damaged makes it.
func (r result) blamesCache() bool {
	if r.report != nil {
		return r.report.Cache != ""
	}
	return r.stopped == ""
}

func (r result) outOfTime() bool {
	return r.stopped == TimeLimit || r.stopped == "" && r.report != nil && r.report.Code == TimeLimit
}

// Prepare checks the plugin's bytes and fills the compilation cache, on all
// cores, within the compile limit. The error is a *Failure or ctx's own; a cache
// that cannot be used is no error.
func (h *Host) Prepare(ctx context.Context, p Plugin) error {
	p, err := h.admit(p)
	if err != nil {
		return err
	}
	if p, err = loaded(p); err != nil {
		return err
	}
	e := h.cache().entry(p.SHA256)
	if e.warm() {
		return nil
	}
	j := job{Mode: fill, Name: p.Name, Wasm: int64(len(p.Wasm)), SHA256: p.SHA256, Cache: e.dir, Limits: p.Limits}
	res, err := converse(ctx, h.exe(), j, [][]byte{p.Wasm})
	if err != nil {
		return h.callError(ctx, p, err)
	}
	if res.report != nil && res.report.Cache != "" {
		return nil
	}
	if f := failureOf(p, res); f != nil {
		return f
	}
	return nil
}

// loaded reads and judges the module in this process, without compiling it.
func loaded(p Plugin) (Plugin, error) {
	if p.Path != "" {
		wasm, err := readModule(p.Path)
		if err != nil {
			return p, &Failure{Plugin: p.Name, Code: BadModule, Detail: "the module cannot be read: " + firstLine(err.Error())}
		}
		p.Wasm, p.Path = wasm, ""
	}
	if got := hexSum(p.Wasm); got != p.SHA256 {
		return p, &Failure{Plugin: p.Name, Code: WrongSHA256, Detail: wrongSum(got, p.SHA256)}
	}
	if _, err := inspect(p.Wasm); err != nil {
		return p, &Failure{Plugin: p.Name, Code: BadModule, Detail: tidy(err.Error(), 2000)}
	}
	return p, nil
}

// admit refuses what cannot be called at all, and sets defaults.
func (h *Host) admit(p Plugin) (Plugin, error) {
	refuse := func(code Code, detail string) (Plugin, error) {
		return p, &Failure{Plugin: p.Name, Code: code, Detail: detail}
	}
	if h.opts.Exe == "" && !registered.Load() {
		return refuse(ChildFailed, "this program does not call sandbox.ChildMain first thing in main, so it cannot be started as its own child")
	}
	if (p.Path == "") == (p.Wasm == nil) {
		return refuse(BadModule, "give either the module's bytes or its file")
	}
	if p.Path != "" { // the child has another working folder
		abs, err := filepath.Abs(p.Path)
		if err != nil {
			return refuse(BadModule, "its file cannot be found: "+firstLine(err.Error()))
		}
		p.Path = abs
	}
	p.SHA256 = strings.ToLower(p.SHA256)
	if !isHexSum(p.SHA256) {
		return refuse(WrongSHA256, "its sha256 is missing or not 64 hex digits: pin it")
	}
	var err error
	if p.Limits, err = p.Limits.filled(); err != nil {
		return refuse(ChildFailed, "its limits cannot be: "+err.Error())
	}
	return p, nil
}

func isHexSum(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// callJob is the job of a call, and what follows it on stdin.
func callJob(p Plugin, c Call) (job, [][]byte, error) {
	if c.Verb != abi.Describe && c.Verb != abi.Guard && c.Verb != abi.Execute {
		return job{}, nil, fmt.Errorf("there is no verb %q", c.Verb)
	}
	if len(c.Request) > maxRequest {
		return job{}, nil, fmt.Errorf("the request has %d bytes, at most %d MiB are allowed", len(c.Request), maxRequest>>20)
	}
	if err := c.checkPaths(); err != nil {
		return job{}, nil, err
	}
	for _, arg := range p.Args {
		if strings.ContainsRune(arg, 0) {
			return job{}, nil, errors.New("an argument holds a zero byte")
		}
	}
	j := job{
		Name: p.Name, Path: p.Path, Wasm: int64(len(p.Wasm)), SHA256: p.SHA256, Limits: p.Limits,
		Verb: c.Verb, Args: p.Args, Request: int64(len(c.Request)),
		Mounts: c.Mounts, Reads: c.Reads, Hide: c.Hide, Now: c.Now, Seed: c.Seed[:],
	}
	return j, [][]byte{p.Wasm, c.Request}, nil
}

func (c Call) checkPaths() error {
	var mounts []string
	for _, m := range c.Mounts {
		if !path.IsAbs(m.Guest) || path.Clean(m.Guest) != m.Guest || m.Guest == "/" {
			return fmt.Errorf("the mount %q is not a clean absolute path", m.Guest)
		}
		mounts = append(mounts, m.Guest)
	}
	for _, p := range append(append([]string{}, c.Reads...), c.Hide...) {
		if path.Clean(p) != p || !path.IsAbs(p) || len(mountsOf(mounts, p)) == 0 {
			return fmt.Errorf("the path %q is not a clean absolute path below a mount", p)
		}
	}
	return nil
}

func mountsOf(mounts []string, p string) (hits []string) {
	for _, m := range mounts {
		if within(p, m) {
			hits = append(hits, m)
		}
	}
	return hits
}

func (h *Host) callError(ctx context.Context, p Plugin, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Failure{Plugin: p.Name, Code: ChildFailed, Detail: "the child process cannot be started: " + firstLine(err.Error())}
}
