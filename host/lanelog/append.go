package lanelog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// logLimit bounds what is read, as in the package lanes.
const logLimit = 64 << 20

// Batch is what one commit of a run does to a lane log.
type Batch struct {
	Run       string // id of the run
	Revision  uint64 // of the record that follows
	Slug      string // the mission's folder
	MissionID string // "" where meta.json has none
	Worktrees map[string]bool
	Moves     []Move // none: only that what was read stays
}

// Append writes the moves at the end of the log in the mission's folder dir, in
// order, each dated at least a microsecond after all before it. The caller holds
// the log's lock. What was read before is made durable with them: a line that
// some process wrote and did not live to sync must not be lost once a record
// relies on it. now is the caller's clock.
//
// Errors: *lanes.FileError for a damaged log; *CutError, nothing is written;
// *UncertainError, the moves may be there: the lanes are read again.
func Append(disk durable.Disk, dir string, now time.Time, b Batch) error {
	path := filepath.Join(dir, lanes.LogFile)
	f, err := disk.OpenFile(path, os.O_RDWR, 0)
	if not := new(durable.NotRegularError); errors.As(err, &not) {
		return &lanes.FileError{Path: path, Why: "it is " + not.Kind() + ", not a file, and is not written to", Fix: "put the lane log itself there", Err: err}
	}
	if err != nil {
		return &CutError{Path: path, Err: err}
	}
	defer f.Close() // nothing is written in a close that a sync did not cover
	w, err := open(f, path)
	if err != nil {
		return err
	}
	lines, err := b.lines(w.log, now)
	if err != nil {
		return err
	}
	return w.append(lines)
}

// lines are the moves as lines. Each follows the one before it.
func (b Batch) lines(log lanes.Log, now time.Time) ([][]byte, error) {
	at := now.UTC().Truncate(time.Microsecond)
	places := map[string]lanes.Position{}
	var all [][]byte
	for _, m := range b.Moves {
		if !at.After(log.Last) {
			at = log.Last.UTC().Truncate(time.Microsecond).Add(time.Microsecond)
		}
		place, moved := places[m.Package]
		if !moved {
			place = log.At(m.Package)
		}
		id, err := eventID(b.Run, place, at, m)
		if err != nil {
			return nil, fmt.Errorf("name the move of %s: %w", m.Package, err)
		}
		line, err := b.line(m, stamp{id: id, at: at})
		if err != nil {
			return nil, fmt.Errorf("write the move of %s: %w", m.Package, err)
		}
		all = append(all, line)
		place.Latest, place.Since, log.Last = id, at, at
		places[m.Package] = place
	}
	return all, nil
}

// writer is an open log, as it was read.
type writer struct {
	file durable.File
	path string
	log  lanes.Log
	last []byte // the last whole line, with its newline where it has one
	size int64  // of the file
	end  int64  // of the whole lines
	bare bool   // the last whole line has no newline
}

func open(f durable.File, path string) (*writer, error) {
	w := &writer{file: f, path: path}
	size, err := f.Size()
	if err == nil && size > logLimit {
		err = fmt.Errorf("%d bytes are more than the %d that are read", size, int64(logLimit))
	}
	if err != nil {
		return nil, &CutError{Path: path, Err: err}
	}
	data := make([]byte, size)
	if n, err := f.ReadAt(data, 0); int64(n) < size {
		return nil, &CutError{Path: path, Err: err}
	}
	if w.log, err = lanes.ParseLog(path, data); err != nil {
		return nil, err
	}
	tail := lanes.TailOf(data)
	w.last, w.size, w.end, w.bare = data[tail.Last:tail.Length], size, int64(tail.Length), !tail.Ended
	return w, nil
}

// append writes line by line. The first write is the last line's same bytes once
// more: its sync may have failed, and then another one proves nothing for pages
// that are marked clean.
//
//	cut what a dead writer left unfinished     sync
//	the last line again, its newline           sync
//	each line of ours                          sync
//
// A crash between two syncs leaves one line unfinished at most, at the end, where
// readers do not count it and the next writer cuts it off.
func (w *writer) append(lines [][]byte) error {
	if w.size > w.end {
		if err := w.cut(); err != nil {
			return err
		}
	}
	again := w.last
	if w.bare {
		again = append(append([]byte{}, again...), '\n')
	}
	start := w.end - int64(len(w.last))
	if err := w.write(again, start); err != nil {
		return &UncertainError{Path: w.path, Err: err}
	}
	first := start + int64(len(again))
	at := first
	for _, line := range lines {
		if err := w.write(line, at); err != nil {
			return w.takeBack(first, err)
		}
		at += int64(len(line))
	}
	return nil
}

func (w *writer) write(line []byte, at int64) error {
	if _, err := w.file.WriteAt(line, at); err != nil {
		return err
	}
	return w.file.Sync()
}

// cut takes an unfinished line away: nobody writes it any more, whose lock is
// held here.
func (w *writer) cut() error {
	err := w.file.Truncate(w.end)
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		return &UncertainError{Path: w.path, Err: fmt.Errorf("take an unfinished last line away: %w", err)}
	}
	return nil
}

// takeBack removes what was written of the batch: a refusal leaves no trace.
func (w *writer) takeBack(first int64, cause error) error {
	err := w.file.Truncate(first)
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		return &UncertainError{Path: w.path, Err: errors.Join(cause, err)}
	}
	return &CutError{Path: w.path, Err: cause}
}
