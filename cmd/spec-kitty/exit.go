package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

// The exit codes. This file is the only place that knows the numbers.
const (
	exitOK          = 0
	exitRefused     = 1
	exitUsage       = 2
	exitDefinition  = 3
	exitNotFound    = 4
	exitDamaged     = 5
	exitInternal    = 70
	exitInterrupted = 130
	exitTerminated  = 143
)

// Codes of errors that only the program itself meets.
const (
	codeInterrupted  runner.Code = "interrupted"
	codeTerminated   runner.Code = "terminated"
	codeOutputFailed runner.Code = "output_failed"
)

// exitRow is one exit code: what it means and the error codes that lead to it.
type exitRow struct {
	code    int
	meaning string
	errors  []runner.Code
}

// exitTable is what `help exit-codes` prints and what exits are taken from.
func exitTable() []exitRow {
	return []exitRow{
		{exitOK, "a step, a decision, the end of a mission, a query, done", nil},
		{exitRefused, "blocked or refused; an answer of kind blocked has its reason_code, an error its error_code", []runner.Code{
			runner.CodeRunExists, runner.CodeNothingIssued, runner.CodeDecisionConflict, runner.CodeStaleDecision,
			runner.CodeAuditNeedsHuman, runner.Code(cursor.SelfReview), runner.Code(cursor.IllegalMove),
			runner.Code(cursor.LanesReadOnly), runner.Code(cursor.NothingToRetry), runner.Code(cursor.NothingToAbort), runner.Code(cursor.NothingToPublish), runner.Code(cursor.AnswerUsed), runner.Code(cursor.DecisionNeeded),
			runner.Code(cursor.NothingToRewind), runner.Code(cursor.NothingToMigrate), runner.Code(cursor.MigrationRefused), runner.CodeNotRecorded, runner.CodeNotTrusted,
			runner.CodeAlreadyExists}},
		{exitUsage, "the call is wrong, or a value is outside what is allowed", []runner.Code{
			runner.CodeUsage, runner.CodeInvalidAnswer}},
		{exitDefinition, "the configuration or a definition is invalid", []runner.Code{
			runner.CodeDefinitionInvalid}},
		{exitNotFound, "not found, or ambiguous", []runner.Code{
			runner.CodeMissionNotFound, runner.CodeMissionAmbiguous, runner.Code(cursor.DecisionNotFound), runner.Code(cursor.DecisionAmbiguous),
			runner.CodeRunNotFound, runner.Code(cursor.StepNotFound), runner.Code(cursor.PackageNotFound), runner.CodeNotFound, runner.CodeAmbiguous}},
		{exitDamaged, "the state is damaged, or lacks a run, or is from a newer version", []runner.Code{
			runner.CodeStateDamaged, runner.CodeRunMissing, runner.CodeTwoWriters, runner.CodeNewerFormat}},
		{exitInternal, "a fault of the program, or its output could not be written", []runner.Code{
			runner.CodeInternal, codeOutputFailed}},
		{exitInterrupted, "interrupted; what was committed last stands", []runner.Code{codeInterrupted}},
		{exitTerminated, "terminated; what was committed last stands", []runner.Code{codeTerminated}},
	}
}

// exitOf is the exit code of an error. A code that is in no row is a fault.
func exitOf(code runner.Code) int {
	for _, row := range exitTable() {
		for _, known := range row.errors {
			if known == code {
				return row.code
			}
		}
	}
	return exitInternal
}

// exitOfAnswer is the exit code of an answer.
func exitOfAnswer(answer runner.Answer) int {
	if answer.Kind == runner.KindBlocked {
		return exitRefused
	}
	return exitOK
}

// exitOfReport is the exit code of a loop's verb.
func exitOfReport(r tick.Report) int {
	switch {
	case r.Good():
		return exitOK
	case r.Outcome != tick.Refused:
		return exitRefused
	}
	for _, row := range loopExits() {
		if slices.Contains(row.reasons, r.ReasonCode) {
			return row.code
		}
	}
	return exitRefused
}

// loopExit is the exit code of some refusals of loops.
type loopExit struct {
	code    int
	reasons []string
}

// loopExits are those that do not end with 1.
func loopExits() []loopExit {
	return []loopExit{
		{exitUsage, []string{string(loop.BadRequest), string(loop.ReasonRequired)}},
		{exitNotFound, []string{string(loop.Untracked), tick.LoopGone}},
		{exitDamaged, []string{string(loop.NewerFormat), string(tick.BadLock), string(tick.Misplaced)}},
	}
}

// exitOfTick is the exit code of a tick: a run that a signal ended has that of the
// signal.
func exitOfTick(ctx context.Context, r tick.Report) int {
	signaled := new(signalError)
	if r.Outcome == tick.Canceled && errors.As(context.Cause(ctx), &signaled) {
		return exitOf(signaled.code)
	}
	return exitOfReport(r)
}

// exitOfReplay is the exit code of a replay.
func exitOfReplay(replayed runner.Replay) int {
	switch replayed.Verdict {
	case runner.VerdictSame:
		return exitOK
	case runner.VerdictDamaged:
		return exitDamaged
	}
	return exitRefused
}

// exitOfCheck is the exit code of a verb that looks and says whether all is well, and
// bad where it is not.
func exitOfCheck(well bool, bad int) int {
	if well {
		return exitOK
	}
	return bad
}

// exitText is the table as text.
func exitText() string {
	var out strings.Builder
	out.WriteString("The exit code says how a call ended:\n\n")
	for _, row := range exitTable() {
		fmt.Fprintf(&out, "  %3d  %s\n", row.code, row.meaning)
		for _, code := range row.errors {
			fmt.Fprintf(&out, "         %s\n", code)
		}
	}
	out.WriteString("\nA verb of loops has its reason_code. A tick that skips or asks a person ends with 0;\nrefused, failed, halted or canceled with 1, but for these:\n\n")
	for _, row := range loopExits() {
		fmt.Fprintf(&out, "  %3d  %s\n", row.code, strings.Join(row.reasons, ", "))
	}
	out.WriteString("\nAn answer of kind blocked always ends with 1. `status` ends with 0 however the\nmissions stand.\n")
	return out.String()
}
