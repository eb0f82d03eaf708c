package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/importer"
	"github.com/spec-kitty/step-runner/host/lanes"
)

// Code names an error that is no answer. The program's exit code follows from
// it.
type Code string

// The codes of errors.
const (
	CodeRunExists         Code = "run_exists"
	CodeAlreadyExists     Code = "already_exists"
	CodeNothingIssued     Code = "nothing_issued"
	CodeDecisionConflict  Code = "decision_conflict"
	CodeStaleDecision     Code = "stale_decision"
	CodeAuditNeedsHuman   Code = "audit_needs_human"
	CodeUsage             Code = "usage"
	CodeInvalidAnswer     Code = "invalid_answer"
	CodeDefinitionInvalid Code = "definition_invalid"
	CodeMissionNotFound   Code = "MISSION_NOT_FOUND"
	CodeMissionAmbiguous  Code = "MISSION_AMBIGUOUS"
	CodeNotFound          Code = "not_found"
	CodeAmbiguous         Code = "ambiguous"
	CodeRunNotFound       Code = "run_not_found"
	CodeStateDamaged      Code = "state_damaged"
	CodeRunMissing        Code = "run_missing"
	CodeTwoWriters        Code = "two_writers"
	CodeNewerFormat       Code = "newer_format"
	CodeNotTrusted        Code = "not_trusted"
	CodeNotRecorded       Code = "not_recorded"
	CodeInternal          Code = "internal"
)

// Error is a call that has no answer: what is wrong, where, and what to do.
type Error struct {
	Code       Code
	Message    string
	NextStep   string   // what to do, a sentence
	Recover    []string // commands
	File       string
	Line       int
	Candidates []string
	Problems   []Problem // of a definition or configuration, all at once
	Err        error
}

// Problem is one fault of a file.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`             // 0: not known
	Column  int    `json:"column,omitempty"` // 0: not known
	Path    string `json:"path"`
	Message string `json:"message"`
	Near    string `json:"near"`
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

func fail(code Code, next, format string, args ...any) *Error {
	return &Error{Code: code, NextStep: next, Message: fmt.Sprintf(format, args...)}
}

// classify gives every error of the packages below its code. What it does not
// know is internal.
func classify(err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	for _, in := range []func(error) *Error{fromConfig, fromImporter, fromLanes, fromCommit, fromRefusal} {
		if e := in(err); e != nil {
			e.Err = err
			return e
		}
	}
	if fromSystem(err) {
		return &Error{Code: CodeNotRecorded, Message: err.Error(), NextStep: "look at the file's place and permissions, then call again", Err: err}
	}
	return &Error{Code: CodeInternal, Message: err.Error(), NextStep: "this is a fault of the program: please report it with this message", Err: err}
}

// fromSystem tells whether the operating system refused something: a place that
// cannot be written or read is no fault of the program.
func fromSystem(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	var call *os.SyscallError
	return errors.As(err, &path) || errors.As(err, &link) || errors.As(err, &call) ||
		errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)
}

func fromConfig(err error) *Error {
	var invalid *config.InvalidError
	var missing *config.NotFoundError
	var ambiguous *config.AmbiguousError
	switch {
	case errors.As(err, &invalid):
		e := fail(CodeDefinitionInvalid, "mend what is listed, then `spec-kitty mission validate`", "%s", invalid.Error())
		for _, p := range invalid.Problems {
			e.Problems = append(e.Problems, Problem{File: p.File, Line: p.Line, Path: p.Path, Message: p.Message, Near: p.Near})
		}
		if len(e.Problems) > 0 {
			e.File, e.Line = e.Problems[0].File, e.Problems[0].Line
		}
		return e
	case errors.As(err, &missing):
		e := fail(CodeNotFound, missing.Fix, "%s", missing.Error())
		e.Candidates = missing.Known
		return e
	case errors.As(err, &ambiguous):
		e := fail(CodeAmbiguous, "name one of the candidates", "%s", ambiguous.Error())
		e.Candidates = ambiguous.Candidates
		return e
	}
	return nil
}

func fromImporter(err error) *Error {
	var refused *importer.RefusedError
	if !errors.As(err, &refused) {
		return nil
	}
	e := fail(CodeDefinitionInvalid, "mend what is listed, then import again; nothing was written", "%s", refused.Error())
	for _, p := range refused.Problems {
		e.Problems = append(e.Problems, Problem{File: p.File, Line: p.Line, Column: p.Column, Path: p.Path, Message: p.Message, Near: p.Near})
	}
	e.File, e.Line = refused.Problems[0].File, refused.Problems[0].Line
	return e
}

func fromLanes(err error) *Error {
	var handle *lanes.InvalidHandleError
	var missing *lanes.NotFoundError
	var ambiguous *lanes.AmbiguousError
	var file *lanes.FileError
	var coord *lanes.CoordError
	switch {
	case errors.As(err, &handle):
		return fail(CodeUsage, "name a mission by its folder, number or the beginning of its id", "%s", handle.Error())
	case errors.As(err, &missing):
		e := fail(CodeMissionNotFound, "`spec-kitty mission list` shows the missions there are; `spec-kitty run start SLUG --type TYPE` makes a new one", "%s", missing.Error())
		e.Candidates = missing.Near
		return e
	case errors.As(err, &ambiguous):
		e := fail(CodeMissionAmbiguous, "name one of the candidates in full", "%s", ambiguous.Error())
		e.Candidates = ambiguous.Candidates
		return e
	case errors.As(err, &coord):
		return fail(CodeDefinitionInvalid, "call from the worktree that has the lane log", "%s", coord.Error())
	case errors.As(err, &file):
		e := fail(CodeDefinitionInvalid, file.Fix, "%s", err.Error())
		e.File, e.Line = file.Path, file.Line
		return e
	}
	return nil
}

func fromCommit(err error) *Error {
	var damaged *commit.DamagedError
	var two *commit.TwoWritersError
	var newer *commit.NewerFormatError
	var unappended *commit.AppendError
	var replaced *commit.ReplacedError
	var exists *commit.ExistsError
	var followed *commit.FollowedError
	var gone *commit.GoneError
	var owned *commit.OwnedError
	switch {
	case errors.As(err, &owned):
		return placed(fail(CodeDefinitionInvalid, fmt.Sprintf("name another folder in [runtime] dir of %s; if this project is that one, moved here or reached by another path, add %q to \"projects\" in %s", config.FileName, owned.Owner, owned.File), "%s", err), owned.File, 0)
	case errors.As(err, &gone):
		return fail(CodeRunMissing, "put the folder back; if it is gone for good, `spec-kitty run start "+quote(gone.Slug)+" --again` forgets it and starts anew", "%s", err)
	case errors.As(err, &damaged):
		fix := cmp.Or(damaged.Fix, "`spec-kitty doctor` says what is whole. Restore the run's folder from a copy, or move it out of the state folder and start anew with `spec-kitty run start SLUG --again`; the bytes were left as they are")
		return placed(fail(CodeStateDamaged, fix, "%s", err), damaged.File, damaged.Line)
	case errors.As(err, &two):
		return placed(fail(CodeTwoWriters, "find who else writes to this run, and keep one of the two: take the records of the other out of the journal, or restore the run's folder from a copy, or move it out of the state folder and start anew with `spec-kitty run start SLUG --again`; the bytes were left as they are", "%s", err), two.File, two.Line)
	case errors.As(err, &newer):
		return placed(fail(CodeNewerFormat, "use the newer version of spec-kitty", "%s", err), newer.File, newer.Line)
	case errors.As(err, &unappended):
		return fail(CodeNotRecorded, "make room or mend the permissions, then report again", "%s", err)
	case errors.As(err, &replaced):
		return placed(fail(CodeNotRecorded, "call again", "%s", err), replaced.Path, 0)
	case errors.As(err, &exists):
		return fail(CodeRunExists, "go on with it, or end it: `spec-kitty run show "+quote(exists.ID)+"` says how it stands", "%s", err)
	case errors.As(err, new(*commit.LockTimeoutError)), errors.As(err, new(*commit.UncertainError)):
		return fail(CodeNotRecorded, "call again", "%s", err)
	case errors.As(err, &followed):
		return fail(Code(cursor.NothingToRewind), "go on with the run that followed: `spec-kitty next` and `spec-kitty status` are about that one", "nothing was recorded: %s", err)
	case errors.Is(err, commit.ErrNoRun):
		return fail(CodeRunNotFound, "`spec-kitty run start SLUG` starts one", "%s", err)
	}
	return nil
}

func placed(e *Error, file string, line uint64) *Error {
	e.File, e.Line = file, int(line)
	return e
}

// fromRefusal takes those refusals of the cursor that are errors, not blocks.
func fromRefusal(err error) *Error {
	var r *cursor.Refusal
	if !errors.As(err, &r) || isBlock(r.Code) {
		return nil
	}
	e := fail(Code(r.Code), nextStepOf(r), "%s", r.Message)
	e.Candidates = r.Options
	return e
}

func nextStepOf(r *cursor.Refusal) string {
	if len(r.Options) > 0 {
		return "use one of: " + strings.Join(r.Options, ", ")
	}
	return Remedy(Code(r.Code))
}

// isBlock tells whether a refusal is an answer of kind blocked.
func isBlock(code cursor.Code) bool {
	switch code {
	case cursor.CursorMoved, cursor.StalePlan, cursor.StaleToken, cursor.AlreadyReported, cursor.TokenRequired,
		cursor.NotHolder, cursor.GuardRefused, cursor.StepFailed, cursor.StepBlocked, cursor.AuditRejected,
		cursor.Waiting, cursor.PackageHeld, cursor.RunAbortedCode, cursor.ArtifactConflict,
		LockTimeout, GuardError, PluginFailed, PromptFailed, CommitUncertain:
		return true
	}
	return false
}

// The codes of blocks that come from the runner, not from the cursor.
const (
	LockTimeout     cursor.Code = "lock_timeout"
	GuardError      cursor.Code = "guard_error"
	PluginFailed    cursor.Code = "plugin_failed"
	PromptFailed    cursor.Code = "prompt_failed"
	CommitUncertain cursor.Code = "commit_uncertain"
)
