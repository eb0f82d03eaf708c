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
}

// FileBounds limit a walk of the publication.
type FileBounds struct {
	Calls         uint8 // reports with artifacts
	Kills         uint8
	PowerFailures uint8
	Edits         uint8 // writes to the files by somebody else
}

const (
	maxContents = 8  // contents ever made, none included
	maxLines    = 12 // records
	twoFiles    = 2
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

// fileState is everything that decides what can happen next.
type fileState struct {
	lines  [maxLines]fileRecord
	n      uint8 // records
	synced uint8 // of them durable
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
}

type filePlace uint8

const (
	away filePlace = iota
	evaluated
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

// pending is the record whose files are to be made.
func (s *fileState) pending() (fileRecord, bool) {
	if s.n == 0 || s.lines[s.n-1].kind != carries {
		return fileRecord{}, false
	}
	return s.lines[s.n-1], true
}

func (s *fileState) append(r fileRecord) {
	s.lines[s.n] = r
	s.n++
}

func (s *fileState) carried(c content) (at uint8, ok bool) {
	for i := range s.n {
		if s.lines[i].kind == carries && s.lines[i].made == c {
			return i, true
		}
	}
	return 0, false
}

// broken says which promise does not hold, or "".
func (s *fileState) broken() string {
	for i := range s.n {
		line := s.lines[i]
		switch {
		case line.kind == carries && i+1 < s.n && s.lines[i+1].kind == carries:
			return "the files of a record were never made"
		case line.kind == published && (s.file[0] < s.lines[i-1].made || s.file[1] < s.lines[i-1].made):
			return "files that a record says are made are lost"
		}
	}
	for c := content(1); c < maxContents; c++ {
		if _, ok := s.carried(c); s.acked&(1<<c) != 0 && !ok {
			return "an acknowledged report is lost"
		}
	}
	return ""
}

func (s fileState) String() string {
	var b strings.Builder
	for i := range s.n {
		line := s.lines[i]
		mark := ""
		if i >= s.synced {
			mark = "?"
		}
		fmt.Fprintf(&b, "%s%s ", [...]string{"", fmt.Sprint("carries ", line.made), "published", "discarded"}[line.kind], mark)
	}
	return fmt.Sprintf("[ %s] files %d %d", b.String(), s.file[0], s.file[1])
}
