package plugins

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/spec-kitty/step-runner/plugins/abi"
	"github.com/spec-kitty/step-runner/plugins/engines"
)

// result is what one call of a plugin came to.
type result struct {
	exit           int
	stdout, stderr []byte
}

// engine runs a plugin on a folder. dir is what the plugin finds the folder
// under: /project for a guest, the folder itself for a native program.
type engine interface {
	run(t *testing.T, plugin string, args []string, stdin []byte, folder string) result
	dir(folder string) string
}

// guest runs the committed bytes under wazero, as the host does but in this
// process: what is tested here is the plugin, not the wall around it.
type guest struct {
	runtime wazero.Runtime
	modules map[string]wazero.CompiledModule
}

func newGuest(t *testing.T, config wazero.RuntimeConfig) *guest {
	ctx := context.Background()
	runtime := wazero.NewRuntimeWithConfig(ctx, config.WithMemoryLimitPages(1024))
	t.Cleanup(func() { runtime.Close(ctx) })
	wasi_snapshot_preview1.MustInstantiate(ctx, runtime)
	g := &guest{runtime, map[string]wazero.CompiledModule{}}
	return g
}

// module is compiled once.
func (g *guest) module(t *testing.T, name string) wazero.CompiledModule {
	t.Helper()
	if g.modules[name] == nil {
		compiled, err := g.runtime.CompileModule(context.Background(), wasmOf(t, name))
		if err != nil {
			t.Fatal(err)
		}
		g.modules[name] = compiled
	}
	return g.modules[name]
}

// wasmOf is the committed module, or the one that Go builds.
func wasmOf(t *testing.T, name string) []byte {
	t.Helper()
	read := func() ([]byte, error) { return os.ReadFile(filepath.Join(name, name+".wasm")) }
	switch {
	case name == script && testing.Short():
		t.Skip("the race detector makes compiling the engine slow")
	case name == script:
		return engines.QuickJS()[engines.QuickJSFile]
	case name == "links" && testing.Short():
		t.Skip("building a guest in Go takes seconds")
	case name == "links":
		read = linksInGo
	}
	wasm, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// linksInGo builds the plugin in Go, once for all tests.
var linksInGo = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "links")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "links.wasm")
	build := exec.Command("go", "build", "-trimpath", "-o", file, "./links")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return os.ReadFile(file)
})

func (g *guest) dir(string) string { return "/project" }

func (g *guest) run(t *testing.T, plugin string, args []string, stdin []byte, folder string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	config := wazero.NewModuleConfig().WithName("").
		WithArgs(append([]string{plugin}, args...)...).
		WithStdin(bytes.NewReader(stdin)).WithStdout(&stdout).WithStderr(&stderr)
	folders := wazero.NewFSConfig()
	if folder != "" {
		root, err := os.OpenRoot(folder)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		folders = folders.WithFSMount(root.FS(), "/project")
	}
	if plugin == script {
		folders = folders.WithFSMount(os.DirFS(filepath.Join(script, "src")), abi.PluginDir)
	}
	config = config.WithFSConfig(folders)
	module, err := g.runtime.InstantiateModule(context.Background(), g.module(t, plugin), config)
	exit := 0
	if exited := (*sys.ExitError)(nil); errors.As(err, &exited) {
		exit = int(exited.ExitCode())
	} else if err != nil {
		t.Fatalf("%s trapped: %v\n%s", plugin, err, stderr.Bytes())
	}
	if module != nil {
		module.Close(context.Background())
	}
	return result{exit, stdout.Bytes(), stderr.Bytes()}
}

// native runs the sources as programs of this machine, with the sanitizers on:
// a read past the end that a guest would survive ends them.
type native struct{ programs string }

func newNative(t *testing.T) *native {
	n := &native{t.TempDir()}
	for _, name := range names() {
		compile(t, filepath.Join(n.programs, name), filepath.Join(name, name+".c"))
	}
	return n
}

func compile(t *testing.T, out, source string) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler (cc) on this machine")
	}
	sanitize := []string{"-fsanitize=address,undefined", "-fno-sanitize-recover=all"}
	probe := exec.Command(cc, append(sanitize, "-x", "c", "-o", out, "-")...)
	probe.Stdin = strings.NewReader("int main(void) { return 0; }")
	if text, err := probe.CombinedOutput(); err != nil {
		t.Skipf("cc on this machine has no sanitizers: %s", text)
	}
	flags := append(sanitize, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o", out, source)
	if text, err := exec.Command(cc, flags...).CombinedOutput(); err != nil {
		t.Fatalf("cc %s: %v\n%s", source, err, text)
	}
}

func (n *native) dir(folder string) string { return folder }

func (n *native) run(t *testing.T, plugin string, args []string, stdin []byte, _ string) result {
	t.Helper()
	cmd := exec.Command(filepath.Join(n.programs, plugin), args...)
	cmd.Env = []string{"ASAN_OPTIONS=detect_leaks=0:exitcode=99", "UBSAN_OPTIONS=exitcode=99"}
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	if exited := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exited) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes()}
}
