package explorer

// ExploreFiles visits every state that the publication of artifacts can come to
// within the bounds, and stops at the first broken promise. What it takes for
// granted, that a record is there once it is synced, Explore proves.
func ExploreFiles(p FileProtocol, b FileBounds) Result {
	judge := func(s fileState) string {
		if broken := s.broken(); broken != "" {
			return broken
		}
		if stuckOnFiles(p, s) {
			return "the next report is not recorded, and nothing stands in its way"
		}
		return ""
	}
	return explore(firstFiles(b), judge, func(s fileState, emit func(fileStep)) { fileWalk{p, emit}.all(s) })
}

// stuckOnFiles tells whether, with nobody at work and no further trouble, a report that
// comes now is not recorded, nor the next one, though every place is as the
// pending record wants it.
func stuckOnFiles(p FileProtocol, s fileState) bool {
	if s.writers != [2]fileWriter{} || s.newest+2 >= maxContents {
		return false
	}
	for r := range s.runs {
		if line, ok := s.runs[r].pending(); s.runs[r].n+8 > maxLines || ok && !s.fits(line) {
			return false // the way out is to move it away, or to give the files up
		}
	}
	s.left = FileBounds{Missions: s.left.Missions, Calls: 2} // the first one finishes what is left over and may be stale by it
	before := s.acked
	for s.acked == before && (s.left.Calls > 0 || s.writers[0].at != away) {
		next := fileStep{}
		x := fileWalk{p: p, emit: func(offered fileStep) { next = offered }}
		x.writer(s, 0)
		if next.who == "" {
			return true
		}
		s = next.after
	}
	return s.acked == before
}
