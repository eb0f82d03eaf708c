package explorer

// ExploreSuccession visits every state that starts which follow a finished run of one
// mission, and commits that end a run or open it again, can come to within the bounds,
// and stops at the first broken promise. That a record is there once it is synced,
// and which run the index names, other walks prove.
func ExploreSuccession(p SuccessionProtocol, b SuccessionBounds) Result {
	judge := func(s successionState) string {
		if broken := s.broken(); broken != "" {
			return broken
		}
		if stuckBehind(p, s) {
			return "no run is live, and none can be begun"
		}
		return ""
	}
	return explore(firstSuccession(b), judge, func(s successionState, emit func(successionStep)) { successionWalk{p, emit}.all(s) })
}

// stuckBehind tells whether, with nobody at work and no further trouble, a start that
// comes now begins no run though none is live.
func stuckBehind(p SuccessionProtocol, s successionState) bool {
	if s.writers != [2]successionWriter{} || s.newest == maxFollowed || s.runs[s.last()].live() {
		return false
	}
	s.left = SuccessionBounds{Starts: 1}
	for s.left.Starts > 0 || s.writers[0].at != noCall {
		next := successionStep{}
		successionWalk{p: p, emit: func(offered successionStep) { next = offered }}.writer(s, 0)
		if next.who == "" {
			return true
		}
		s = next.after
	}
	return !s.runs[s.last()].live()
}

type successionStep = stepTo[successionState]

// successionWalk gives the steps from a state under a protocol.
type successionWalk struct {
	p    SuccessionProtocol
	emit func(successionStep)
}

func (x successionWalk) all(s successionState) {
	x.writer(s, 0)
	x.writer(s, 1)
	x.powerFailure(s)
}

func (x successionWalk) say(i int, what string, after successionState) {
	x.emit(successionStep{who: writerName(i), what: what, after: after})
}

// over ends a call: its locks are free, as a kill leaves them.
func (s *successionState) over(i int) {
	me := uint8(i + 1)
	if s.index == me {
		s.index = 0
	}
	for id := range s.runs {
		s.runs[id].release(me)
	}
	s.writers[i] = successionWriter{}
}

func (r *successionRun) release(writer uint8) {
	if r.lock == writer {
		r.lock = 0
	}
	if r.succession == writer {
		r.succession = 0
	}
}

// take takes a lock, if it is free.
func take(lock *uint8, i int) bool {
	if *lock != 0 {
		return false
	}
	*lock = uint8(i + 1)
	return true
}

// writer gives the next steps of call i, and its kill.
func (x successionWalk) writer(s successionState, i int) {
	switch at := s.writers[i].at; {
	case at == noCall:
		x.begin(s, i)
		return
	case at < startBuilds:
		x.start(s, i)
	case at < commitWaits:
		x.follow(s, i)
	default:
		x.commit(s, i)
	}
	if s.left.Kills > 0 {
		s.left.Kills--
		s.over(i)
		x.say(i, "is killed", s)
	}
}

// begin is a call that starts a run behind the last one, or commits on any.
func (x successionWalk) begin(s successionState, i int) {
	if s.left.Starts > 0 {
		after := s
		after.left.Starts--
		after.writers[i] = successionWriter{at: startWaits}
		x.say(i, "start, again", after)
	}
	for id := uint8(1); id <= maxFollowed && s.left.Commits > 0; id++ {
		if r := s.runs[id]; !r.named || r.ends == maxEnds {
			continue
		}
		after := s
		after.left.Commits--
		after.runs[id].durable = true // a run that the index may not name is healed before
		after.writers[i] = successionWriter{at: commitWaits, run: id, reopens: !s.runs[id].live()}
		x.say(i, "commit: find the run", after)
	}
}

// start goes on until it knows which finished run it follows.
func (x successionWalk) start(s successionState, i int) {
	w := &s.writers[i]
	switch w.at {
	case startWaits:
		if take(&s.index, i) {
			w.at = startCalls
			x.say(i, "lock the index", s)
		}
	case startCalls:
		x.call(s, i)
	case settleWaits:
		if take(&s.runs[w.run].lock, i) {
			w.at = settles
			x.say(i, "settle: lock the run", s)
		}
	case settles:
		r := &s.runs[w.run]
		r.synced, r.view, w.settled = r.ends, r.ends, r.ends
		r.lock = 0
		w.at = startWaits
		x.say(i, "settle: sync its last record, unlock", s)
	}
}

// call calls the roll.
func (x successionWalk) call(s successionState, i int) {
	w := &s.writers[i]
	if before := s.last(); before != w.run {
		w.run, w.settled = before, 0
	}
	switch r := &s.runs[w.run]; {
	case r.live() || s.newest == maxFollowed:
		s.over(i)
		x.say(i, "call the roll: refused", s)
	case !r.certain(w.settled) && !x.p.NoSettle:
		s.index = 0
		w.at = settleWaits
		x.say(i, "call the roll: its end may not be durable; unlock the index", s)
	default:
		w.settled = r.ends
		w.at = startBuilds
		x.say(i, "call the roll: it is over", s)
	}
}

// certain tells what a reader knows of a run's end: it is durable.
func (r *successionRun) certain(settled uint8) bool { return r.view == r.ends || r.ends == settled }

// follow makes the run that follows.
func (x successionWalk) follow(s successionState, i int) {
	w := &s.writers[i]
	before := &s.runs[w.run]
	switch w.at {
	case startBuilds:
		s.newest++
		w.made = s.newest
		w.at = followWaits
		x.say(i, "make the private folder and its files", s)
	case followWaits:
		if x.p.NoLock || take(&before.succession, i) {
			w.at = followLooks
			x.say(i, "lock the succession", s)
		}
	case followLooks:
		x.look(s, i)
	case followMarks:
		before.mark = w.made
		w.at = followNames
		if x.p.MarkLater {
			w.at = namesSync
		}
		x.say(i, "mark who follows, sync", s)
	case followNames:
		s.runs[w.made].named = true
		w.at = namesSync
		if x.p.MarkLater {
			w.at = followMarks
		}
		x.say(i, "rename it", s)
	case namesSync:
		before.release(uint8(i + 1))
		s.runs[w.made].durable = true
		w.at = startTells
		x.say(i, "unlock the succession, sync the names", s)
	default:
		s.runs[w.made].told = true
		s.over(i)
		x.say(i, "unlock: the start is answered", s)
	}
}

// look reads the run once more that is followed.
func (x successionWalk) look(s successionState, i int) {
	w := &s.writers[i]
	r := &s.runs[w.run]
	switch {
	case r.live() && !x.p.NoLook:
		s.over(i)
		x.say(i, "it is live again: refused", s)
		return
	case !r.certain(w.settled) && !x.p.NoSettle && !x.p.NoLook:
		r.release(uint8(i + 1))
		s.index = 0
		w.at = settleWaits
		x.say(i, "its end may not be durable; unlock the succession, the index", s)
		return
	}
	w.at = followMarks
	if x.p.MarkLater {
		w.at = followNames
	}
	x.say(i, "read the run once more: it is over", s)
}

// commit ends a run, or opens it again.
func (x successionWalk) commit(s successionState, i int) {
	w := &s.writers[i]
	r := &s.runs[w.run]
	switch w.at {
	case commitWaits:
		if take(&r.lock, i) {
			w.at = commitLoads
			x.say(i, "commit: lock the run", s)
		}
	case commitLoads:
		r.synced, r.view = r.ends, r.ends
		w.at = commitDecides
		x.say(i, "commit: load, repair", s)
	case commitAsks:
		if take(&r.succession, i) {
			w.at = commitWaits
			x.say(i, "commit: lock the succession", s)
		}
	case commitDecides:
		x.decide(s, i)
	case commitAppends:
		r.ends++
		w.at = commitSyncs
		x.say(i, "commit: append the record", s)
	default:
		r.synced, r.acked = r.ends, r.ends
		published := s
		published.runs[w.run].view = r.ends
		published.over(i)
		x.say(i, "commit: sync, publish, unlock", published)
		s.over(i)
		x.say(i, "commit: sync, unlock without a view", s)
	}
}

func (x successionWalk) decide(s successionState, i int) {
	w := &s.writers[i]
	r := &s.runs[w.run]
	follower := r.mark != 0 && s.runs[r.mark].named
	switch {
	case w.reopens == r.live():
		s.over(i)
		x.say(i, "commit: it is so already, refused", s)
	case w.reopens && r.succession != uint8(i+1):
		r.lock = 0
		w.at = commitAsks
		x.say(i, "commit: it would open the run again; unlock", s)
	case w.reopens && follower && !x.p.NoFollower:
		s.over(i)
		x.say(i, "commit: another run followed, refused", s)
	default:
		w.at = commitAppends
		x.say(i, "commit: decide", s)
	}
}

// powerFailure ends everybody, and takes of each run its name, its last records and
// its view, each where it is not durable, or not.
func (x successionWalk) powerFailure(s successionState) {
	if s.left.PowerFailures == 0 {
		return
	}
	s.left.PowerFailures--
	s.over(0)
	s.over(1)
	x.torn(s, 1)
}

func (x successionWalk) torn(s successionState, id uint8) {
	if id > maxFollowed {
		x.emit(successionStep{who: "world", what: "power failure", after: s})
		return
	}
	r := s.runs[id]
	for ends := r.synced; ends <= r.ends; ends++ {
		after := s
		left := &after.runs[id]
		left.ends, left.synced, left.view = ends, ends, min(r.view, ends)
		left.durable = r.named
		x.torn(after, id+1)
		left.view = 0
		x.torn(after, id+1)
		if r.named && !r.durable {
			left.named, left.durable = false, false
			x.torn(after, id+1)
		}
	}
}
