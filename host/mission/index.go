package mission

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
)

// The index of a definition is a file from which single steps are read by
// position or id, without reading the rest. All numbers are little-endian.
//
//	header    96 bytes, see below
//	slots     4 bytes each, a power of two of them, at most half full: position
//	          + 1 of the step whose id hashes here (FNV-1a, 64 bits, then the
//	          next free slot), 0 for none
//	entries   32 bytes for each position: where its head and its line are
//	heads     for each position its dependencies, 4 bytes each, and its id
//	lines     for each position the step as one line of JSON
//
//	header:   magic (8), format (4), steps (4), slots (4), flags (4),
//	          offsets of entries, heads, lines and the end (8 each), digest of
//	          the definition (32), checksum (8)
//	entry:    offset of head (8), of line (8), number of dependencies (4),
//	          length of id (2), zero (2), checksum (8)
//	          a line ends where the next begins, and carries its checksum first:
//	          16 hexadecimal digits and a space
//
// A checksum is the beginning of a SHA-256: over the header before it; over the
// position, the entry before it and the head; over the position and the JSON.
// So each read proves what it returns, and a step in another's place is no step.
const (
	indexMagic  = "SKDEFIDX"
	indexFormat = 1

	headerSize = 96
	entrySize  = 32
	sumDigits  = 16

	flagPackages = 1
)

// Index is a View of an index file. It reads what it is asked for and keeps
// nothing but the header, so it may be used by many goroutines if its reader
// may.
type Index struct {
	r io.ReaderAt
	h header
}

var _ View = (*Index)(nil)

type header struct {
	steps, slots, flags        uint32
	entries, heads, lines, end uint64
	digest                     [32]byte
}

// IndexError says that a file is no index, or a damaged one. It is to be made
// anew from the definition.
type IndexError struct{ Why string }

func (e *IndexError) Error() string { return "index of the definition: " + e.Why }

func badIndex(format string, args ...any) error {
	return &IndexError{Why: fmt.Sprintf(format, args...)}
}

// OpenIndex reads the header of an index of size bytes. The error is an
// *IndexError where the bytes are to blame, and the reader's own otherwise.
func OpenIndex(r io.ReaderAt, size int64) (*Index, error) {
	if size < headerSize {
		return nil, badIndex("%d bytes are too few", size)
	}
	var raw [headerSize]byte
	if err := readAt(r, raw[:], 0); err != nil {
		return nil, err
	}
	x := &Index{r: r}
	if err := x.h.decode(raw[:]); err != nil {
		return nil, err
	}
	return x, x.h.check(uint64(size))
}

// Digest is the digest of the definition that the index was made of.
func (x *Index) Digest() string { return hex.EncodeToString(x.h.digest[:]) }

// Len is the number of steps.
func (x *Index) Len() int { return int(x.h.steps) }

// HasPackages tells whether any step works on packages or asks where one lies.
func (x *Index) HasPackages() bool { return x.h.flags&flagPackages != 0 }

// Step reads and decodes one step.
func (x *Index) Step(pos int) (Step, error) {
	var step Step
	if err := x.bounds(pos); err != nil {
		return step, err
	}
	// Two entries are read, as a line ends where the next begins.
	var raw [2 * entrySize]byte
	last := pos+1 == x.Len()
	want := raw[:]
	if last {
		want = raw[:entrySize]
	}
	if err := x.read(want, x.h.entries+uint64(pos)*entrySize); err != nil {
		return step, err
	}
	from, to := binary.LittleEndian.Uint64(raw[8:]), x.h.end
	if !last {
		to = binary.LittleEndian.Uint64(raw[entrySize+8:])
	}
	line, err := x.between(from, to, x.h.lines, x.h.end)
	if err != nil {
		return step, err
	}
	return step, decodeLine(pos, line, &step)
}

// Deps are the positions that must be complete before pos is chosen.
func (x *Index) Deps(pos int) ([]int, error) {
	deps, _, err := x.head(pos)
	return deps, err
}

// Position finds a step by its id.
func (x *Index) Position(id string) (pos int, ok bool, err error) {
	var raw [4]byte
	mask := x.h.slots - 1
	for i, slot := uint32(0), uint32(hashID(id))&mask; i < x.h.slots; i, slot = i+1, (slot+1)&mask {
		if err := x.read(raw[:], headerSize+4*uint64(slot)); err != nil {
			return 0, false, err
		}
		held := binary.LittleEndian.Uint32(raw[:])
		if held == 0 {
			return 0, false, nil
		}
		if held > x.h.steps {
			return 0, false, badIndex("a slot points to position %d of %d", held-1, x.h.steps)
		}
		_, found, err := x.head(int(held) - 1)
		if err != nil {
			return 0, false, err
		}
		if found == id {
			return int(held) - 1, true, nil
		}
	}
	return 0, false, badIndex("no free slot")
}

// head reads what lies before a step's line: its dependencies and its id.
func (x *Index) head(pos int) (deps []int, id string, err error) {
	if err := x.bounds(pos); err != nil {
		return nil, "", err
	}
	var raw [entrySize]byte
	if err := x.read(raw[:], x.h.entries+uint64(pos)*entrySize); err != nil {
		return nil, "", err
	}
	from := binary.LittleEndian.Uint64(raw[0:])
	count := uint64(binary.LittleEndian.Uint32(raw[16:]))
	head, err := x.between(from, from+4*count+uint64(binary.LittleEndian.Uint16(raw[20:])), x.h.heads, x.h.lines)
	if err != nil {
		return nil, "", err
	}
	if headSum(pos, raw[:entrySize-8], head) != binary.LittleEndian.Uint64(raw[entrySize-8:]) {
		return nil, "", badIndex("the entry of position %d is damaged", pos)
	}
	for range count {
		deps = append(deps, int(binary.LittleEndian.Uint32(head)))
		head = head[4:]
	}
	return deps, string(head), nil
}

func (x *Index) bounds(pos int) error {
	if pos < 0 || pos >= x.Len() {
		return &PositionError{Pos: pos, Len: x.Len()}
	}
	return nil
}

// between reads a stretch that must lie within a section.
func (x *Index) between(from, to, start, end uint64) ([]byte, error) {
	if from < start || to < from || to > end {
		return nil, badIndex("an entry points outside its section")
	}
	data := make([]byte, to-from)
	return data, x.read(data, from)
}

func (x *Index) read(into []byte, at uint64) error { return readAt(x.r, into, int64(at)) }

// readAt takes io.EOF together with all bytes for success, as io.ReaderAt
// allows.
func readAt(r io.ReaderAt, into []byte, at int64) error {
	switch n, err := r.ReadAt(into, at); {
	case n == len(into):
		return nil
	case err == io.EOF:
		return badIndex("it ends too early")
	default:
		return fmt.Errorf("index of the definition: %w", err)
	}
}

func decodeLine(pos int, line []byte, step *Step) error {
	if len(line) < sumDigits+2 || line[sumDigits] != ' ' || line[len(line)-1] != '\n' {
		return badIndex("the line of position %d is damaged", pos)
	}
	text := line[sumDigits+1 : len(line)-1]
	if lineSum(pos, text) != string(line[:sumDigits]) {
		return badIndex("the line of position %d is damaged", pos)
	}
	if err := decodeJSON(text, step); err != nil {
		return badIndex("the line of position %d: %v", pos, err)
	}
	return nil
}

func headSum(pos int, entry, head []byte) uint64 {
	sum := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, uint64(pos)), append(entry[:len(entry):len(entry)], head...)...))
	return binary.LittleEndian.Uint64(sum[:])
}

func lineSum(pos int, text []byte) string {
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(pos)))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil)[:sumDigits/2])
}

func hashID(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return h ^ h>>32
}
