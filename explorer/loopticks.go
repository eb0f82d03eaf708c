package explorer

type loopStep = stepTo[loopState]

// loopWalk gives the steps from a state under a protocol.
type loopWalk struct {
	p    LoopProtocol
	emit func(loopStep)
}

func (x loopWalk) all(s loopState) {
	x.tick(s, 0)
	x.tick(s, 1)
	x.operators(s)
	x.world(s)
}

func tickName(i int) string { return [...]string{"tick 1", "tick 2"}[i] }

func (x loopWalk) say(i int, what string, after loopState) {
	x.emit(loopStep{who: tickName(i), what: what, after: after})
}

// leave ends a tick's process. What it let go lives on; its lock does not, nor
// what waits for its word.
func (s *loopState) leave(i int) {
	s.waiting &^= 1 << s.ticks[i].own
	if s.holder == uint8(i+1) {
		s.holder = 0
	}
	s.ticks[i] = loopTick{}
}

// stop is the end of a tick that ends its own work first.
func (s *loopState) stop(i int) {
	s.endWork(1 << s.ticks[i].own)
	s.leave(i)
}

// TickSteps names what a tick does that lands what its work left, in order: its
// commits, by the kinds of their records, and what it does between them.
func TickSteps() []string {
	return []string{"read", "claim", "work", "let go", "verify", "land", "swap", "finish"}
}

// tick gives the next steps of a tick, and what may happen to it.
func (x loopWalk) tick(s loopState, i int) {
	w := &s.ticks[i]
	switch {
	case w.at == noTick:
		if s.left.Ticks > 0 {
			s.left.Ticks--
			w.at = readingLoop
			x.say(i, "begins", s)
		}
		return
	case w.frozen:
		x.frozen(s, i)
		return
	case w.at.commits() && !w.locked:
		x.lock(s, i)
	case w.at.commits():
		x.commit(s, i)
	default:
		x.between(s, i)
	}
	x.heartbeat(s, i)
	x.trouble(s, i)
}

// lock takes the lock and reads everything again.
func (x loopWalk) lock(s loopState, i int) {
	w := &s.ticks[i]
	if s.holder != 0 && !x.p.NoLock {
		return
	}
	s.holder = uint8(i + 1)
	w.locked = true
	if w.at != claiming || !x.p.NoReread {
		w.seen = s.book
	}
	w.again = w.seen.claim != 0 && s.dead(w.seen.claim)
	x.say(i, "lock, read", s)
}

// write puts a book in place and gives the lock back.
func (s *loopState) write(i int, b loopBook, next loopPlace) {
	s.book = b
	w := &s.ticks[i]
	w.locked, w.at, w.seen, w.over, w.again = false, next, b, false, false
	if s.holder == uint8(i+1) {
		s.holder = 0
	}
}

// between is what a tick does with no lock.
func (x loopWalk) between(s loopState, i int) {
	w := &s.ticks[i]
	switch w.at {
	case readingLoop:
		x.read(s, i)
	case killingWork:
		x.kill(s, i)
	case swappingAgain, swapping:
		x.swap(s, i)
	case preparing:
		s.base[w.own] = s.branch
		s.waiting |= 1 << w.own
		w.at = recordingGroup
		if x.p.LetGoFirst {
			w.at = lettingGo
		}
		x.say(i, "start: the work's process is started, and waits", s)
	case lettingGo:
		s.working |= s.waiting & (1 << w.own) // unless somebody has ended it
		s.waiting &^= 1 << w.own
		w.at = atWork
		if x.p.LetGoFirst && !s.book.group {
			w.at = recordingGroup
		}
		x.say(i, "let go", s)
	case atWork:
		s.endWork(1 << w.own)
		w.result, w.at = w.own, recordingResult
		x.say(i, "the work ends", s)
	}
}

// commit decides on what was read under the lock, and records. One that the
// token of the loop does not allow ends its tick.
func (x loopWalk) commit(s loopState, i int) {
	w := &s.ticks[i]
	switch w.at {
	case burning:
		x.burn(s, i)
		return
	case burying:
		x.bury(s, i)
		return
	case finishingAgain:
		x.finishAgain(s, i)
		return
	case claiming:
		x.claim(s, i)
		return
	}
	if w.seen.claim != w.own && !x.p.NoToken {
		s.stop(i)
		x.say(i, "decide: overtaken, refused; its work is ended", s)
		return
	}
	if w.seen.cancel == w.own && w.at != finishing && w.at != canceling && !(x.p.NoCancel && w.at == intending) {
		s.endWork(1 << w.own)
		s.write(i, s.book, canceling)
		x.say(i, "decide: canceled, refused; its work is ended", s)
		return
	}
	x.outcome(s, i)
}

// outcome records how far the run has come, or its end.
func (x loopWalk) outcome(s loopState, i int) {
	w := &s.ticks[i]
	b := w.seen
	said := loopStep{who: tickName(i)}
	next := noTick
	switch w.at {
	case recordingGroup:
		said.what = "work: the run begins, its group is on record"
		b.phase, b.group, next = phaseWork, true, lettingGo
		if x.p.LetGoFirst {
			next = atWork
		}
	case recordingResult:
		said.what = "verify: what the work left is on record"
		b.phase, b.group, next = phaseVerify, false, intending
		switch {
		case s.left.Approval:
			next = askingToLand
		case x.p.SwapFirst:
			next = swapping
		}
	case askingToLand:
		said.what = "ask: the claim is given up"
		b.asked, b.granted = w.result, false
		said.broken = b.end(w.own)
	case intending:
		said.what = "land: the intent is on record"
		if b.cancel == w.own {
			said.broken = "a canceled run lands"
		}
		b.phase, b.result, next = phaseLanding, w.result, swapping
		if x.p.SwapFirst {
			next = finishing
		}
	case finishing:
		said.what = "finish"
		said.broken = b.finish(w.own, w.result, w.head)
		if x.p.GrantLater && b.asked == w.result {
			b.asked, b.granted = 0, false
		}
	case canceling:
		said.what = "cancel: the run is over"
		said.broken = b.end(w.own)
	}
	if x.p.WholeState && next == noTick {
		b.paused, b.heard = w.began.paused, w.began.heard
	}
	s.write(i, b, next)
	if next == noTick {
		s.stop(i)
	}
	said.after = s
	x.emit(said)
}

// end gives the claim back and counts the run.
func (b *loopBook) end(token uint8) (broken string) {
	if has(b.ended, token) {
		broken = "a run is counted twice"
	}
	b.ended |= 1 << token
	b.claim, b.phase, b.group, b.result = 0, noPhase, false, 0
	return broken
}

// finish ends a run by where its branch is.
func (b *loopBook) finish(token, result, head uint8) (broken string) {
	if head == result {
		b.landed |= 1 << result
	} else {
		b.halted = true
	}
	return b.end(token)
}
