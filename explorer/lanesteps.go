package explorer

// ExploreLanes visits every state that the work on one package of a lane log can
// come to within the bounds, and stops at the first broken promise.
func ExploreLanes(p LaneProtocol, b LaneBounds) Result {
	judge := func(s laneState) string {
		if broken := s.broken(); broken != "" {
			return broken
		}
		if s.stuck(p) {
			return "the package's holder gets no further"
		}
		return ""
	}
	return explore(laneState{left: b}, judge, func(s laneState, emit func(laneStep)) { laneWalk{p, emit}.all(s) })
}

type laneStep = stepTo[laneState]

// laneWalk gives the steps from a state under a protocol.
type laneWalk struct {
	p    LaneProtocol
	emit func(laneStep)
}

func (x laneWalk) all(s laneState) {
	x.agent(s, 0)
	x.agent(s, 1)
	x.stranger(s)
	x.powerFailure(s)
}

func (x laneWalk) say(i int, what string, after laneState) {
	x.emit(laneStep{who: writerName(i), what: what, after: after})
}

func (s *laneState) leave(i int) {
	if s.holder == uint8(i+1) {
		s.holder = 0
	}
	s.writers[i] = laneWork{}
}

// agent gives the next steps of an agent's call, and its kill.
func (x laneWalk) agent(s laneState, i int) {
	w := &s.writers[i]
	switch w.at {
	case notAtIt:
		if s.left.Calls > 0 && (s.holder == 0 || x.p.NoOuterLock) {
			s.left.Calls--
			s.holder = uint8(i + 1)
			*w = laneWork{at: readingLanes, log: s.log.last()}
			s.run.synced = s.run.n
			x.say(i, "lock the log, then the run; repair; read the lanes", s)
		}
		return
	case readingLanes:
		x.decide(s, i)
	case movingLog, syncingLog:
		x.move(s, i)
	case writingRecord, syncingRecord:
		x.record(s, i)
	case answering:
		s.acked[s.told] = w.move
		s.told++
		s.leave(i)
		x.say(i, "unlock: it is answered", s)
	}
	if s.left.Kills > 0 {
		s.left.Kills--
		s.leave(i)
		x.say(i, "is killed", s)
	}
}

// decide claims the package, or reports what the agent was handed. Where the log
// is ahead of the run, the call makes up for the record.
func (x laneWalk) decide(s laneState, i int) {
	w := &s.writers[i]
	me := laneLine{by: uint8(i + 1)}
	mine := laneLine{by: me.by, done: true}
	issued := s.run.has(me) > 0
	before, there := w.log, false
	switch {
	case s.run.has(mine) > 0 || s.run.n == maxMoves || s.log.n == maxMoves || s.told == maxMoves:
	case !issued && before == laneLine{}:
		w.move, w.at = me, movingLog
	case !issued && before == me && !x.p.NoHandAgain:
		w.move, there = me, true
	case issued && before == me, issued && before == mine && x.p.NoOwnMove:
		w.move, w.at = mine, movingLog
	case issued && before == mine:
		w.move, there = mine, true
	}
	switch {
	case w.move == laneLine{}:
		s.leave(i)
		x.say(i, "decide: refused, the package is not the caller's", s)
		return
	case there && x.p.NoRelySync:
		w.at = writingRecord
	case there:
		w.at = syncingLog
	case x.p.RecordFirst:
		w.at = writingRecord
	}
	x.say(i, "decide", s)
}

// move appends to the log and makes it durable, before the record or, in a
// mutant, after it.
func (x laneWalk) move(s laneState, i int) {
	w := &s.writers[i]
	after := writingRecord
	if x.p.RecordFirst {
		after = answering
	}
	if w.at == movingLog {
		s.log.append(w.move)
		w.at = syncingLog
		if x.p.NoMoveSync {
			w.at = after
		}
		x.say(i, "append the move to the log", s)
		return
	}
	s.log.synced = s.log.n
	w.at = after
	x.say(i, "sync the log", s)
}

func (x laneWalk) record(s laneState, i int) {
	w := &s.writers[i]
	if w.at == writingRecord {
		s.run.append(w.move)
		w.at = syncingRecord
		x.say(i, "append the record", s)
		return
	}
	s.run.synced = s.run.n
	w.at = answering
	if x.p.RecordFirst && s.log.has(w.move) == 0 {
		w.at = movingLog
	}
	x.say(i, "sync: it is recorded", s)
}

// stranger is the tool that keeps the log: it claims what is free, under its lock.
func (x laneWalk) stranger(s laneState) {
	if s.left.Strangers == 0 || s.holder != 0 && !x.p.NoOuterLock || s.log.n > 0 {
		return
	}
	s.left.Strangers--
	s.log.append(laneLine{by: stranger})
	s.log.synced = s.log.n
	x.emit(laneStep{who: "tool", what: "claims the package in the log", after: s})
}

// powerFailure ends everybody and takes of each file what was not synced, or not.
func (x laneWalk) powerFailure(s laneState) {
	if s.left.PowerFailures == 0 {
		return
	}
	s.left.PowerFailures--
	s.writers, s.holder = [2]laneWork{}, 0
	for moves := s.log.synced; moves <= s.log.n; moves++ {
		for records := s.run.synced; records <= s.run.n; records++ {
			after := s
			after.log, after.run = s.log.cut(moves), s.run.cut(records)
			x.emit(laneStep{who: "world", what: "power failure", after: after})
		}
	}
}

// stuck tells whether, with nobody at work and no further trouble, an agent that
// the log has as holder cannot come to a report by calling twice.
func (s laneState) stuck(p LaneProtocol) bool {
	by := s.log.last().by
	if s.writers != [2]laneWork{} || by == 0 || by == stranger || s.log.n+2 > maxMoves || s.told+2 > maxMoves {
		return false
	}
	s.left = LaneBounds{Calls: 2}
	i := int(by - 1)
	for s.left.Calls > 0 || s.writers[i].at != notAtIt {
		next := laneStep{}
		laneWalk{p, func(offered laneStep) { next = offered }}.agent(s, i)
		if next.who == "" {
			return true
		}
		s = next.after
	}
	return s.run.has(laneLine{by: by, done: true}) == 0
}
