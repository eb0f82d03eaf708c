package lanes

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/host/mission"
)

// logLimit bounds what is read; the largest log seen has 120 KB.
const logLimit = 64 << 20

// Log is what a lane log says.
type Log struct {
	// Positions are the packages with at least one move, sorted by id, also those
	// that have no file. A package without a move lies in mission.Genesis.
	Positions []Position
	Digest    string    // SHA-256 of the log's bytes, hex
	Last      time.Time // of the latest move, or note of who works; zero without one
	Warnings  []Warning
}

// Position is where one package lies and whose it is. Holder and Author are ""
// where no agent is known: the existing tool writes its own names, such as user
// or migration, in their place.
type Position struct {
	Package string
	Lane    mission.Lane
	From    mission.Lane // the lane before it; "" for none
	Holder  string       // who works on it in this lane
	Author  string       // who did the work that was handed in last
	Since   time.Time    // of the move into the lane
	EventID string       // of that move
	Latest  string       // event id of the newest line about the package, notes too

	// What only our own lines say; "" else.
	Worker       string            // of Holder
	AuthorWorker string            // of Author
	Ended        string            // token of the issue whose report moved the package last
	Revisions    map[string]uint64 // by run: of its newest line about the package; nil: none has one
}

// At finds a package; one without a move lies in mission.Genesis.
func (l Log) At(id string) Position {
	for _, p := range l.Positions {
		if p.Package == id {
			return p
		}
	}
	return Position{Package: id, Lane: mission.Genesis}
}

// LogReader reads one mission's lane log, again and again: bytes that did not
// change are not parsed a second time. It may be used by any number of
// goroutines.
type LogReader struct {
	dir string

	mu   sync.Mutex
	last *Log // of the bytes read last; guarded by mu
}

// NewLogReader reads the lane log in the mission's folder dir. It opens nothing.
func NewLogReader(dir string) *LogReader { return &LogReader{dir: dir} }

// Read reads the log now. A log that is not there, or holds a line that is not
// as the existing tool writes it, is a *FileError; an unfinished last line is a
// warning. Callers do not change what they get.
func (r *LogReader) Read() (Log, error) {
	data, err := r.bytes()
	if err != nil {
		return Log{}, err
	}
	digest := digestOf(data)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && r.last.Digest == digest {
		return *r.last, nil
	}
	log, err := ParseLog(filepath.Join(r.dir, LogFile), data)
	if err != nil {
		return Log{}, err
	}
	r.last = &log
	return log, nil
}

func (r *LogReader) bytes() ([]byte, error) {
	path := filepath.Join(r.dir, LogFile)
	root, err := readonly.Folder(r.dir)
	if err != nil {
		return nil, &FileError{Path: path, Why: err.Error(), Err: err}
	}
	defer root.Close()
	data, _, err := readonly.File(root, LogFile, logLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &FileError{Path: path, Why: "the lane log is not there", Err: err,
			Fix: `let the existing tool make it, or set source = "journal" in [work_packages]`}
	}
	if err != nil {
		return nil, &FileError{Path: path, Why: err.Error(), Err: err}
	}
	return data, nil
}
