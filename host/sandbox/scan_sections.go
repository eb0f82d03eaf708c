package sandbox

// scanCustom looks into the name section alone, the only custom one that
// wazero decodes.
func scanCustom(r *reader) {
	if r.name() != "name" {
		return
	}
	for len(r.b) > 0 && r.err == nil {
		id := r.byte()
		sub := r.sub(r.u32())
		switch id {
		case 1:
			scanNames(sub)
		case 2:
			for range sub.count(2) {
				sub.u32()
				scanNames(sub)
			}
		}
		if sub.err != nil {
			r.set(sub.err)
		}
	}
}

func scanNames(r *reader) {
	for range r.count(2) {
		r.u32()
		r.take(r.u32())
	}
}

func (m *module) scanTypes(r *reader) {
	for range r.list(3, maxTypes, "types") {
		if r.byte() != 0x60 && r.err == nil {
			r.set(fault("the module has types that are not functions (GC proposal), which is not in ABI v1"))
		}
		m.types = append(m.types, signature{valueTypes(r), valueTypes(r)})
	}
}

func valueTypes(r *reader) string {
	b := r.take(uint32(r.count(1)))
	letters := make([]byte, len(b))
	for i, t := range b {
		letters[i] = typeLetter(t)
	}
	return string(letters)
}

func typeLetter(t byte) byte {
	switch t {
	case 0x7f:
		return 'i'
	case 0x7e:
		return 'I'
	case 0x7d:
		return 'f'
	case 0x7c:
		return 'F'
	case 0x7b:
		return 'v'
	default:
		return 'r'
	}
}

func (m *module) scanImports(r *reader) {
	for range r.list(4, maxImports, "imports") {
		im := imported{module: r.name(), name: r.name(), kind: r.byte()}
		switch im.kind {
		case 0:
			im.typ = r.u32()
		case 1:
			r.byte()
			r.limits()
		case 2:
			r.limits()
		case 3:
			r.byte()
			r.byte()
		case 4:
			r.byte()
			r.u32()
		default:
			r.fail("imports something of unknown kind")
		}
		m.imports = append(m.imports, im)
	}
}

// limits reads a memory's or table's limits.
func (r *reader) limits() (minimum uint64) {
	flags := r.byte()
	switch {
	case flags >= 4:
		r.set(fault("the module uses 64-bit memory, which is not in ABI v1: build for wasm32"))
	case flags >= 2:
		r.set(fault("the module uses threads (shared memory), which are not in ABI v1: build without them"))
	}
	minimum = uint64(r.u32())
	if flags&1 != 0 {
		r.u32()
	}
	return minimum
}

func (m *module) scanTables(r *reader) {
	n := r.count(3)
	if n > 1 {
		r.set(faultf("the module has %d tables, at most one is allowed", n))
		return
	}
	for range n {
		r.byte()
		if least := r.limits(); least > maxTable {
			r.set(faultf("the module's table begins with %d entries, at most %d are allowed", least, maxTable))
		}
	}
}

func (m *module) scanMemories(r *reader) {
	n := r.count(2)
	if n > 1 {
		r.set(fault("the module has several memories, which is not in ABI v1"))
		return
	}
	for range n {
		m.memory = true
		if m.minPages = r.limits(); m.minPages > maxMemoryPages {
			r.set(faultf("the module's memory begins with %d pages, more than there can be", m.minPages))
		}
	}
}

func scanGlobals(r *reader) {
	for range r.count(4) {
		r.byte()
		r.byte()
		r.constant()
	}
}

func (m *module) scanExports(r *reader) {
	for range r.list(3, maxExports, "exports") {
		m.exports = append(m.exports, exported{r.name(), r.byte(), r.u32()})
	}
}

// constant skips a constant expression.
func (r *reader) constant() {
	for r.err == nil {
		switch op := r.byte(); op {
		case 0x0b:
			return
		case 0x41, 0x42, 0x23, 0xd2: // i32, i64, global, function
			r.leb()
		case 0x43:
			r.take(4)
		case 0x44:
			r.take(8)
		case 0xd0:
			r.byte()
		case 0xfd:
			r.leb()
			r.take(16)
		default:
			if r.err == nil {
				r.set(faultf("the module computes a constant with instruction 0x%02x, which is not in ABI v1", op))
			}
		}
	}
}

func scanElements(r *reader) {
	for range r.count(2) {
		flags := r.u32()
		if flags > 7 {
			r.fail("holds an element segment of unknown kind")
		}
		if flags&1 == 0 { // active
			if flags&2 != 0 {
				r.u32()
			}
			r.constant()
		}
		if flags&3 != 0 {
			r.byte()
		}
		for range r.count(1) {
			if flags&4 != 0 {
				r.constant()
			} else {
				r.u32()
			}
		}
	}
}

func scanCode(r *reader) {
	for range r.count(2) {
		body := r.sub(r.u32())
		locals := uint64(0)
		for range body.count(2) {
			locals += uint64(body.u32())
			body.byte()
		}
		if locals > maxLocals {
			r.set(faultf("a function has %d local variables, at most %d are allowed", locals, maxLocals))
		}
		if body.err != nil {
			r.set(body.err)
		}
	}
}

func scanData(r *reader) {
	for range r.count(2) {
		switch flags := r.u32(); flags {
		case 0:
			r.constant()
		case 1:
		case 2:
			r.u32()
			r.constant()
		default:
			r.fail("holds a data segment of unknown kind")
		}
		r.take(r.u32())
	}
}
