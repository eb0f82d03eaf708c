package explorer

// fileStep is one thing that happens.
type fileStep = stepTo[fileState]

// fileWalk gives the steps from a state under a protocol.
type fileWalk struct {
	p    FileProtocol
	emit func(fileStep)
}

func (x fileWalk) all(s fileState) {
	x.writer(s, 0)
	x.writer(s, 1)
	x.edit(s)
	x.powerFailure(s)
}

func (x fileWalk) say(i int, what string, after fileState) {
	x.emit(fileStep{who: writerName(i), what: what, after: after})
}

func (s *fileState) freeFiles(i int) {
	if s.holder == uint8(i+1) {
		s.holder = 0
	}
	s.writers[i] = fileWriter{}
}

// writer gives the next steps of report i, and its kill.
func (x fileWalk) writer(s fileState, i int) {
	w := &s.writers[i]
	switch w.at {
	case away:
		if s.left.Calls == 0 || s.newest+1 >= maxContents || s.runs[s.own(i)].n+4 > maxLines {
			return
		}
		s.left.Calls--
		*w = fileWriter{at: evaluated, seen: s.file, run: s.own(i)}
		x.say(i, "the executor answers", s)
		return
	case evaluated:
		if s.holder == 0 {
			s.holder = uint8(i + 1)
			w.at = loading
			if s.left.Missions == twoRuns {
				w.at = others
			}
			x.say(i, "lock", s)
		}
	case others, enrolling:
		x.enroll(s, i)
	case loading:
		x.loaded(s, i)
	case finishLook, finishFirst, finishSecond, finishSync, finishRecord:
		x.finish(s, i)
	case comparing, recording, committing:
		x.record(s, i)
	case looking, makingFirst, makingSecond, makingSync, telling:
		x.make(s, i)
	case leaving:
		s.freeFiles(i)
		x.say(i, "unlock: the report is answered", s)
	}
	if s.writers[i].at != away && s.left.Kills > 0 {
		s.left.Kills--
		s.freeFiles(i)
		x.say(i, "is killed", s)
	}
}

// enroll finishes what another mission left, or makes durable that nothing is, and
// names its own run.
func (x fileWalk) enroll(s fileState, i int) {
	w := &s.writers[i]
	if w.at == enrolling {
		s.runs = [twoRuns]fileRun{s.runs[0].renamed(w.run == 0), s.runs[1].renamed(w.run == 1)}
		w.at = loading
		x.say(i, "name the run that will publish, sync", s)
		return
	}
	w.at = enrolling
	other := (s.own(i) + 1) % twoRuns
	run := &s.runs[other]
	if line, left := run.pending(); run.named && left && !x.p.NoOthers {
		w.at, w.made, w.run = finishLook, line.made, other
		run.synced = run.n
	} else if run.named && !x.p.NoSettle {
		run.synced = run.n
	}
	x.say(i, "load the other run, repair", s)
}

func (r fileRun) renamed(named bool) fileRun {
	r.named = named
	return r
}

// loaded repairs, which makes the last record durable, and sees what is pending.
func (x fileWalk) loaded(s fileState, i int) {
	w := &s.writers[i]
	run := &s.runs[w.run]
	run.synced = run.n
	w.at = comparing
	if line, ok := run.pending(); ok && !x.p.NoFinish {
		w.at, w.made = finishLook, line.made
	}
	x.say(i, "load, repair", s)
}

// fits tells whether what stands in both places is what the record replaces, or
// its own.
func (s *fileState) fits(r fileRecord) bool {
	for f, now := range s.file {
		if now != r.replaces[f] && now != r.made {
			return false
		}
	}
	return true
}

// finish makes what a dead writer left.
func (x fileWalk) finish(s fileState, i int) {
	w := &s.writers[i]
	run := &s.runs[w.run]
	line, _ := run.pending()
	switch w.at {
	case finishLook:
		if !s.fits(line) && !x.p.NoLook {
			x.conflict(s, i)
			return
		}
		w.at = finishFirst
		x.say(i, "finish: look at the places", s)
	case finishFirst, finishSecond:
		f := int(w.at - finishFirst)
		w.at++
		x.put(s, i, f, line)
	case finishSync:
		w.at = finishRecord
		x.syncFolders(s, i)
	default:
		run.append(fileRecord{kind: published})
		run.synced = run.n
		w.at = comparing
		if w.run != s.own(i) {
			w.at, w.run = enrolling, s.own(i)
		}
		x.say(i, "finish: record that the files are made, sync", s)
	}
}

// conflict refuses the report; or an operator gives the files up.
func (x fileWalk) conflict(s fileState, i int) {
	given := s
	run := &given.runs[given.writers[i].run]
	run.append(fileRecord{kind: discarded})
	run.synced = run.n
	given.freeFiles(i)
	x.say(i, "finish: other content stands there; the files are given up", given)
	s.freeFiles(i)
	x.say(i, "finish: other content stands there, refused", s)
}

// put makes one file, under its own name at once.
func (x fileWalk) put(s fileState, i, f int, r fileRecord) {
	said := fileStep{who: writerName(i), what: "make a file"}
	if now := s.file[f]; now != r.replaces[f] && now != r.made {
		said.broken = "somebody's file was overwritten"
	}
	if _, there := s.carried(r.made); !there {
		said.broken = "a file is made of a report that is not recorded"
	}
	s.file[f] = r.made
	s.may[f] |= 1 << r.made
	said.after = s
	x.emit(said)
}

func (x fileWalk) syncFolders(s fileState, i int) {
	if x.p.NoFolderSync {
		x.say(i, "leave the files to the system", s)
		return
	}
	for f, now := range s.file {
		s.may[f] = 1 << now
	}
	x.say(i, "sync the files and folders", s)
}

// record compares, records and commits.
func (x fileWalk) record(s fileState, i int) {
	w := &s.writers[i]
	run := &s.runs[w.run]
	switch w.at {
	case comparing:
		if w.seen != s.file && !x.p.NoCompare {
			s.freeFiles(i)
			x.say(i, "decide: a file changed since the executor's answer, refused", s)
			return
		}
		s.newest++
		w.made = s.newest
		w.at = recording
		if x.p.MadeFirst {
			w.at = makingFirst
		}
		x.say(i, "decide", s)
	case recording:
		run.append(fileRecord{kind: carries, made: w.made, replaces: w.seen})
		w.at = committing
		x.say(i, "append the record", s)
	default:
		run.synced = run.n
		s.acked |= 1 << w.made
		w.at = looking
		x.say(i, "sync: the report is acknowledged", s)
	}
}

// make makes the files of the record that was just committed.
func (x fileWalk) make(s fileState, i int) {
	w := &s.writers[i]
	line := fileRecord{kind: carries, made: w.made, replaces: w.seen}
	switch w.at {
	case looking:
		w.at = makingFirst
		if !s.fits(line) && !x.p.NoLook {
			w.at = leaving
			x.say(i, "other content stands there: a warning", s)
			return
		}
		x.say(i, "look at the places", s)
	case makingFirst, makingSecond:
		f := int(w.at - makingFirst)
		w.at++
		if _, there := s.carried(w.made); f == 1 && !there {
			w.at = recording
		}
		x.put(s, i, f, line)
	case makingSync:
		w.at = telling
		x.syncFolders(s, i)
	default:
		s.runs[w.run].append(fileRecord{kind: published})
		w.at = leaving
		x.say(i, "record that the files are made", s)
	}
}

// edit is somebody who writes to a file: at any time but between the last look
// at the places and the making of the files, which nothing can notice.
func (x fileWalk) edit(s fileState) {
	if s.left.Edits == 0 || s.newest+1 >= maxContents {
		return
	}
	for _, w := range s.writers {
		if w.at == finishFirst || w.at == finishSecond || w.at == makingFirst || w.at == makingSecond {
			return
		}
	}
	s.left.Edits--
	s.newest++
	for f := range s.file {
		after := s
		after.file[f] = s.newest
		after.may[f] |= 1 << s.newest
		x.emit(fileStep{who: "somebody", what: "writes to a file", after: after})
	}
}

// powerFailure ends everybody, takes the last record if it was not synced, or
// not, and leaves each file as one of what it may be.
func (x fileWalk) powerFailure(s fileState) {
	if s.left.PowerFailures == 0 {
		return
	}
	s.left.PowerFailures--
	s.writers, s.holder = [2]fileWriter{}, 0
	x.tornRun(s, 0, func(s fileState) {
		x.tornRun(s, 1, func(s fileState) { x.tornFiles(s) })
	})
}

// tornRun takes a run's last records that were not synced, or not, and its name among
// the publishers where that was not either.
func (x fileWalk) tornRun(s fileState, r int, then func(fileState)) {
	for n := s.runs[r].synced; n <= s.runs[r].n; n++ {
		after := s
		run := &after.runs[r]
		clear(run.lines[n:])
		run.n, run.synced = n, n
		then(after)
		if run.named && x.p.NameUnsynced {
			run.named = false
			then(after)
		}
	}
}

func (x fileWalk) tornFiles(s fileState) {
	for a := content(0); a < maxContents; a++ {
		for b := content(0); b < maxContents; b++ {
			if s.may[0]&(1<<a) == 0 || s.may[1]&(1<<b) == 0 {
				continue
			}
			after := s
			after.file, after.may = [twoFiles]content{a, b}, [twoFiles]uint8{1 << a, 1 << b}
			x.emit(fileStep{who: "world", what: "power failure", after: after})
		}
	}
}
