package sandbox

// Module is what can be told of a module without compiling it. Its texts hold
// no control characters.
type Module struct {
	Imports []Item
	Exports []Item
	Memory  int64  // bytes at the start; 0 where it has none of its own
	Problem string // why it is no plugin of this ABI, a sentence; "" where it is one
}

// Item is one import or export.
type Item struct {
	Module string // "" of an export
	Name   string
	Kind   string // function, table, memory, global or tag
}

// Inspect tells what a module has. Of bytes that cannot be read as a module it
// tells the problem alone.
func Inspect(wasm []byte) Module {
	_, err := inspect(wasm)
	var out Module
	if err != nil {
		out.Problem = tidy(err.Error(), 2000)
	}
	m, err := scan(wasm)
	if err != nil {
		return out
	}
	for _, im := range m.imports {
		out.Imports = append(out.Imports, Item{Module: tidy(im.module, 200), Name: tidy(im.name, 200), Kind: kindName(im.kind)})
	}
	for _, e := range m.exports {
		out.Exports = append(out.Exports, Item{Name: tidy(e.name, 200), Kind: kindName(e.kind)})
	}
	out.Memory = int64(m.minPages) * wasmPage
	return out
}

func kindName(kind byte) string {
	names := []string{"function", "table", "memory", "global", "tag"}
	if int(kind) >= len(names) {
		return "unknown"
	}
	return names[kind]
}
