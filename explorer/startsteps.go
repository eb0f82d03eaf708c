package explorer

// ExploreStarts visits every state that starts of one mission, and commits on the
// run that they find, can come to within the bounds, and stops at the first broken
// promise. A commit is one step: what becomes of its record Explore proves.
func ExploreStarts(p StartProtocol, b StartBounds) Result {
	first := startState{mayEntry: 1, left: b}
	return explore(first, startState.broken, func(s startState, emit func(startStep)) { startWalk{p, emit}.all(s) })
}

type startStep = stepTo[startState]

// startWalk gives the steps from a state under a protocol.
type startWalk struct {
	p    StartProtocol
	emit func(startStep)
}

func (x startWalk) all(s startState) {
	x.writer(s, 0)
	x.writer(s, 1)
	x.removal(s)
	x.powerFailure(s)
}

func (x startWalk) say(i int, what string, after startState) {
	x.emit(startStep{who: writerName(i), what: what, after: after})
}

func (s *startState) free(i int) {
	if s.holder == uint8(i+1) {
		s.holder = 0
	}
	s.writers[i] = startWriter{}
}

// lock takes the index lock, if it is free.
func (x startWalk) lock(s *startState, i int) bool {
	if s.holder != 0 && !x.p.NoLock {
		return false
	}
	s.holder = uint8(i + 1)
	return true
}

// writer gives the next steps of call i, and its kill.
func (x startWalk) writer(s startState, i int) {
	switch w := s.writers[i]; w.at {
	case notCalled:
		x.begin(s, i)
		return
	case healWaiting, healSyncing, healEntering, found:
		x.heal(s, i)
	default:
		x.start(s, i)
	}
	if s.left.Kills > 0 {
		s.left.Kills--
		s.free(i)
		x.say(i, "is killed", s)
	}
}

// begin is a call that starts a run, or one that looks for it to commit.
func (x startWalk) begin(s startState, i int) {
	if after := s; after.left.Starts > 0 && x.lock(&after, i) {
		after.left.Starts--
		after.writers[i] = startWriter{at: calling}
		x.say(i, "start: lock the index", after)
	}
	id := s.find(false)
	if s.left.Commits == 0 || id == 0 {
		return
	}
	s.left.Commits--
	s.writers[i] = startWriter{at: healWaiting, run: id, commits: true}
	if id == s.entry || x.p.NoHealSync {
		s.writers[i].at = found
	}
	x.say(i, "commit: find the run", s)
}

// start goes on with a start that has the lock.
func (x startWalk) start(s startState, i int) {
	w := &s.writers[i]
	switch w.at {
	case calling:
		x.call(s, i)
	case building:
		w.at = naming
		s.runs[w.run].whole = !x.p.NoFileSync
		x.say(i, "make the private folder and its files", s)
	case naming:
		s.runs[w.run].named = true
		w.at = nameSyncing
		if x.p.EntryFirst || x.p.NoNameSync {
			w.at = entering
		}
		x.say(i, "rename it", s)
	case nameSyncing:
		w.at = entering
		if x.p.EntryFirst {
			w.at = started
		}
		x.syncNames(s, i)
	case entering:
		w.at = started
		if x.p.EntryFirst {
			w.at = nameSyncing
		}
		x.enter(s, i)
	case started:
		s.runs[w.run].acked = true
		s.free(i)
		x.say(i, "unlock: the start is answered", s)
	}
}

// call calls the roll: is there a run?
func (x startWalk) call(s startState, i int) {
	w := &s.writers[i]
	if w.run = s.find(x.p.TrustIndex); w.run != 0 {
		w.at = healSyncing
		if w.run == s.entry {
			w.at = found
		}
		x.say(i, "call the roll: there is a run", s)
		return
	}
	if s.newest == maxStarted {
		s.free(i)
	} else {
		s.newest++
		w.at, w.run = building, s.newest
	}
	x.say(i, "call the roll: there is none", s)
}

// heal makes a run that the index does not name one that can be answered for.
func (x startWalk) heal(s startState, i int) {
	w := &s.writers[i]
	switch w.at {
	case healWaiting:
		if x.lock(&s, i) {
			w.at = healSyncing
			x.say(i, "heal: lock the index", s)
		}
	case healSyncing:
		w.at = healEntering
		x.syncNames(s, i)
	case healEntering:
		w.at = found
		x.enter(s, i)
	case found:
		what := "unlock: there is a run, which is answered"
		if w.commits {
			what = "commit on the run: it is acknowledged"
		}
		s.runs[w.run].acked = true
		s.free(i)
		x.say(i, what, s)
	}
}

// syncNames makes the names of all runs durable, or fails: then the call ends with
// an error.
func (x startWalk) syncNames(s startState, i int) {
	if s.left.FailedSyncs > 0 {
		failed := s
		failed.left.FailedSyncs--
		failed.free(i)
		x.say(i, "the sync of the names fails", failed)
	}
	for id := range s.runs {
		s.runs[id].durable = s.runs[id].durable || s.runs[id].named
	}
	x.say(i, "sync the names", s)
}

// enter writes the index entry; where that cannot be made durable, it is a warning.
func (x startWalk) enter(s startState, i int) {
	s.entry = s.writers[i].run
	s.mayEntry |= 1 << s.entry
	if s.left.FailedSyncs > 0 {
		failed := s
		failed.left.FailedSyncs--
		x.say(i, "enter the run; the sync of that fails", failed)
	}
	s.mayEntry = 1 << s.entry
	x.say(i, "enter the run", s)
}

// removal is somebody who removes the entry, at any time.
func (x startWalk) removal(s startState) {
	if s.left.Removals == 0 || s.entry == 0 {
		return
	}
	s.left.Removals--
	s.entry = 0
	s.mayEntry |= 1
	x.emit(startStep{who: "somebody", what: "removes the index entry", after: s})
}

// powerFailure ends everybody, takes each name that is not durable or not, and
// leaves the index as one of what it may be.
func (x startWalk) powerFailure(s startState) {
	if s.left.PowerFailures == 0 {
		return
	}
	s.left.PowerFailures--
	s.writers, s.holder = [2]startWriter{}, 0
	for lost := range 1 << (maxStarted + 1) {
		after := s
		if !after.lose(lost) {
			continue
		}
		for entry := range uint8(maxStarted + 1) {
			if s.mayEntry&(1<<entry) != 0 {
				after.entry, after.mayEntry = entry, 1<<entry
				x.emit(startStep{who: "world", what: "power failure", after: after})
			}
		}
	}
}

// lose takes the names of a set of runs; false where one of them cannot be lost.
// Names that stay are durable.
func (s *startState) lose(set int) bool {
	for id := range s.runs {
		r := &s.runs[id]
		switch {
		case set&(1<<id) == 0:
			r.durable, r.half = r.named, r.named && !r.whole
		case !r.named || r.durable:
			return false
		default:
			r.named = false
		}
	}
	return true
}
