package explorer

// ExploreLoops visits every state that the ticks and operators of one loop can come
// to within the bounds, and stops at the first broken promise.
func ExploreLoops(p LoopProtocol, b LoopBounds) Result {
	judge := func(s loopState) string {
		if broken := s.broken(); broken != "" {
			return broken
		}
		if s.stuck(p) {
			return "no tick comes through any more, and no operator was told"
		}
		return ""
	}
	return explore(loopState{left: b}, judge, func(s loopState, emit func(loopStep)) { loopWalk{p, emit}.all(s) })
}

// heartbeat is what a tick does beside its work: it beats, and it looks whether the
// loop is still its own and its run not canceled.
func (x loopWalk) heartbeat(s loopState, i int) {
	w := s.ticks[i]
	if w.own == 0 || w.locked {
		return
	}
	if w.late {
		beaten := s
		beaten.ticks[i].late = false
		x.say(i, "beats", beaten)
	}
	switch {
	case s.book.claim != w.own:
		s.stop(i)
		x.say(i, "sees that it was overtaken, ends its work", s)
	case s.book.cancel == w.own && (w.at == preparing || w.at == atWork || w.at == lettingGo):
		s.endWork(1 << w.own)
		s.ticks[i].at = canceling
		x.say(i, "sees that it is canceled, ends its work", s)
	}
}

// trouble is what may happen to a tick: it is killed, or stopped for longer than
// its lease. (Where it is stopped under the lock nobody else gets on meanwhile.)
func (x loopWalk) trouble(s loopState, i int) {
	if s.left.Kills > 0 {
		killed := s
		killed.left.Kills--
		killed.leave(i)
		x.say(i, "is killed", killed)
	}
	if w := &s.ticks[i]; s.left.Freezes > 0 && w.own != 0 && !w.locked {
		s.left.Freezes--
		w.frozen, w.late = true, true
		x.say(i, "is stopped, for longer than its lease", s)
	}
}

// frozen is the waking of a tick. It goes on where it was, before its heartbeat
// does.
func (x loopWalk) frozen(s loopState, i int) {
	s.ticks[i].frozen = false
	x.say(i, "wakes", s)
}

// operators pause, resume and decide, each in one commit, whose condition is what
// the person saw.
func (x loopWalk) operators(s loopState) {
	if s.holder != 0 && !x.p.NoLock || s.decided == maxDecided {
		return
	}
	if s.left.Pauses > 0 && !s.book.paused {
		pause := s
		pause.left.Pauses--
		pause.book.paused = true
		x.decided("pauses", pause)
		if pause.book.cancel = s.book.claim; s.book.claim != 0 {
			x.decided("pauses now", pause)
		}
	}
	if s.book.paused {
		resume := s
		resume.book.paused = false
		x.decided("resumes", resume)
	}
	x.decide(s)
}

// decide shows a request to a person, who then approves or denies it.
func (x loopWalk) decide(s loopState) {
	open := s.book.asked != 0 && !s.book.granted && !s.book.halted
	if s.left.Decisions > 0 && open && s.shown == 0 {
		look := s
		look.left.Decisions--
		look.shown = s.book.asked
		x.emit(loopStep{who: "operator", what: "looks at the request", after: look})
	}
	if s.shown == 0 {
		return
	}
	shown := s.shown
	s.shown = 0
	switch {
	case !open, s.book.asked != shown && !x.p.NoSubject:
		x.emit(loopStep{who: "operator", what: "decides on what is not asked any more, refused", after: s})
		return
	case s.book.asked != shown:
		x.emit(loopStep{who: "operator", what: "approves", after: s, broken: "somebody approved what they were not shown"})
	}
	denied := s
	s.book.granted = true
	x.decided("approves", s)
	denied.book.halted = true
	x.decided("denies", denied)
}

// decided records an operator's decision, which is then acknowledged.
func (x loopWalk) decided(what string, s loopState) {
	s.book.heard |= 1 << s.decided
	s.told |= 1 << s.decided
	s.decided++
	x.emit(loopStep{who: "operator", what: what, after: s})
}

// world is what nobody asked for: somebody moves the branch, the power fails.
func (x loopWalk) world(s loopState) {
	if s.left.Strangers > 0 && s.branch != elsewhere {
		moved := s
		moved.left.Strangers--
		moved.branch = elsewhere
		x.emit(loopStep{who: "somebody", what: "moves the branch", after: moved})
	}
	if s.left.PowerFailures > 0 {
		s.left.PowerFailures--
		s.ticks, s.holder, s.waiting, s.working, s.shown = [2]loopTick{}, 0, 0, 0, 0
		x.emit(loopStep{who: "world", what: "power failure", after: s})
	}
}

// stuck tells whether, with nobody at work and no further trouble, two ticks give
// no run, though no operator was asked, nor stopped the loop, nor is to clear it.
func (s loopState) stuck(p LoopProtocol) bool {
	if s.ticks != [2]loopTick{} || s.book.token+2 >= maxTokens {
		return false
	}
	before := s.book
	s.left, s.shown = LoopBounds{Ticks: 2, Approval: s.left.Approval}, 0
	for s.left.Ticks > 0 || s.ticks[0].at != noTick {
		next := loopStep{}
		loopWalk{p, func(offered loopStep) {
			if next.who == "" {
				next = offered
			}
		}}.tick(s, 0)
		if next.who == "" {
			return true
		}
		s = next.after
	}
	waits := s.book.paused || s.book.halted || s.book.asked != 0
	return s.book.claim != 0 || s.book.orphans != 0 || s.book.token == before.token && !waits
}
