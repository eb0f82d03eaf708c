package explorer

// damage says what is wrong with a journal and where; none is the zero value.
type damage struct {
	why damageKind
	at  uint8
}

type damageKind uint8

const (
	healthy     damageKind = iota
	shortOfView            // the journal ends before the length in an intact view
	lostLine               // the view's line is not there
	badLine                // a bad line before a good one, or before the view's length
	badChain               // a record that does not continue the one before it
	noRecord               // no good first record
)

func (k damageKind) String() string {
	return [...]string{"healthy", "shorter than the view says", "the view's record is not there",
		"a bad line that is no tail", "a broken chain", "no good first record"}[k]
}

// loaded is a run as it was read.
type loaded struct {
	last  uint8 // the last good record
	end   uint8 // the cell behind it
	clean bool  // an intact view ends where the journal does
	damage
}

// made is a record that somebody made: it continues prev and ends at end.
type made struct{ prev, end uint8 }

type records [maxRecords + 1]made

// chain is the set of records from the first to id.
func (r *records) chain(id uint8) uint8 {
	var set uint8
	for ; id != 0; id = r[id].prev {
		set |= 1 << id
	}
	return set
}

// load reads a journal of n cells from an intact view on, else from its start.
func (p Protocol) load(r *records, v view, cells *[maxCells]cell, n uint8) loaded {
	var out loaded
	use := v.intact() || p.NoChecksum && v > 1
	if use {
		id := v.record()
		out = loaded{last: id, end: r[id].end}
		if !v.intact() {
			out.end++ // a torn view: one of its fields is another
		}
		found := p.compare(cells, n, id, out.end)
		switch {
		case found == healthy:
		case p.TrustView:
			return loaded{last: id, end: min(out.end, n), clean: true}
		case p.NoFloor:
			out, use = loaded{}, false
		default:
			out.damage = damage{found, out.end}
			return out
		}
	}
	p.fold(r, cells, n, &out)
	out.clean = use && out.end == r[v.record()].end && out.end == n
	return out
}

// compare holds the view of a record that ends at end against the journal.
func (p Protocol) compare(cells *[maxCells]cell, n, id, end uint8) damageKind {
	switch {
	case n < end:
		return shortOfView
	case cells[end-2] != first(id) || cells[end-1] != second(id):
		return lostLine
	}
	return healthy
}

// fold takes in the lines behind out.end.
func (p Protocol) fold(r *records, cells *[maxCells]cell, n uint8, out *loaded) {
	bad := int8(-1)
	for at := out.end; at < n; {
		end := lineEnd(cells, at, n)
		id, good := lineAt(cells, at, end)
		switch {
		case !good && bad < 0:
			bad = int8(at)
		case !good:
		case bad >= 0 && !p.TailOverGood:
			out.damage = damage{badLine, uint8(bad)}
			return
		case bad < 0 && r[id].prev != out.last:
			out.damage = damage{badChain, at}
			return
		case bad < 0:
			out.last, out.end = id, end
		}
		at = end
	}
	switch {
	case out.last == 0:
		out.damage = damage{noRecord, 0}
	case bad >= 0 && p.NoTail:
		out.damage = damage{badLine, uint8(bad)}
	}
}

// lineEnd is the cell behind the line that begins at at.
func lineEnd(cells *[maxCells]cell, at, n uint8) uint8 {
	for ; at < n; at++ {
		if cells[at].newline() {
			return at + 1
		}
	}
	return n
}

// lineAt judges a line alone, as its digest lets every reader do.
func lineAt(cells *[maxCells]cell, at, end uint8) (id uint8, good bool) {
	if end != at+2 || cells[at] <= junk || cells[at]&1 != 0 || cells[at+1] != cells[at]+1 {
		return 0, false
	}
	return uint8(cells[at] / 2), true
}
