package explorer

// state is everything that decides what can happen next. It is compared as a
// value.
type state struct {
	disk    disk
	holder  uint8 // writer that holds the lock at the path, 1 or 2; 0: nobody
	lockGen uint8 // which file lies at the lock's path
	recs    records
	made    uint8 // records made so far

	acked   uint8 // set of records that somebody was told of
	refused uint8 // set of records whose writer was told that nothing happened
	odd     oddity

	writers [2]writer
	reader  reader
	left    Bounds
}

func (s state) String() string { return s.disk.String() }

// oddity says which trouble from outside there was.
type oddity uint8

const (
	replaced oddity = 1 << iota // the lock file was replaced
	strange                     // a stranger wrote
	rotten                      // bytes changed that nobody wrote
)

// initial is a run that was just started: one record and its view, durable.
func initial(b Bounds) state {
	s := state{made: 1, acked: 1 << 1, left: b}
	s.recs[1] = made{prev: 0, end: 2}
	s.disk.write(0, first(1))
	s.disk.write(1, second(1))
	s.disk.publish(1)
	s.disk.settle()
	return s
}

// record makes a record that continues prev and begins at cell at.
func (s *state) record(prev, at uint8) (id uint8) {
	s.made++
	s.recs[s.made] = made{prev: prev, end: at + 2}
	return s.made
}

// ack notes that somebody was told of a record, and so of all before it.
func (s *state) ack(id uint8) { s.acked |= s.recs.chain(id) }

// fault takes one fault out of the bounds; false where none is left.
func (s *state) fault(kind *uint8) bool {
	if *kind == 0 || s.left.Faults == 0 {
		return false
	}
	*kind--
	s.left.Faults--
	return true
}

// broken says which promise does not hold in this state, or "". It reads with
// the rules as built, whatever rule the walk has taken out.
func (s *state) broken() string {
	var asBuilt Protocol
	l := asBuilt.load(&s.recs, s.disk.view, &s.disk.cells, s.disk.n)
	whole := asBuilt.load(&s.recs, 0, &s.disk.cells, s.disk.n)
	if s.odd&rotten != 0 {
		if l.why == healthy && (s.lost(l) || whole.why == healthy && s.lost(whole)) {
			return "an acknowledged commit was cut off in silence"
		}
		return ""
	}
	switch {
	case l.why != healthy:
		return "the journal is damaged: " + l.why.String()
	case whole.why != healthy:
		return "the journal, read without the view, is damaged: " + whole.why.String()
	case s.lost(l) || s.lost(whole):
		return "an acknowledged commit is lost"
	case s.recs.chain(l.last)&s.refused != 0:
		return "a refused commit is in the journal"
	}
	return ""
}

func (s *state) lost(l loaded) bool { return s.acked&^s.recs.chain(l.last) != 0 }

// quiet tells that no writer is at work.
func (s *state) quiet() bool { return s.writers[0].at == idle && s.writers[1].at == idle }
