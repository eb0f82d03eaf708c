package explorer

// read looks at the loop without the lock: at a claim whose tick is dead, at what
// burnt tokens left, and then for a claim of its own.
func (x loopWalk) read(s loopState, i int) {
	w := &s.ticks[i]
	w.seen = s.book
	w.over = w.seen.claim != 0 && s.dead(w.seen.claim)
	switch {
	case w.over && x.p.NoReap:
		s.leave(i)
		x.say(i, "read: busy", s)
		return
	case w.over && w.seen.phase == phaseLanding && !x.p.NoFinish:
		w.at = swappingAgain
	case w.over && x.p.KillFirst && w.seen.group:
		w.at = killingWork
	case w.over:
		w.at = burning
	case w.seen.orphans != 0:
		w.at = killingWork
	default:
		w.at = claiming
	}
	x.say(i, "read", s)
}

// burn takes a dead tick's token from it. A heartbeat that came meanwhile is seen.
func (x loopWalk) burn(s loopState, i int) {
	w := &s.ticks[i]
	over := w.again
	if x.p.NoLeaseAgain {
		over = w.over
	}
	b := w.seen
	if b.claim == 0 || !over || b.phase == phaseLanding && !x.p.NoFinish {
		s.write(i, s.book, claiming)
		x.say(i, "burn: the claim is over or lives, refused", s)
		return
	}
	said := loopStep{who: tickName(i), what: "burn: the token is taken from a dead tick"}
	if !w.again {
		said.broken = "a token is taken from a tick that has beaten in time"
	}
	token, group := b.claim, b.group
	if broken := b.end(token); broken != "" {
		said.broken = broken
	}
	next := claiming
	if group {
		b.orphans |= 1 << token
		next = killingWork
	}
	s.write(i, b, next)
	said.after = s
	x.emit(said)
}

// kill ends the work of burnt tokens; in a mutant, of a token that is not.
func (x loopWalk) kill(s loopState, i int) {
	w := &s.ticks[i]
	said := loopStep{who: tickName(i), what: "kill what a dead tick let go"}
	victims := w.seen.orphans
	w.at = burying
	if x.p.KillFirst && victims == 0 {
		victims, w.at = 1<<w.seen.claim, burning
		if has(s.living(), w.seen.claim) && s.book.claim == w.seen.claim && !s.dead(w.seen.claim) {
			said.broken = "the work of a living tick is killed"
		}
	}
	s.endWork(victims)
	said.after = s
	x.emit(said)
}

func (x loopWalk) bury(s loopState, i int) {
	b := s.ticks[i].seen
	b.orphans &= s.living()
	s.write(i, b, claiming)
	x.say(i, "bury", s)
}

// finishAgain keeps the books of a landing that another tick died in.
func (x loopWalk) finishAgain(s loopState, i int) {
	w := &s.ticks[i]
	b := w.seen
	if b.claim == 0 || b.phase != phaseLanding || b.result != w.result || !w.again {
		s.write(i, s.book, claiming)
		x.say(i, "finish landing: it is over or goes on, refused", s)
		return
	}
	broken := b.finish(b.claim, w.result, w.head)
	s.write(i, b, claiming)
	x.emit(loopStep{who: tickName(i), what: "finish landing", after: s, broken: broken})
}

// swap moves the branch from where the work began to what it left, as git does:
// only if it still is there.
func (x loopWalk) swap(s loopState, i int) {
	w := &s.ticks[i]
	said := loopStep{who: tickName(i), what: "swap: the branch is where it was to be"}
	result := w.result
	if w.at == swappingAgain {
		result = w.seen.result
	}
	switch old := s.base[result]; {
	case s.branch == old, x.p.NoSwapCompare:
		if s.branch != old && s.branch != result {
			said.broken = "the landing drops what was on the branch"
		}
		s.branch = result
	case s.branch != result:
		said.what = "swap: somebody moved the branch"
	}
	w.result, w.head = result, s.branch
	switch {
	case w.at == swappingAgain:
		w.at = finishingAgain
	case x.p.SwapFirst:
		w.at = intending
	default:
		w.at = finishing
	}
	said.after = s
	x.emit(said)
}

// claim gives the loop to a tick, or says why not. What its guards look at is
// read under the lock, what else is there stays as it is.
func (x loopWalk) claim(s loopState, i int) {
	w := &s.ticks[i]
	seen := w.seen
	stale := seen.asked != 0 && s.base[seen.asked] != s.branch && !x.p.NoSubjectAgain
	b := s.book
	if x.p.NoLock {
		b = seen
	}
	if stale {
		seen.asked, seen.granted, b.asked, b.granted = 0, false, 0, false
	}
	why := ""
	switch {
	case seen.paused:
		why = "paused"
	case seen.halted:
		why = "halted"
	case seen.asked != 0 && !seen.granted:
		why = "waiting"
	case seen.claim != 0:
		why = "busy"
	case seen.orphans&s.living() != 0 && !x.p.NoOrphans:
		why = "an orphan lives"
	case seen.token+1 >= maxTokens:
		why = "no more tokens in this model"
	}
	if why != "" {
		s.write(i, b, noTick)
		x.say(i, "claim: skipped, "+why, s)
		return
	}
	x.claimed(s, i, seen, b)
}

func (x loopWalk) claimed(s loopState, i int, seen, b loopBook) {
	said := loopStep{who: tickName(i), what: "claim"}
	switch {
	case s.book.claim != 0:
		said.broken = "two ticks have the loop"
	case s.book.paused:
		said.broken = "a run begins although an operator paused the loop"
	case seen.token+1 <= s.book.token:
		said.broken = "a token is given twice"
	}
	if !x.p.NoOrphans {
		b.orphans = 0
	}
	b.token = seen.token + 1
	b.claim, b.phase = b.token, phaseGate
	next, result := preparing, uint8(0)
	if seen.granted {
		result, next = seen.asked, intending
		if has(s.used, result) {
			said.broken = "a grant is used twice"
		}
		if s.base[result] != s.branch {
			said.broken = "a grant is used for another landing than it was given for"
		}
		s.used |= 1 << result
		if !x.p.GrantLater {
			b.asked, b.granted = 0, false
		}
	}
	s.write(i, b, next)
	w := &s.ticks[i]
	w.own, w.result, w.began = b.token, result, b
	said.after = s
	x.emit(said)
}
