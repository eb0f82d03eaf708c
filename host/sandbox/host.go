package sandbox

import (
	"context"
	"fmt"
	"os"
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
	if c.Verb != abi.Describe && c.Verb != abi.Guard && c.Verb != abi.Execute {
		return Answer{}, &Failure{Plugin: p.Name, Code: ChildFailed, Detail: fmt.Sprintf("there is no verb %q", c.Verb)}
	}
	seen, err := h.Watch(ctx, p, c)
	switch {
	case err != nil:
		return Answer{}, err
	case seen.Failure != nil:
		return Answer{}, seen.Failure
	}
	return seen.Answer, nil
}

// Watched is all that is known of a call, however it ended: with a Failure the
// Answer has what was logged, read and used until then.
type Watched struct {
	Answer
	Failure *Failure // nil: the guest ended with exit 0 and within its limits
}

// Watch is Call for a plugin's author: it tells all of a call that failed too,
// and takes verbs that no run ever sends. The error is a *Failure where the call
// could not begin, or ctx's own.
func (h *Host) Watch(ctx context.Context, p Plugin, c Call) (Watched, error) {
	p, err := h.admit(p)
	if err != nil {
		return Watched{}, err
	}
	j, input, err := callJob(p, c)
	if err != nil {
		return Watched{}, &Failure{Plugin: p.Name, Code: ChildFailed, Detail: err.Error()}
	}
	begun := time.Now()
	res, err := h.attempt(ctx, p, j, input, begun)
	if err != nil {
		return Watched{}, h.callError(ctx, p, err)
	}
	seen := Watched{Failure: failureOf(p, res), Answer: Answer{
		Stdout: res.stdout, Log: res.log, Elapsed: time.Since(begun), Interpreted: res.interpreted,
	}}
	if res.report != nil {
		seen.Read, seen.Incomplete = res.report.Facts, res.report.Incomplete
	}
	return seen, nil
}

// attempt chooses between the cache, the interpreter and the compiler.
func (h *Host) attempt(ctx context.Context, p Plugin, j job, input [][]byte, begun time.Time) (result, error) {
	if err := ctx.Err(); err != nil {
		return result{}, err
	}
	e := h.cache().entry(p.SHA256)
	j.Cache = e.dir
	if e.warm() {
		e.used(begun)
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
// said so, or it ended with no word, as code that was damaged makes it. A guest
// that was loaded and then took its process's memory is not the cache's fault.
func (r result) blamesCache() bool {
	if r.report != nil {
		return r.report.Cache != ""
	}
	return r.stopped == "" && !(r.ready && r.outOfMemory())
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

// Cached tells whether the machine code of a module lies in the cache. It makes
// no folder and starts nothing.
func (h *Host) Cached(sha256 string) bool {
	return findCache(h.opts).entry(sha256).warm()
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

func (h *Host) callError(ctx context.Context, p Plugin, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Failure{Plugin: p.Name, Code: ChildFailed, Detail: "the child process cannot be started: " + firstLine(err.Error())}
}
