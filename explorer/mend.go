package explorer

// mend gives the next steps of writer i in a repair.
func (x walk) mend(s state, i int) {
	w := &s.writers[i]
	switch w.at {
	case mendCompare:
		if w.gen != s.lockGen && !x.p.NoCompare {
			s.free(i)
			x.say(i, "repair: compare lock: it was replaced, refused", s)
			return
		}
		w.sure = !x.p.NoCompare
		w.at = mendCut
		x.say(i, "repair: compare lock", s)
	case mendCut:
		if s.disk.n > w.end && !x.p.NoCut {
			s.disk.truncate(w.end)
		}
		w.at = mendFirst
		if x.p.NoRewrite {
			w.at = mendSync
		}
		x.say(i, "repair: cut tail", s)
	case mendFirst:
		s.disk.write(w.end-2, first(w.last))
		w.at = mendSecond
		x.say(i, "repair: write the last record's first half again", s)
	case mendSecond:
		s.disk.write(w.end-1, second(w.last))
		w.at = mendSync
		x.say(i, "repair: write its second half again", s)
	case mendSync:
		x.mendSync(s, i)
	case mendPublish:
		w.at, w.sure = deciding, false
		id := w.last
		if x.p.NoCut && s.disk.n > w.end {
			x.say(i, "repair: leaves the tail", s)
			return
		}
		x.published(s, i, id)
	}
}

func (x walk) mendSync(s state, i int) {
	w := &s.writers[i]
	failed := s
	if !x.p.NoRepairSync && failed.fault(&failed.left.FailedSyncs) {
		failed.disk.failSync(func(d disk) {
			after := failed
			after.disk = d
			after.free(i)
			x.say(i, "repair: sync fails, reported as uncertain", after)
		})
	}
	w.at = mendPublish
	if x.p.NoRepairSync {
		x.say(i, "repair: goes on without a sync", s)
		return
	}
	s.disk.sync()
	x.say(i, "repair: sync", s)
}
