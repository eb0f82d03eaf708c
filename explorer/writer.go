package explorer

// writer is one process that commits.
type writer struct {
	at     place
	gen    uint8 // lock file that it holds
	sure   bool  // it compared the lock and writes on the strength of that
	last   uint8 // last good record that it loaded
	end    uint8 // the cell behind it
	record uint8 // the record that it makes
}

type place uint8

const (
	idle place = iota
	locked
	mendCompare
	mendCut
	mendFirst
	mendSecond
	mendSync
	mendPublish
	deciding
	checking
	appendFirst
	appendSecond
	cutBack
	syncing
	publishing
	unlocking
)

// step is one thing that happens.
type step = stepTo[state]

// walk gives the steps from a state under a protocol.
type walk struct {
	p    Protocol
	emit func(step)
}

func writerName(i int) string { return [...]string{"writer 1", "writer 2"}[i] }

// free ends a writer's call and gives its lock back.
func (s *state) free(i int) {
	w := &s.writers[i]
	if s.holder == uint8(i+1) && w.gen == s.lockGen {
		s.holder = 0
	}
	*w = writer{}
}

// writer gives the next steps of writer i.
func (x walk) writer(s state, i int) {
	switch s.writers[i].at {
	case idle:
		x.lock(s, i)
		return
	case locked:
		x.load(s, i)
	case mendCompare, mendCut, mendFirst, mendSecond, mendSync, mendPublish:
		x.mend(s, i)
	case deciding:
		x.decide(s, i)
	case checking:
		x.check(s, i)
	case appendFirst, appendSecond, cutBack:
		x.append(s, i)
	case syncing:
		x.sync(s, i)
	case publishing:
		x.publish(s, i)
	case unlocking:
		s.free(i)
		x.say(i, "unlock: the call returns", s)
	}
	x.kill(s, i)
}

func (x walk) say(i int, what string, after state) {
	x.emit(step{who: writerName(i), what: what, after: after})
}

// kill ends a writer where it is; the kernel gives its lock back.
func (x walk) kill(s state, i int) {
	if s.writers[i].at != idle && s.fault(&s.left.Kills) {
		s.free(i)
		x.say(i, "is killed", s)
	}
}

func (x walk) lock(s state, i int) {
	if s.left.Calls == 0 || s.holder != 0 && !x.p.NoLock {
		return
	}
	s.left.Calls--
	s.holder = uint8(i + 1)
	s.writers[i] = writer{at: locked, gen: s.lockGen}
	x.say(i, "lock", s)
}

func (x walk) load(s state, i int) {
	w := &s.writers[i]
	l := x.p.load(&s.recs, s.disk.view, &s.disk.cells, s.disk.n)
	if l.why != healthy {
		said := step{who: writerName(i), what: "load: reports damage (" + l.why.String() + ")"}
		if s.odd&rotten == 0 {
			said.broken = "a writer calls a healthy run damaged"
		}
		s.free(i)
		said.after = s
		x.emit(said)
		return
	}
	w.last, w.end = l.last, l.end
	w.at = mendCompare
	if l.clean || x.p.NoRepair {
		w.at = deciding
	}
	if x.p.NoopFirst {
		already := s
		already.ack(l.last)
		already.free(i)
		x.say(i, "load: answers \"already so\" at once", already)
	}
	x.say(i, "load", s)
}

// decide answers "already so", or makes a record; both only while the lock is
// still the one at its path.
func (x walk) decide(s state, i int) {
	w := &s.writers[i]
	if w.gen != s.lockGen && !x.p.NoCompare {
		s.free(i)
		x.say(i, "decide, compare lock: it was replaced, refused", s)
		return
	}
	if s.acked&(1<<w.last) == 0 {
		already := s
		already.ack(w.last)
		already.free(i)
		x.say(i, "decide: answers \"already so\"", already)
	}
	if x.p.NoCut {
		w.end = max(w.end, s.disk.n)
	}
	if s.made == maxRecords || w.end+2 > maxCells {
		return
	}
	w.sure = !x.p.NoCompare
	w.record = s.record(w.last, w.end)
	w.at = checking
	x.say(i, "decide, compare lock", s)
}

func (x walk) check(s state, i int) {
	w := &s.writers[i]
	if s.disk.n != w.end && !x.p.NoCheck {
		said := step{who: writerName(i), what: "check length: somebody else wrote, refused"}
		if s.odd == 0 {
			said.broken = "a commit is refused although nobody else wrote"
		}
		s.refused |= 1 << w.record
		s.free(i)
		said.after = s
		x.emit(said)
		return
	}
	w.at = appendFirst
	x.say(i, "check length", s)
}
