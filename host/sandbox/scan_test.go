package sandbox

import (
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

const magic = "\x00asm\x01\x00\x00\x00"

// section is one section with its length.
func section(id byte, body string) string {
	return string(id) + string(binary.AppendUvarint(nil, uint64(len(body)))) + body
}

const huge = "\xff\xff\xff\xff\x0f" // 2^32-1

// Modules of a few bytes that make wazero reserve gigabytes, and what is no
// module of this ABI, each told by name (sandbox.md B1, B4, B5, G).
func TestCheckExplains(t *testing.T) {
	for _, c := range []struct{ name, wasm, says string }{
		{"empty", "", "empty"},
		{"text", ";; a guard\n(module)", "wat2wasm"},
		{"gzip", "\x1f\x8b\x08", "gzip"},
		{"script", "#!/bin/sh\n", "not WebAssembly"},
		{"component", "\x00asm\x0d\x00\x01\x00", "component"},
		{"version", "\x00asm\x02\x00\x00\x00", "version 2"},
		{"short", "\x00asm\x01", "cut off"},
		{"cut", magic + "\x01\x20\x60", "cut off"},
		{"unknown section", magic + section(99, ""), "unknown kind 99"},
		{"type count", magic + section(1, huge), "more items"},
		{"parameter count", magic + section(1, "\x01\x60"+huge), "more items"},
		{"import count", magic + section(2, huge), "more items"},
		{"function count", magic + section(3, huge), "more items"},
		{"a section twice", magic + section(1, "\x00") + section(1, "\x00"), "section 1 twice"},
		{"table count", magic + section(4, huge), "more items"},
		{"memory count", magic + section(5, huge), "more items"},
		{"global count", magic + section(6, huge), "more items"},
		{"export count", magic + section(7, huge), "more items"},
		{"element count", magic + section(9, huge), "more items"},
		{"element vector", magic + section(9, "\x01\x01\x00"+huge+"\x00"), "more items"},
		{"code count", magic + section(10, huge), "more items"},
		{"local groups", magic + section(10, "\x01\x06"+huge+"\x0b"), "more items"},
		{"locals", magic + section(10, "\x01\x08\x01"+huge+"\x7f\x0b"), "local variables"},
		{"data count", magic + section(11, huge), "more items"},
		{"data segments", magic + section(12, huge), "data segments"},
		{"names", magic + section(0, "\x04name\x01\x05"+huge), "more items"},
		{"local names", magic + section(0, "\x04name\x02\x05"+huge), "more items"},
		{"two tables", magic + section(4, "\x02\x70\x00\x01\x70\x00\x01"), "2 tables"},
		{"table size", magic + section(4, "\x01\x70\x00"+huge), "table begins with"},
		{"two memories", magic + section(5, "\x02\x00\x01\x00\x01"), "several memories"},
		{"threads", magic + section(5, "\x01\x03\x01\x01"), "threads"},
		{"memory64", magic + section(5, "\x01\x04\x01"), "64-bit"},
		{"memory size", magic + section(5, "\x01\x00"+huge), "more than there can be"},
		{"exceptions", magic + section(13, "\x00"), "exception"},
		{"start", magic + section(8, "\x00"), "start section"},
		{"overlong number", magic + section(1, "\xff\xff\xff\xff\xff\x01"), "too large"},
		{"nothing in it", magic, "no memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := mustFail(t, Check([]byte(c.wasm)), BadModule)
			if !strings.Contains(f.Detail, c.says) {
				t.Errorf("%q does not say %q", f.Detail, c.says)
			}
		})
	}
}

// P5: to look at a module takes no more memory than the module, whatever it is made
// of: the parent looks as well, and its items are larger than the bytes that state
// them.
func TestLookingTakesLittle(t *testing.T) {
	if raceEnv() != nil {
		t.Skip("the race detector takes memory of its own")
	}
	vector := func(item string) string {
		n := (maxWasm - 64) / len(item)
		return string(binary.AppendUvarint(nil, uint64(n))) + strings.Repeat(item, n)
	}
	for name, wasm := range map[string]string{
		"types":     magic + section(1, vector("\x60\x00\x00")),
		"imports":   magic + section(2, vector("\x00\x00\x00\x00")),
		"functions": magic + section(3, vector("\x00")),
		"exports":   magic + section(7, vector("\x00\x00\x00")),
		"names":     magic + strings.Repeat(section(0, "\x04name\x01\x03\x01\x00\x00"), maxWasm/16),
	} {
		bytes := []byte(wasm)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := Inspect(bytes)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 2*maxWasm {
			t.Errorf("%s: %d MiB for a module of %d MiB", name, took>>20, len(bytes)>>20)
		}
		if m.Problem == "" || len(m.Imports) > maxImports || len(m.Exports) > maxExports {
			t.Errorf("%s: %q, %d imports, %d exports", name, m.Problem, len(m.Imports), len(m.Exports))
		}
	}
}

func TestCheckAcceptsGuests(t *testing.T) {
	refused := map[string]string{"nostart": "_start", "unknown": "AssemblyScript", "nomemory": "memory", "startsection": "start section"}
	files, err := filepath.Glob("testdata/*.wasm")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".wasm")
		err := Check(plugin(t, name).Wasm)
		if says, bad := refused[name]; bad {
			if f := mustFail(t, err, BadModule); !strings.Contains(f.Detail, says) {
				t.Errorf("%s: %q does not say %q", name, f.Detail, says)
			}
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Our table of WASI is wazero's, so that Check and the host agree.
func TestSignaturesAreWazeros(t *testing.T) {
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	b := rt.NewHostModuleBuilder(wasiModule)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(b)
	m, err := b.Compile(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range m.ExportedFunctions() {
		want, ok := wasiSignature(name)
		got := signature{letters(f.ParamTypes()), letters(f.ResultTypes())}
		if !ok || got != want {
			t.Errorf("%s: wazero has %v, we have %v (%v)", name, got, want, ok)
		}
	}
}

func letters(types []byte) string {
	s := make([]byte, len(types))
	for i, v := range types {
		s[i] = typeLetter(v)
	}
	return string(s)
}

// No bytes make the scan panic or take long.
func FuzzScan(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.wasm")
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil {
			f.Add(b)
		}
	}
	f.Add([]byte(magic + section(0, "\x04name\x02\x05"+huge)))
	f.Fuzz(func(t *testing.T, wasm []byte) { _ = Check(wasm) })
}

// The committed guests are what their sources give, wherever the compiler is.
func TestGuestsAreBuiltFromSource(t *testing.T) {
	wat2wasm, err := exec.LookPath("wat2wasm")
	if err != nil {
		t.Skip("wat2wasm is not on the path")
	}
	sources, err := filepath.Glob("testdata/*.wat")
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	dir := t.TempDir()
	for _, source := range sources {
		built := filepath.Join(dir, "built.wasm")
		if out, err := exec.Command(wat2wasm, source, "-o", built).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", source, err, out)
		}
		fresh, err := os.ReadFile(built)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(source), ".wat")
		if committed := plugin(t, name); string(fresh) != string(committed.Wasm) {
			t.Errorf("%s.wasm is not what its source gives: run wat2wasm (wabt 1.0.32)", name)
		}
	}
}
