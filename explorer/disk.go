package explorer

import (
	"math/bits"
	"strings"
)

const (
	maxCells   = 12
	maxRecords = 6 // records ever made, the first included
)

// cell is the content of one sector of the journal: empty, a half of a record
// (2*id the first, 2*id+1 the second, which ends in a newline), or what rot
// makes of either.
type cell uint8

const (
	empty    cell = 0
	junk     cell = 1
	junkLine cell = 2*maxRecords + 3 // with its newline
)

func first(id uint8) cell  { return cell(2 * id) }
func second(id uint8) cell { return cell(2*id + 1) }

func (c cell) newline() bool { return c > junk && c&1 == 1 }

// rot is what a cell becomes when it rots. Its newline stays: where that goes
// as well, two lines read as one, and a reader looks for the good one inside of
// the bad one, which these cells cannot show (kernel/journal: TestNewlineGone).
func (c cell) rot() cell {
	if c.newline() {
		return junkLine
	}
	return junk
}

// view is the content of state.json: none, or what was published for a record,
// whole or torn.
type view uint8

func viewOf(id uint8) view    { return view(2 * id) }
func (v view) record() uint8  { return uint8(v / 2) }
func (v view) intact() bool   { return v > 1 && v&1 == 0 }
func (v view) torn() view     { return v | 1 }
func (v view) mask() uint16   { return 1 << v }
func (c cell) mask() uint16   { return 1 << c }
func one(mask uint16) bool    { return mask&(mask-1) == 0 }
func lowest(mask uint16) int  { return bits.TrailingZeros16(mask) }
func rest(mask uint16) uint16 { return mask & (mask - 1) }

// disk is the journal and the view, as programs see them and as they may be
// on the medium.
type disk struct {
	cells [maxCells]cell
	n     uint8 // length in cells
	view  view

	may     [maxCells]uint16 // values that each cell may have on the medium
	mayN    uint16           // lengths
	mayView uint16           // views
	dirty   uint16           // cells written since the last sync; bit 15: the length
}

const dirtyLength = 1 << 15

func (d *disk) write(i uint8, c cell) {
	d.cells[i] = c
	d.may[i] |= c.mask()
	d.dirty |= 1 << i
	if i >= d.n {
		d.n = i + 1
		d.mayN |= 1 << d.n
	}
}

func (d *disk) truncate(n uint8) {
	for i := n; i < maxCells; i++ {
		if d.cells[i] != empty {
			d.cells[i] = empty
			d.may[i] |= empty.mask()
		}
	}
	d.n = n
	d.mayN |= 1 << n
	d.dirty |= dirtyLength
}

// sync makes durable what was written since the last sync, and nothing else.
// With any byte goes the length that it is part of.
func (d *disk) sync() {
	if d.dirty == 0 {
		return
	}
	for i := range d.cells {
		if i >= int(d.n) || d.dirty&(1<<i) != 0 {
			d.may[i] = d.cells[i].mask()
		}
	}
	d.mayN = 1 << d.n
	d.dirty = 0
}

// settle makes everything durable as it is seen.
func (d *disk) settle() {
	for i, c := range d.cells {
		d.may[i] = c.mask()
	}
	d.mayN = 1 << d.n
	d.mayView = d.view.mask()
	d.dirty = 0
}

// failSync gives what may be seen after a failed sync: the bytes written, now
// marked clean, or, per cell, what the medium has.
func (d disk) failSync(emit func(disk)) {
	d.dirty = 0
	emit(d)
	dropped := d
	d.each(int(d.n), func(cells [maxCells]cell) {
		dropped.cells = cells
		for i := range d.n {
			dropped.may[i] = cells[i].mask()
		}
		emit(dropped)
	})
}

// powerFail gives every disk that a power failure can leave.
func (d disk) powerFail(emit func(disk)) {
	for lengths := d.mayN; lengths != 0; lengths = rest(lengths) {
		n := lowest(lengths)
		d.each(n, func(cells [maxCells]cell) {
			for views := d.mayView; views != 0; views = rest(views) {
				after := disk{cells: cells, n: uint8(n), view: view(lowest(views))}
				after.settle()
				emit(after)
			}
		})
	}
}

// each gives every choice of one possible value for each of the first n cells;
// the others are empty.
func (d *disk) each(n int, emit func([maxCells]cell)) {
	var cells [maxCells]cell
	var choose func(i int)
	choose = func(i int) {
		if i == n {
			emit(cells)
			return
		}
		for values := d.may[i]; values != 0; values = rest(values) {
			cells[i] = cell(lowest(values))
			choose(i + 1)
		}
		cells[i] = empty
	}
	choose(0)
}

func (d *disk) publish(id uint8) {
	d.view = viewOf(id)
	d.mayView |= d.view.mask() | d.view.torn().mask()
}

// String shows the journal as "1a1b 2a.." and the view; a cell that is not
// surely on the medium has a question mark.
func (d disk) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range d.n {
		c := d.cells[i]
		switch {
		case c == empty:
			b.WriteString(" 00")
		case c.rot() == c:
			b.WriteString(" ##")
		default:
			b.WriteString(" " + string('0'+byte(c/2)) + string('a'+byte(c&1)))
		}
		if !one(d.may[i]) {
			b.WriteByte('?')
		}
	}
	b.WriteString(" ]")
	if !one(d.mayN) {
		b.WriteByte('?')
	}
	switch {
	case d.view.intact():
		b.WriteString(" view " + string('0'+byte(d.view.record())))
	default:
		b.WriteString(" view torn")
	}
	return b.String()
}
