package explorer

// trouble gives what can happen to the disk and the lock from outside.
func (x walk) trouble(s state) {
	x.powerFailure(s)
	x.replaceLock(s)
	x.stranger(s)
	x.rot(s)
}

func (x walk) outside(what string, after state) {
	x.emit(step{who: "world", what: what, after: after})
}

// powerFailure ends everybody and leaves any subset of what was not synced.
// After rot there is none: a view that falls back can no longer witness what
// rotted, and nothing could tell that it ever was.
func (x walk) powerFailure(s state) {
	if s.odd&rotten != 0 || !s.fault(&s.left.PowerFailures) {
		return
	}
	s.writers, s.reader = [2]writer{}, reader{}
	s.holder, s.lockGen = 0, 0
	s.disk.powerFail(func(d disk) {
		after := s
		after.disk = d
		x.outside("power failure", after)
	})
}

// replaceLock puts another file at the lock's path, unlocked.
func (x walk) replaceLock(s state) {
	if s.left.Replaced == 0 || s.writers[0].sure || s.writers[1].sure {
		return
	}
	s.left.Replaced--
	s.odd |= replaced
	s.lockGen++
	s.holder = 0
	x.outside("the lock file is replaced", s)
}

// stranger commits without the lock: at once, and whole. Only between a
// writer's load and its check can that be noticed.
func (x walk) stranger(s state) {
	if s.left.Strangers == 0 || s.made == maxRecords || s.disk.n+2 > maxCells {
		return
	}
	for _, w := range s.writers {
		if w.at != idle && w.at != deciding && w.at != checking {
			return
		}
	}
	var asBuilt Protocol
	l := asBuilt.load(&s.recs, s.disk.view, &s.disk.cells, s.disk.n)
	if l.why != healthy || l.end != s.disk.n {
		return
	}
	s.left.Strangers--
	s.odd |= strange
	id := s.record(l.last, s.disk.n)
	s.disk.write(s.disk.n, first(id))
	s.disk.write(s.disk.n, second(id))
	views := s.disk.mayView
	s.disk.settle()
	s.disk.mayView = views
	s.ack(id)
	x.outside("a stranger appends a record without the lock", s)
}

// rot spoils a cell that is durable, or loses the journal's end, while nobody
// is at work and where that can be noticed: before the length in an intact
// view, or before a good line.
func (x walk) rot(s state) {
	if s.left.Rotten == 0 || !s.quiet() {
		return
	}
	s.left.Rotten--
	s.odd |= rotten
	var vouched uint8
	if s.disk.view.intact() {
		vouched = s.recs[s.disk.view.record()].end
	}
	for i := range s.disk.n {
		if i < vouched || i+2 < s.disk.n && s.followed(i) {
			after := s
			after.disk.cells[i] = after.disk.cells[i].rot()
			after.disk.may[i] = after.disk.cells[i].mask()
			x.outside("a cell rots", after)
		}
	}
	if vouched > 0 && s.disk.n >= vouched {
		s.disk.truncate(vouched - 1)
		s.disk.settle()
		x.outside("the journal loses its end", s)
	}
}

// followed tells whether a good record begins behind the record of cell i.
func (s *state) followed(i uint8) bool {
	end := lineEnd(&s.disk.cells, i, s.disk.n)
	_, good := lineAt(&s.disk.cells, end, lineEnd(&s.disk.cells, end, s.disk.n))
	return good
}
