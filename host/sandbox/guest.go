package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/sys"

	"github.com/spec-kitty/step-runner/host/bundle"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// guest is one module in one runtime, for one call: the inner wall.
type guest struct {
	job     job
	request []byte
	files   []bundle.File // the plugin's own folder; none: it is not there
	memory  memoryCap
	rt      wazero.Runtime
	code    wazero.CompiledModule
}

// errCache marks a failure of the compilation cache, which is never the
// module's fault.
var errCache = errors.New("compilation cache")

// load makes the runtime and turns the bytes into code, as the job says.
func (g *guest) load(ctx context.Context, wasm []byte) error {
	m, err := inspect(wasm)
	if err != nil {
		return err
	}
	if least := int64(m.minPages) * wasmPage; least > g.job.Limits.Memory {
		return &endError{Code: MemoryLimit, Detail: fmt.Sprintf(
			"the module begins with %d MiB of memory, its limit is %d MiB", (least+1<<20-1)>>20, g.job.Limits.Memory>>20)}
	}
	config, err := g.config()
	if err != nil {
		return err
	}
	g.rt = wazero.NewRuntimeWithConfig(ctx, config)
	if g.job.Mode == compile || g.job.Mode == fill {
		workers := runtime.NumCPU()
		if g.job.Background {
			workers = 1
		}
		ctx = experimental.WithCompilationWorkers(ctx, workers)
	}
	g.code, err = g.rt.CompileModule(ctx, wasm)
	return compileFault(err)
}

func (g *guest) config() (wazero.RuntimeConfig, error) {
	config := wazero.NewRuntimeConfig()
	if g.job.Mode == interpret {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	config = config.
		WithCoreFeatures(api.CoreFeaturesV2).
		WithCloseOnContextDone(true).
		WithDebugInfoEnabled(false).
		WithCustomSections(false)
	if g.job.Cache != "" && (g.job.Mode == cached || g.job.Mode == fill) {
		cache, err := wazero.NewCompilationCacheWithDir(g.job.Cache)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errCache, err)
		}
		config = config.WithCompilationCache(cache)
	}
	return config, nil
}

// compileFault sorts what CompileModule says: what comes from the file system
// or the cache's own reader is the cache's, all else the module's.
func compileFault(err error) error {
	if err == nil {
		return nil
	}
	var path interface{ Timeout() bool } // *fs.PathError, *os.LinkError and their kin
	if errors.As(err, &path) || strings.Contains(err.Error(), "compilationcache:") {
		return fmt.Errorf("%w: %w", errCache, err)
	}
	text := err.Error()
	for _, feature := range []struct{ sign, name string }{
		{"feature \"exception-handling\"", "exception handling"},
		{"feature \"tail-call\"", "tail calls"},
		{"feature \"extended-const\"", "extended constants"},
		{"feature \"threads\"", "threads"},
		{"invalid byte for limits", "64-bit memory"},
	} {
		if strings.Contains(text, feature.sign) {
			return faultf("the module uses %s, which is not in ABI v1: build without it", feature.name)
		}
	}
	return faultf("the module cannot be compiled: %s", firstLine(text))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return tidy(line, 300)
}

// run calls the guest once and gives its stdout. The error is an *endError.
func (g *guest) run(ctx context.Context, d *desk) ([]byte, error) {
	if err := instantiateWASI(ctx, g.rt); err != nil {
		return nil, &endError{Code: ChildFailed, Detail: firstLine(err.Error())}
	}
	var out bytes.Buffer
	config, views, err := g.moduleConfig(ctx, &out, d)
	if err != nil {
		return nil, err
	}
	defer closeViews(views)
	g.memory.limit = uint64(g.job.Limits.Memory)
	ctx = experimental.WithMemoryAllocator(ctx, &g.memory)
	_, err = g.rt.InstantiateModule(ctx, g.code, config)
	if end := g.judge(ctx, err); end != nil {
		return nil, end
	}
	return out.Bytes(), nil
}

func (g *guest) moduleConfig(ctx context.Context, out io.Writer, d *desk) (wazero.ModuleConfig, []*view, error) {
	fsc := wazero.NewFSConfig()
	views, err := openViews(g.job.Mounts, g.job.Reads, g.job.Hide, d)
	if err != nil {
		return nil, nil, &endError{Code: ChildFailed, Detail: "a folder of the call cannot be opened: " + firstLine(err.Error())}
	}
	for _, v := range views {
		fsc = fsc.(sysfs.FSConfig).WithSysFSMount(v, v.guest)
	}
	if len(g.files) > 0 {
		// The last one: some languages open everything relative to the first.
		fsc = fsc.(sysfs.FSConfig).WithSysFSMount(newShelf(g.files, d), abi.PluginDir)
	}
	c := &clock{ctx: ctx, start: g.job.Now}
	var seed [32]byte
	copy(seed[:], g.job.Seed)
	config := wazero.NewModuleConfig()
	for _, name := range slices.Sorted(maps.Keys(g.job.Env)) {
		config = config.WithEnv(name, g.job.Env[name])
	}
	return config.
		WithName("").
		WithArgs(slices.Concat([]string{g.job.Name}, g.job.Args, []string{g.job.Verb})...).
		WithStdin(input{ctx, bytes.NewReader(g.request)}).
		WithStdout(&capped{ctx, out, g.job.Limits.Output, errOutput}).
		WithStderr(d.log).
		WithWalltime(c.walltime, sys.ClockResolution(look)).
		WithNanotime(c.nanotime, sys.ClockResolution(look)).
		WithNanosleep(c.nanosleep).
		WithOsyield(c.yield).
		WithRandSource(dice{ctx, rand.NewChaCha8(seed)}).
		WithFSConfig(fsc), views, nil
}

// openViews opens all mounts, or none.
func openViews(mounts []Mount, reads, hide []string, d *desk) ([]*view, error) {
	var views []*view
	for _, m := range mounts {
		v, err := openView(m, reads, hide, d)
		if err != nil {
			closeViews(views)
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}

func closeViews(views []*view) {
	for _, v := range views {
		_ = v.root.Close()
	}
}

// endError is an end of a guest that is no answer.
type endError struct {
	Code   Code
	Detail string
	Exit   uint32
}

func (e *endError) Error() string { return string(e.Code) + ": " + e.Detail }

// judge names the end. The clock comes first: the exit code that wazero uses
// for a deadline can be had by any guest for the asking.
func (g *guest) judge(ctx context.Context, err error) error {
	limits := g.job.Limits
	var exit *sys.ExitError
	isExit := errors.As(err, &exit)
	switch {
	case err == nil || isExit && exit.ExitCode() == 0 && ctx.Err() == nil:
		return nil
	case ctx.Err() != nil || errors.Is(err, errStopped):
		return &endError{Code: TimeLimit, Detail: fmt.Sprintf("it ran longer than its limit of %v", limits.Timeout)}
	case errors.Is(err, errOutput):
		return &endError{Code: OutputLimit, Detail: fmt.Sprintf("it wrote more than %d bytes to stdout", limits.Output)}
	case errors.Is(err, errLog):
		return &endError{Code: LogLimit, Detail: fmt.Sprintf("it wrote more than %d bytes to stderr", limits.Log)}
	case g.memory.refused.Load():
		return &endError{Code: MemoryLimit, Detail: fmt.Sprintf("it reached its memory limit of %d MiB", limits.Memory>>20)}
	case isExit:
		return &endError{Code: Exited, Exit: exit.ExitCode(), Detail: fmt.Sprintf("it ended with exit code %d; exit 0 is an answer, a refusal too", exit.ExitCode())}
	}
	return trapFault(err)
}

// trapFault names a trap by wazero's own words for it, which are the innermost
// error; all else in the text may be the guest's choice.
func trapFault(err error) error {
	inner := err
	for next := errors.Unwrap(inner); next != nil; next = errors.Unwrap(inner) {
		inner = next
	}
	switch text := inner.Error(); text {
	case "stack overflow":
		return &endError{Code: StackOverflow, Detail: "it called itself too deep"}
	case "unreachable", "out of bounds memory access", "integer divide by zero", "integer overflow",
		"invalid conversion to integer", "invalid table access", "indirect call type mismatch":
		return &endError{Code: Trapped, Detail: "it crashed: " + text}
	default:
		return &endError{Code: Trapped, Detail: "it crashed: " + firstLine(text)}
	}
}
