package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

const wasiModule = "wasi_snapshot_preview1"

// Check tells whether the bytes are a plugin of this ABI, without compiling
// them: nil, or a *Failure of code bad_module that says what is wrong and what
// to do. Instructions are looked at when the module is compiled.
func Check(wasm []byte) error {
	if _, err := inspect(wasm); err != nil {
		return &Failure{Code: BadModule, Detail: tidy(err.Error(), 2000)}
	}
	return nil
}

// inspect scans and judges imports and exports; the error is a sentence.
func inspect(wasm []byte) (*module, error) {
	m, err := scan(wasm)
	if err != nil {
		return nil, err
	}
	for _, rule := range []func() error{m.checkImports, m.checkMemory, m.checkStart} {
		if err := rule(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *module) checkImports() error {
	var unknown []string
	for _, im := range m.imports {
		if why := m.importFault(im); why != "" {
			unknown = append(unknown, fmt.Sprintf("%s.%s (%s)", im.module, im.name, why))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	more := ""
	if n := len(unknown); n > 5 {
		unknown, more = unknown[:5], fmt.Sprintf(" and %d more", n-5)
	}
	return faultf("the module imports what no host of ABI v1 has: %s%s%s", strings.Join(unknown, ", "), more, m.importHint())
}

func (m *module) importFault(im imported) string {
	switch {
	case im.kind == 4:
		return "a tag, exception handling"
	case im.kind != 0:
		return "only functions may be imported"
	case im.module != wasiModule:
		return "unknown module"
	}
	want, ok := wasiSignature(im.name)
	if !ok {
		return "no such function"
	}
	if uint64(im.typ) >= uint64(len(m.types)) {
		return "its type is missing"
	}
	if got := m.types[im.typ]; got != want {
		return fmt.Sprintf("has the signature (%s)->(%s), must be (%s)->(%s)", got.params, got.results, want.params, want.results)
	}
	return ""
}

// importHint names the toolchain that makes such imports.
func (m *module) importHint() string {
	has := func(name string) bool {
		return slices.ContainsFunc(m.imports, func(im imported) bool { return im.module == name })
	}
	switch {
	case has("gojs") || has("go"):
		return ": built by Go for browsers; build with GOOS=wasip1 GOARCH=wasm"
	case has("wasi_unstable"):
		return ": built for WASI preview 0; use a newer toolchain with target wasip1"
	case slices.ContainsFunc(m.imports, func(im imported) bool { return strings.HasPrefix(im.module, "wasi:") }):
		return ": built for WASI preview 2; choose the target wasip1"
	case has("__wbindgen_placeholder__") || has("wbg"):
		return ": built with wasm-bindgen for browsers; choose the target wasm32-wasip1"
	case slices.ContainsFunc(m.imports, func(im imported) bool { return im.module == "env" && im.name == "abort" }):
		return ": built by AssemblyScript without the WASI shim"
	default:
		return ": build a command for wasip1"
	}
}

func (m *module) checkMemory() error {
	if !m.memory {
		return fault("the module has no memory: build a command for wasip1")
	}
	for _, e := range m.exports {
		if e.name == "memory" && e.kind == 2 {
			return nil
		}
	}
	return fault("the module does not export its memory under the name memory")
}

func (m *module) checkStart() error {
	for _, e := range m.exports {
		if e.name != "_start" {
			continue
		}
		if e.kind != 0 {
			return fault("the module's export _start is not a function")
		}
		if s, ok := m.signatureOf(e.index); !ok || s != (signature{}) {
			return fault("the module's function _start takes parameters or gives results: it must have neither")
		}
		return nil
	}
	for _, e := range m.exports {
		if e.name == "_initialize" {
			return fault("the module is a library (reactor) without _start: build a command, with a main function")
		}
	}
	return fault("the module exports no _start: build a command, with a main function")
}

// signatureOf finds a function's type; imported functions come first.
func (m *module) signatureOf(index uint32) (signature, bool) {
	at := uint64(index)
	for _, im := range m.imports {
		if im.kind != 0 {
			continue
		}
		if at == 0 {
			return m.typeAt(im.typ)
		}
		at--
	}
	if at >= uint64(len(m.funcTypes)) {
		return signature{}, false
	}
	return m.typeAt(m.funcTypes[at])
}

func (m *module) typeAt(i uint32) (signature, bool) {
	if uint64(i) >= uint64(len(m.types)) {
		return signature{}, false
	}
	return m.types[i], true
}
