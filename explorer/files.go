package explorer

import (
	"fmt"
	"strings"
)

// FileProtocol says which rules are taken out of the publication of artifacts.
// The zero value is the protocol as built.
type FileProtocol struct {
	MadeFirst    bool // the files are made before their record
	NoLook       bool // what stands in a place is not compared right before the files are made
	NoCompare    bool // nor under the lock with what the executor's answer was to replace
	NoFinish     bool // what a dead writer left unmade is not finished first
	NoFolderSync bool // that files are made is recorded before they are durable
	NoOthers     bool // what another mission's dead writer left is not finished first
	NameUnsynced bool // who publishes is named, and that may go with the power
	NoSettle     bool // another mission's files are made, and the record of that is left to the system
}

// FileBounds limit a walk of the publication. With two missions each report is of its
// own run, and the lock is that of the project's artifacts.
type FileBounds struct {
	Missions      uint8 // 1 or 2
	Calls         uint8 // reports with artifacts
	Kills         uint8
	PowerFailures uint8
	Edits         uint8 // writes to the files by somebody else
}

const (
	maxContents = 8  // contents ever made, none included
	maxLines    = 12 // records
	twoFiles    = 2
	twoRuns     = 2
)

// content names what a file has: none is 0; reports and strangers make new ones,
// each greater than all before.
type content uint8

// record is one line of the journal. Whether it can be read is another model's
// matter (Protocol): here it is there, or lost with the power if it is the last
// one and not synced.
type fileRecord struct {
	kind     recordKind
	made     content // of both files
	replaces [twoFiles]content
}

type recordKind uint8

const (
	noRecordKind recordKind = iota
	carries                 // a report with two files
	published               // the files of the one before are made
	discarded               // they will not be
)

// fileRun is the journal of a mission's run.
type fileRun struct {
	lines  [maxLines]fileRecord
	n      uint8 // records
	synced uint8 // of them durable
	named  bool  // among those that may have left files unmade
}

// fileState is everything that decides what can happen next.
type fileState struct {
	runs   [twoRuns]fileRun
	newest content

	file [twoFiles]content // as programs see them
	may  [twoFiles]uint8   // set of contents that the power can leave

	acked   uint8 // set of contents whose report was acknowledged
	holder  uint8 // writer that has the lock, 1 or 2; 0: nobody
	writers [2]fileWriter
	left    FileBounds
}

// fileWriter is one report at work.
type fileWriter struct {
	at   filePlace
	seen [twoFiles]content // when its executor was asked
	made content           // what it makes; in a finish, what is finished
	run  uint8             // that it records in, or that it finishes for
}

type filePlace uint8

const (
	away filePlace = iota
	evaluated
	others
	enrolling
	loading
	finishLook
	finishFirst
	finishSecond
	finishSync
	finishRecord
	comparing
	recording
	committing
	looking
	makingFirst
	makingSecond
	makingSync
	telling
	leaving
)

func firstFiles(b FileBounds) fileState {
	return fileState{may: [twoFiles]uint8{1, 1}, left: b}
}

// own is the run of report i.
func (s *fileState) own(i int) uint8 { return uint8(i) % s.left.Missions }

// pending is the record whose files are to be made.
func (r *fileRun) pending() (fileRecord, bool) {
	if r.n == 0 || r.lines[r.n-1].kind != carries {
		return fileRecord{}, false
	}
	return r.lines[r.n-1], true
}

func (r *fileRun) append(line fileRecord) {
	r.lines[r.n] = line
	r.n++
}

// carried tells which run has the record of a content.
func (s *fileState) carried(c content) (run uint8, ok bool) {
	for r := range s.runs {
		for _, line := range s.runs[r].lines[:s.runs[r].n] {
			if line.kind == carries && line.made == c {
				return uint8(r), true
			}
		}
	}
	return 0, false
}

// broken says which promise does not hold, or "".
func (s *fileState) broken() string {
	for r := range s.runs {
		if broken := s.brokenIn(uint8(r)); broken != "" {
			return broken
		}
	}
	for c := content(1); c < maxContents; c++ {
		if _, ok := s.carried(c); s.acked&(1<<c) != 0 && !ok {
			return "an acknowledged report is lost"
		}
	}
	return ""
}

func (s *fileState) brokenIn(r uint8) string {
	run := &s.runs[r]
	for i := range run.n {
		line := run.lines[i]
		switch {
		case line.kind == carries && i+1 < run.n && run.lines[i+1].kind == carries:
			return "the files of a record were never made"
		case line.kind == published && (s.file[0] < run.lines[i-1].made || s.file[1] < run.lines[i-1].made):
			return "files that a record says are made are lost"
		}
	}
	line, ok := run.pending()
	for f, now := range s.file {
		by, theirs := s.carried(now)
		if ok && theirs && by != r && now > line.made && now != line.replaces[f] {
			return "another mission's files shut a record's files out"
		}
	}
	return ""
}

func (s fileState) String() string {
	var b strings.Builder
	for r := range s.left.Missions {
		b.WriteString("[ ")
		for i, line := range s.runs[r].lines[:s.runs[r].n] {
			mark := ""
			if i >= int(s.runs[r].synced) {
				mark = "?"
			}
			fmt.Fprintf(&b, "%s%s ", [...]string{"", fmt.Sprint("carries ", line.made), "published", "discarded"}[line.kind], mark)
		}
		b.WriteString("] ")
	}
	return fmt.Sprintf("%sfiles %d %d", b.String(), s.file[0], s.file[1])
}
