package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Bounds of the pre-scan. wazero reserves memory by the counts that a module
// states before it looks whether so much can follow: fifteen bytes can end a
// process. So every count is compared here with the bytes that are left.
const (
	maxWasm        = 32 << 20
	maxLocals      = 50_000    // per function; real guests have a few dozen
	maxTable       = 1_000_000 // entries at start
	maxTypes       = 100_000   // the lists are kept, by the parent too: their items are
	maxImports     = 1_000     // larger than what states them
	maxExports     = 10_000
	maxFunctions   = 1_000_000
	wasmPage       = 64 << 10
	maxMemoryPages = 65536
)

var errCut = errors.New("is cut off")

// module is what the pre-scan learns of a module.
type module struct {
	types     []signature
	imports   []imported
	funcTypes []uint32 // type of each own function
	exports   []exported
	memory    bool
	minPages  uint64
}

// signature is a function type in wazero's letters: i, I, f, F, v, r.
type signature struct{ params, results string }

type imported struct {
	module, name string
	kind         byte // 0 function, 1 table, 2 memory, 3 global, 4 tag
	typ          uint32
}

type exported struct {
	name  string
	kind  byte
	index uint32
}

// fault is why bytes are no plugin: a sentence about the module.
type fault string

func (f fault) Error() string { return string(f) }

func faultf(format string, args ...any) error { return fault(fmt.Sprintf(format, args...)) }

// scan reads the module's structure, without its code. The error is a sentence
// for the module's author.
func scan(wasm []byte) (*module, error) {
	if err := header(wasm); err != nil {
		return nil, err
	}
	m := &module{}
	r := &reader{b: wasm[8:]}
	var seen [256]bool
	for len(r.b) > 0 {
		id := r.byte()
		body := r.sub(r.u32())
		if r.err != nil {
			return nil, faultf("the module is cut off or damaged in section %d: build it again", id)
		}
		if seen[id] && id != 0 {
			return nil, faultf("the module has section %d twice: build it again", id)
		}
		seen[id] = true
		if err := m.section(id, body, len(wasm)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func header(wasm []byte) error {
	switch {
	case len(wasm) == 0:
		return fault("the file is empty")
	case len(wasm) > maxWasm:
		return faultf("the file has %d bytes, at most %d MiB are allowed: build without debug information", len(wasm), maxWasm>>20)
	case bytes.HasPrefix(wasm, []byte{0x1f, 0x8b}):
		return fault("the file is compressed (gzip), not WebAssembly: unpack it")
	case bytes.Contains(wasm[:min(len(wasm), 4096)], []byte("(module")) && wasm[0] != 0:
		return fault("the file is WebAssembly text, not a module: translate it with wat2wasm")
	case !bytes.HasPrefix(wasm, []byte("\x00asm")):
		return fault("the file is not WebAssembly: it does not begin with \\0asm")
	case len(wasm) < 8:
		return fault("the module is cut off after its first bytes: build it again")
	case bytes.Equal(wasm[4:8], []byte{0x0d, 0, 1, 0}):
		return fault("the file is a component (WASI preview 2): build a core module for wasip1 instead")
	case binary.LittleEndian.Uint32(wasm[4:]) != 1:
		return faultf("the module has WebAssembly version %d, this ABI takes version 1", binary.LittleEndian.Uint32(wasm[4:]))
	}
	return nil
}

func (m *module) section(id byte, r *reader, size int) error {
	switch id {
	case 0:
		scanCustom(r)
	case 1:
		m.scanTypes(r)
	case 2:
		m.scanImports(r)
	case 3:
		for range r.list(1, maxFunctions, "functions") {
			m.funcTypes = append(m.funcTypes, r.u32())
		}
	case 4:
		m.scanTables(r)
	case 5:
		m.scanMemories(r)
	case 6:
		scanGlobals(r)
	case 7:
		m.scanExports(r)
	case 8:
		return fault("the module has a start section, which would run before the call begins: export _start alone")
	case 9:
		scanElements(r)
	case 10:
		scanCode(r)
	case 11:
		scanData(r)
	case 12:
		if n := r.u32(); uint64(n) > uint64(size) {
			r.fail("states more data segments than it has bytes")
		}
	case 13:
		return fault("the module uses exception handling, which is not in ABI v1: build without it")
	default:
		return faultf("the module has a section of unknown kind %d: build for wasip1 with WebAssembly 2.0 features at most", id)
	}
	if r.err == nil {
		return nil
	}
	var f fault
	if errors.As(r.err, &f) {
		return f
	}
	return faultf("the module is damaged: section %d %v", id, r.err)
}

// reader reads a section; the first error stays and empties it.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(why string) {
	r.set(errors.New(why))
}

func (r *reader) set(err error) {
	if r.err == nil {
		r.err = err
	}
	r.b = nil
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.set(errCut)
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

// u32 reads an unsigned LEB128 of at most five bytes.
func (r *reader) u32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if v > 1<<32-1 {
				break
			}
			return uint32(v)
		}
	}
	r.fail("holds a number that is too large")
	return 0
}

// leb skips a signed or unsigned LEB128 of at most ten bytes.
func (r *reader) leb() {
	for range 10 {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail("holds a number that is too large")
}

// count reads the length of a vector whose items have at least size bytes.
func (r *reader) count(size int) int {
	n := r.u32()
	if uint64(n)*uint64(size) > uint64(len(r.b)) {
		r.fail("states more items than it has bytes")
		return 0
	}
	return int(n)
}

// list is count for items that are kept.
func (r *reader) list(size, most int, what string) int {
	n := r.count(size)
	if n > most {
		r.set(faultf("the module has %d %s, at most %d are allowed", n, what, most))
		return 0
	}
	return n
}

func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(len(r.b)) {
		r.set(errCut)
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) sub(n uint32) *reader { return &reader{b: r.take(n)} }

func (r *reader) name() string { return string(r.take(r.u32())) }
