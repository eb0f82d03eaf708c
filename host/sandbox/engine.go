package sandbox

import (
	"context"
	"runtime"

	"github.com/tetratelabs/wazero"
	"golang.org/x/sys/cpu"
)

// Engine is how guests are run here once their code is in the cache.
type Engine string

// The engines.
const (
	Compiler    Engine = "compiler"
	Interpreter Engine = "interpreter" // ten times slower or more
)

// EngineHere tells which engine this machine and this process allow. Where the
// processor has no compiler, or the system lets no process make code (on Linux
// PR_SET_MDWE, which children inherit), wazero interprets, without a word. It
// compiles a function of our own, to see.
func EngineHere() Engine {
	if runtime.GOARCH == "amd64" && !cpu.X86.HasSSE41 || !compiles() {
		return Interpreter
	}
	return Compiler
}

// compiles tries it. Where it cannot be done wazero panics.
func compiles() (done bool) {
	defer func() {
		if recover() != nil {
			done = false
		}
	}()
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler())
	defer rt.Close(ctx)
	// One function, which takes and does nothing.
	_, err := rt.CompileModule(ctx, []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x04\x01\x02\x00\x0b"))
	return err == nil
}
