package sandbox

import (
	"context"
)

// Options say where a Host keeps its cache and what it starts.
type Options struct {
	CacheDir string // compilation cache; "" takes UserCacheDir, "-" none
	Project  string // project root: a cache inside it is refused
	Exe      string // program to start as child; "" is the running one
}

// Host calls plugins. Its methods may be called concurrently.
type Host struct {
	opts Options
}

// New makes a Host. It opens and starts nothing.
func New(o Options) *Host { return &Host{opts: o} }

// Call runs the plugin once in a child process and waits for its end. The error
// is a *Failure, or ctx's own error, for which the child is killed at once. On
// return the child has ended and was reaped.
func (h *Host) Call(ctx context.Context, p Plugin, c Call) (Answer, error) {
	return Answer{}, &Failure{Plugin: p.Name, Code: ChildFailed, Detail: "not started"}
}

// Prepare checks the plugin's bytes and fills the compilation cache, on all
// cores, within the compile limit. The error is a *Failure or ctx's own; a cache
// that cannot be used is no error.
func (h *Host) Prepare(ctx context.Context, p Plugin) error {
	return nil
}

// Check tells whether the bytes are a plugin of this ABI, without compiling
// them: a nil error, or a *Failure that says what is wrong and what to do.
func Check(wasm []byte) error { return nil }

// ChildMain is to be called first thing in main, and in TestMain of tests that
// call plugins. In an ordinary process it returns at once, having noted that
// this program can be started as its own child; in such a child it runs the
// guest and ends the process.
func ChildMain() {}
