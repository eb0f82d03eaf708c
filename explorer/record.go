package explorer

// append writes the record in two halves, either of which may find no room.
func (x walk) append(s state, i int) {
	w := &s.writers[i]
	short := s
	if w.at != cutBack && short.fault(&short.left.ShortAppends) {
		short.writers[i].at = cutBack
		x.say(i, "append: no room left", short)
	}
	switch w.at {
	case appendFirst:
		s.disk.write(w.end, first(w.record))
		w.at = appendSecond
		x.say(i, "append its first half", s)
	case appendSecond:
		s.disk.write(w.end+1, second(w.record))
		x.appended(s, i)
	case cutBack:
		x.cutBack(s, i)
	}
}

func (x walk) appended(s state, i int) {
	w := &s.writers[i]
	w.at = syncing
	if x.p.PublishFirst {
		w.at = publishing
	}
	if x.p.AckFirst || x.p.NoSync {
		s.ack(w.record)
	}
	if x.p.NoSync {
		w.at = publishing
	}
	x.say(i, "append its second half", s)
}

func (x walk) cutBack(s state, i int) {
	w := s.writers[i]
	failed := s
	if failed.fault(&failed.left.ShortAppends) {
		failed.free(i)
		x.say(i, "cut back: fails, reported as uncertain", failed)
	}
	said := step{who: writerName(i), what: "cut back, reported as refused"}
	if !x.p.NoCutBack {
		s.disk.truncate(w.end)
	}
	if s.disk.n > w.end && !x.p.NoLock { // without a lock they may be another's
		said.broken = "a refused commit left bytes in the journal"
	}
	s.refused |= 1 << w.record
	s.free(i)
	said.after = s
	x.emit(said)
}

// sync is the commit point.
func (x walk) sync(s state, i int) {
	failed := s
	if failed.fault(&failed.left.FailedSyncs) {
		x.syncFailed(failed, i)
	}
	w := &s.writers[i]
	s.disk.sync()
	s.ack(w.record)
	w.at = publishing
	if x.p.PublishFirst {
		w.at = unlocking
	}
	x.say(i, "sync: the commit is acknowledged", s)
}

func (x walk) syncFailed(s state, i int) {
	s.disk.failSync(func(d disk) {
		after := s
		after.disk = d
		switch {
		case x.p.SyncAgain:
			x.say(i, "sync: fails, it will sync again", after)
		case x.p.FailedSyncIsFine || x.p.AckFirst:
			after.ack(after.writers[i].record)
			after.writers[i].at = publishing
			x.say(i, "sync: fails, acknowledged all the same", after)
		default:
			after.free(i)
			x.say(i, "sync: fails, reported as uncertain", after)
		}
	})
}

func (x walk) publish(s state, i int) {
	w := &s.writers[i]
	w.at = unlocking
	if x.p.PublishFirst {
		w.at = syncing
	}
	x.published(s, i, w.record)
}

// published puts the view of a record in place, or fails to.
func (x walk) published(s state, i int, id uint8) {
	failed := s
	if failed.fault(&failed.left.Unpublished) {
		x.say(i, "publish view: fails, a warning", failed)
	}
	s.disk.publish(id)
	x.say(i, "publish view", s)
}
