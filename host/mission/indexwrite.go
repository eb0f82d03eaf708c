package mission

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// EncodeIndex makes the index of a definition that Check accepts: the same
// bytes for the same definition. See Index for reading it.
func EncodeIndex(d *Definition) []byte {
	w := &indexWriter{graph: newGraph(d)}
	for pos := range d.Steps {
		w.step(pos, &d.Steps[pos])
	}
	return w.bytes(d)
}

type indexWriter struct {
	graph   *graph
	entries bytes.Buffer // offsets from the start of their section, sums missing
	heads   bytes.Buffer
	lines   bytes.Buffer
}

func (w *indexWriter) step(pos int, step *Step) {
	var entry [entrySize]byte
	binary.LittleEndian.PutUint64(entry[0:], uint64(w.heads.Len()))
	binary.LittleEndian.PutUint64(entry[8:], uint64(w.lines.Len()))
	binary.LittleEndian.PutUint32(entry[16:], uint32(len(w.graph.deps[pos])))
	binary.LittleEndian.PutUint16(entry[20:], uint16(len(step.ID)))
	w.entries.Write(entry[:])
	for _, dep := range w.graph.deps[pos] {
		w.heads.Write(binary.LittleEndian.AppendUint32(nil, uint32(dep)))
	}
	w.heads.WriteString(step.ID)
	text, err := encodeJSON(step)
	if err != nil {
		panic(fmt.Sprintf("mission: step %q: %v", step.ID, err))
	}
	w.lines.WriteString(lineSum(pos, text) + " ")
	w.lines.Write(text)
	w.lines.WriteByte('\n')
}

// bytes puts the sections together; only now are their offsets known.
func (w *indexWriter) bytes(d *Definition) []byte {
	slots := w.slots(d)
	h := header{steps: uint32(len(d.Steps)), slots: uint32(len(slots)), digest: sha256.Sum256(d.Canonical())}
	h.entries = headerSize + 4*uint64(len(slots))
	h.heads = h.entries + uint64(w.entries.Len())
	h.lines = h.heads + uint64(w.heads.Len())
	h.end = h.lines + uint64(w.lines.Len())
	if d.HasPackages() {
		h.flags = flagPackages
	}
	out := make([]byte, 0, h.end)
	out = append(out, h.encode()...)
	for _, held := range slots {
		out = binary.LittleEndian.AppendUint32(out, held)
	}
	w.place(&h)
	out = append(out, w.entries.Bytes()...)
	out = append(out, w.heads.Bytes()...)
	return append(out, w.lines.Bytes()...)
}

// place makes the entries' offsets those of the file, and adds the sums.
func (w *indexWriter) place(h *header) {
	entries, heads := w.entries.Bytes(), w.heads.Bytes()
	for pos := range len(entries) / entrySize {
		entry := entries[pos*entrySize : (pos+1)*entrySize]
		head := heads[binary.LittleEndian.Uint64(entry):]
		size := 4*uint64(binary.LittleEndian.Uint32(entry[16:])) + uint64(binary.LittleEndian.Uint16(entry[20:]))
		binary.LittleEndian.PutUint64(entry, binary.LittleEndian.Uint64(entry)+h.heads)
		binary.LittleEndian.PutUint64(entry[8:], binary.LittleEndian.Uint64(entry[8:])+h.lines)
		binary.LittleEndian.PutUint64(entry[entrySize-8:], headSum(pos, entry[:entrySize-8], head[:size]))
	}
}

func (w *indexWriter) slots(d *Definition) []uint32 {
	n := 2
	for n < 2*len(d.Steps) {
		n *= 2
	}
	slots := make([]uint32, n)
	for pos := range d.Steps {
		slot := uint32(hashID(d.Steps[pos].ID)) & uint32(n-1)
		for slots[slot] != 0 {
			slot = (slot + 1) & uint32(n-1)
		}
		slots[slot] = uint32(pos) + 1
	}
	return slots
}

func (h *header) encode() []byte {
	out := make([]byte, 0, headerSize)
	out = append(out, indexMagic...)
	for _, n := range []uint32{indexFormat, h.steps, h.slots, h.flags} {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	for _, n := range []uint64{h.entries, h.heads, h.lines, h.end} {
		out = binary.LittleEndian.AppendUint64(out, n)
	}
	out = append(out, h.digest[:]...)
	sum := sha256.Sum256(out)
	return append(out, sum[:headerSize-len(out)]...)
}

func (h *header) decode(raw []byte) error {
	sum := sha256.Sum256(raw[:88])
	switch {
	case string(raw[:8]) != indexMagic:
		return badIndex("it begins with other bytes")
	case !bytes.Equal(raw[88:], sum[:headerSize-88]):
		return badIndex("the header is damaged")
	case binary.LittleEndian.Uint32(raw[8:]) != indexFormat:
		return badIndex("format %d is not known to this version", binary.LittleEndian.Uint32(raw[8:]))
	}
	h.steps = binary.LittleEndian.Uint32(raw[12:])
	h.slots = binary.LittleEndian.Uint32(raw[16:])
	h.flags = binary.LittleEndian.Uint32(raw[20:])
	h.entries = binary.LittleEndian.Uint64(raw[24:])
	h.heads = binary.LittleEndian.Uint64(raw[32:])
	h.lines = binary.LittleEndian.Uint64(raw[40:])
	h.end = binary.LittleEndian.Uint64(raw[48:])
	copy(h.digest[:], raw[56:88])
	return nil
}

// check compares what the header says with itself and with the file's size. A
// checksum is no promise that the one who made it was right.
func (h *header) check(size uint64) error {
	switch {
	case h.end != size:
		return badIndex("it has %d bytes in place of %d", size, h.end)
	case h.steps > MaxSteps || h.slots > 4*MaxSteps || h.slots <= h.steps || h.slots&(h.slots-1) != 0:
		return badIndex("%d steps in %d slots cannot be", h.steps, h.slots)
	case h.entries != headerSize+4*uint64(h.slots) || h.heads != h.entries+entrySize*uint64(h.steps) || h.lines < h.heads || h.end < h.lines:
		return badIndex("its sections do not lie in order")
	}
	return nil
}
