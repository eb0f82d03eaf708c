package explorer

import (
	"fmt"
	"strings"
)

// LaneProtocol says which rules are taken out of the work on a package whose
// lanes lie in a log outside of the run. The zero value is the protocol as built.
type LaneProtocol struct {
	NoOuterLock bool // the log's own lock is not held from the reading to the record
	RecordFirst bool // the record comes before the move in the log
	NoMoveSync  bool // the record is written before the move is durable in the log
	NoRelySync  bool // a move that is found there is relied on as if it were durable
	NoHandAgain bool // whom the log has as holder without an issue is not handed one
	NoOwnMove   bool // a report does not know its own move again
}

// LaneBounds limit a walk over one package.
type LaneBounds struct {
	Calls         uint8 // of agents: they claim what is free and report what they have
	Kills         uint8
	PowerFailures uint8
	Strangers     uint8 // claims by the tool that keeps the log, under its lock
}

const (
	maxMoves = 6
	stranger = 3 // as a holder; agents are 1 and 2
)

// laneLine is a line of the log, or of the run's journal: a holder, and whether
// the package is done with it.
type laneLine struct {
	by   uint8 // 0: no line
	done bool
}

// laneFile is a row of lines, of which the last may be not durable. The log's
// lines are moves, the journal's are issues and reports.
type laneFile struct {
	lines  [maxMoves]laneLine
	n      uint8
	synced uint8
}

func (f *laneFile) last() laneLine {
	if f.n == 0 {
		return laneLine{}
	}
	return f.lines[f.n-1]
}

func (f *laneFile) append(l laneLine) {
	f.lines[f.n] = l
	f.n++
}

func (f *laneFile) has(l laneLine) (times int) {
	for _, line := range f.lines {
		if line == l {
			times++
		}
	}
	return times
}

// cut is the file after a power failure that left n lines.
func (f laneFile) cut(n uint8) laneFile {
	for i := n; i < f.n; i++ {
		f.lines[i] = laneLine{}
	}
	f.n, f.synced = n, n
	return f
}

// laneState is everything that decides what can happen next.
type laneState struct {
	log     laneFile
	run     laneFile
	holder  uint8       // who has the log's lock; 0: nobody
	writers [2]laneWork // of agents 1 and 2
	acked   [maxMoves]laneLine
	told    uint8 // lines in acked
	left    LaneBounds
}

type laneWork struct {
	at   lanePlace
	move laneLine // that it makes
	log  laneLine // what it read
}

type lanePlace uint8

const (
	notAtIt lanePlace = iota
	readingLanes
	movingLog
	syncingLog
	writingRecord
	syncingRecord
	answering
)

// broken says which promise does not hold, or "".
func (s laneState) broken() string {
	for i := range s.told {
		if s.run.has(s.acked[i]) == 0 {
			return "what was acknowledged is lost"
		}
	}
	for _, line := range s.log.lines {
		if line.by != 0 && s.log.has(line) > 1 {
			return "a move is in the log twice"
		}
	}
	holders := map[uint8]bool{}
	for _, line := range s.run.lines {
		if line.by == 0 {
			continue
		}
		if s.log.has(line) == 0 {
			return "the run is ahead of the log"
		}
		holders[line.by] = true
	}
	if len(holders) > 1 || len(holders) == 1 && s.log.has(laneLine{by: stranger}) > 0 {
		return "a package is with two holders"
	}
	return ""
}

func (s laneState) String() string {
	show := func(f laneFile) string {
		var b strings.Builder
		for i := range f.n {
			fmt.Fprintf(&b, " %d", f.lines[i].by)
			if f.lines[i].done {
				b.WriteString(" done")
			}
			if i >= f.synced {
				b.WriteByte('?')
			}
		}
		return b.String()
	}
	return fmt.Sprintf("log [%s ] run [%s ]", show(s.log), show(s.run))
}
