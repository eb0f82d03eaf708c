package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/lanes"
)

// The codes of what keeps a call from recording, though all bytes are sound.
const (
	notWritable  = "not_writable"  // a place that is written to
	lockUnusable = "lock_unusable" // a lock that cannot be tried
)

// places notes where nothing can be written, and missions that cannot be looked
// through: no report is recorded then, however sound the runs are.
func (e *examination) places(context.Context) error {
	there := slices.DeleteFunc(e.keeper.Places(), func(path string) bool { return !exists(path) })
	if len(there) == 0 {
		there = []string{existing(e.StateRoot)}
	}
	for _, path := range there {
		if e.readOnly = isReadOnly(e.place("", path)); e.readOnly {
			break // all below it is so too
		}
	}
	if _, _, err := lanes.List(e.p.Config.SpecsDir()); err != nil {
		e.specsFault = err
		e.find(Finding{Level: LevelWarning, Code: string(CodeNotRecorded), Message: err.Error(),
			Fix: "let " + e.p.Config.SpecsDir() + " be the folder of the missions, that this user can read; until then nobody can work on any mission"})
	}
	return nil
}

// place notes a place that may not be written, and gives the reason.
func (e *examination) place(run, path string) error {
	err := mayWrite(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil // what is missing, or of another kind, is told by who looks for it
	}
	fix := "let this user write to it"
	if isReadOnly(err) {
		fix = "mount its file system for writing"
	}
	e.find(Finding{Level: LevelWarning, Code: notWritable, RunID: run, Message: fmt.Sprintf("%s cannot be written: %v", path, err),
		Fix: fix + "; until then nothing is recorded there, and all that only looks goes on"})
	return err
}

// writable notes what a commit on the run writes to and may not.
func (e *examination) writable(h RunHealth, store Store) {
	m, ok := store.(commit.Mender)
	if !ok || e.readOnly || h.Damaged || h.Newer || over(h.MissionState) {
		return
	}
	for _, path := range m.Written() {
		if isReadOnly(e.place(h.RunID, path)) {
			return
		}
	}
}

// unwritten is why nothing can be recorded on a run, as the findings have it.
func (d Diagnosis) unwritten(run string) []string {
	var all []string
	for _, f := range d.Findings {
		if (f.Code == notWritable || f.Code == lockUnusable) && (f.RunID == run || f.RunID == "") {
			all = append(all, f.Message+" ("+f.Fix+")")
		}
	}
	return all
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// existing is path, or the nearest folder above it that is there.
func existing(path string) string {
	for !exists(path) && filepath.Dir(path) != path {
		path = filepath.Dir(path)
	}
	return path
}
