package explorer

// reader is one query. It reads the view, then the journal cell by cell, and
// judges what it has seen.
type reader struct {
	at    readerPlace
	view  view
	size  uint8 // the journal's length when it was opened
	next  uint8 // the cell that is read next
	seen  [maxCells]cell
	acked uint8 // what was acknowledged when the query began
	looks uint8
	last  damage // what the look before this one found
}

type readerPlace uint8

const (
	resting readerPlace = iota
	opening
	reading
)

const maxLooks = 3 // looks of one query; only writers at work cause another

func (x walk) read(s state) {
	r := &s.reader
	say := func(what string) { x.emit(step{who: "reader", what: what, after: s}) }
	switch r.at {
	case resting:
		if s.left.Reads == 0 {
			return
		}
		s.left.Reads--
		*r = reader{at: opening, view: s.disk.view, acked: s.acked, looks: 1}
		say("read view")
	case opening:
		r.size, r.at = s.disk.n, reading
		if r.view.intact() {
			r.next = s.recs[r.view.record()].end - 2
		}
		say("open journal")
	case reading:
		if r.next >= min(r.size, s.disk.n) {
			x.judge(s)
		}
		if r.next < s.disk.n {
			r.seen[r.next] = s.disk.cells[r.next]
			r.next++
			say("read a cell")
		}
	}
}

// judge ends a look: an answer, another look, or a report of damage.
func (x walk) judge(s state) {
	r := &s.reader
	l := x.p.load(&s.recs, r.view, &r.seen, r.next)
	said := step{who: "reader", what: "answers"}
	switch {
	case l.why == healthy:
		if s.odd&rotten == 0 && r.acked&^s.recs.chain(l.last) != 0 {
			said.broken = "a reader shows less than was acknowledged before it began"
		}
		*r = reader{}
	case x.p.OneRead || l.damage == r.last:
		said.what = "reports damage (" + l.why.String() + ")"
		if s.odd&rotten == 0 {
			said.broken = "a reader calls a healthy run damaged"
		}
		*r = reader{}
	case r.looks == maxLooks:
		said.what = "gives up"
		*r = reader{}
	default:
		said.what = "looks again, read view"
		*r = reader{at: opening, view: s.disk.view, acked: r.acked, looks: r.looks + 1, last: l.damage}
	}
	said.after = s
	x.emit(said)
}
