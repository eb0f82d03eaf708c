package lanes

import (
	"fmt"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// FileError says that a file of a mission's folder cannot be used as it is.
type FileError struct {
	Path string
	Line int // from 1; 0 where none can be named
	Why  string
	Fix  string // what to do; may be empty
	Err  error  // the cause below; may be nil
}

func (e *FileError) Error() string {
	text := e.Path
	if e.Line > 0 {
		text = fmt.Sprintf("%s:%d", e.Path, e.Line)
	}
	text += ": " + e.Why
	if e.Fix != "" {
		text += " (" + e.Fix + ")"
	}
	return text
}

func (e *FileError) Unwrap() error { return e.Err }

// NotFoundError says that no mission goes by a handle.
type NotFoundError struct {
	Handle     string
	Dir        string   // the folder of missions that was looked through
	Near       []string // slugs that look like the handle, nearest first
	Unreadable []string // missions whose meta.json could not be read, with why
}

func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("no mission %q in %s", e.Handle, e.Dir)
	if len(e.Near) > 0 {
		text += ": did you mean " + strings.Join(e.Near, ", ") + "?"
	}
	if len(e.Unreadable) > 0 {
		text += "; could not be looked at: " + strings.Join(e.Unreadable, "; ")
	}
	return text
}

// AmbiguousError says that several missions go by a handle.
type AmbiguousError struct {
	Handle     string
	Candidates []string // slugs, sorted
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("mission %q can be any of %s: use one of these names", e.Handle, strings.Join(e.Candidates, ", "))
}

// InvalidHandleError says that a handle can name no mission at all.
type InvalidHandleError struct {
	Handle string
	Why    string
}

func (e *InvalidHandleError) Error() string {
	return fmt.Sprintf("mission %.*q: %s", mission.MaxName, e.Handle, e.Why)
}

// CoordError says that a mission's lane log is kept in another worktree, which
// this program does not write to.
type CoordError struct {
	Slug     string
	Topology string
	Worktree string // absolute path of the worktree that has the log
}

func (e *CoordError) Error() string {
	return fmt.Sprintf("mission %s has topology %s: its lane log is kept in the worktree %s; "+
		"use the existing tool for it, or flatten the mission first", e.Slug, e.Topology, e.Worktree)
}
