package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/spec-kitty/step-runner/host/runner"
)

// errorDocument is what a call without an answer prints with --json. File and
// line are null where they are not known; lists never are.
type errorDocument struct {
	Result     string           `json:"result"`
	Schema     int              `json:"schema"`
	Error      string           `json:"error"`
	ErrorCode  string           `json:"error_code"`
	NextStep   string           `json:"next_step"`
	Recover    []string         `json:"recover"`
	File       *string          `json:"file"`
	Line       *int             `json:"line"`
	Candidates []string         `json:"candidates"`
	Problems   []runner.Problem `json:"problems"`
}

// usage is an error of the command line. Of a word of the caller's it says no more
// than what tells which one is meant.
func usage(next, format string, args ...any) *runner.Error {
	for i, arg := range args {
		if word, ok := arg.(string); ok {
			args[i] = brief(word)
		}
	}
	return &runner.Error{Code: runner.CodeUsage, NextStep: next, Message: fmt.Sprintf(format, args...)}
}

// maxWord is how much of a word of the caller's a message repeats, in characters.
const maxWord = 200

func brief(word string) string {
	if utf8.RuneCountInString(word) <= maxWord {
		return word
	}
	return string([]rune(word)[:maxWord]) + "…"
}

// fail prints an error and gives its exit code.
func (a *app) fail(err error) int {
	e := known(err)
	code := exitOf(e.Code)
	if !a.wantsJSON() {
		a.complain(e)
		return code
	}
	if err := a.writeJSON(document(e)); err != nil {
		a.complain(err)
		return exitOf(err.Code)
	}
	return code
}

// known is the error with a code. What has none is a fault of the program.
func known(err error) *runner.Error {
	var e *runner.Error
	if errors.As(err, &e) {
		return e
	}
	return &runner.Error{Code: runner.CodeInternal, Message: err.Error(), Err: err,
		NextStep: "this is a fault of the program: please report it with this message"}
}

func document(e *runner.Error) errorDocument {
	d := errorDocument{
		Result: "error", Schema: runner.Schema, Error: e.Message, ErrorCode: string(e.Code), NextStep: e.Next(),
		Recover: list(e.Recover), Candidates: list(e.Candidates), Problems: list(e.Problems),
	}
	if e.File != "" {
		d.File = &e.File
	}
	if e.Line > 0 {
		d.Line = &e.Line
	}
	return d
}

// list is never null in JSON.
func list[T any](items []T) []T { return append([]T{}, items...) }

// complain says an error to people: what, where, what to do. How the command
// is called is said only where the call was wrong.
func (a *app) complain(e *runner.Error) {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s\n", e.Code, e.Message)
	if e.File != "" && !strings.Contains(e.Message, e.File) {
		fmt.Fprintf(&out, "  in %s\n", place(e.File, e.Line))
	}
	if len(e.Candidates) > 0 && !strings.Contains(e.Message, e.Candidates[0]) {
		fmt.Fprintf(&out, "  there are: %s\n", strings.Join(e.Candidates, ", "))
	}
	fmt.Fprintf(&out, "  next: %s\n", e.Next())
	for _, line := range e.Recover {
		fmt.Fprintf(&out, "    %s\n", line)
	}
	if e.Code == runner.CodeUsage && a.help != "" {
		fmt.Fprintf(&out, "\n%s", a.help)
	}
	fmt.Fprint(a.err, printable(out.String()))
}

func place(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// interrupted gives an error that a signal caused the signal's code.
func interrupted(ctx context.Context, err error) error {
	var caught *signalError
	if !errors.Is(err, context.Canceled) || !errors.As(context.Cause(ctx), &caught) {
		return err
	}
	return &runner.Error{Code: caught.code, Err: err,
		Message:  "the call was ended by a signal before it was recorded; what was committed last stands",
		NextStep: "call again; a query shows how things stand"}
}

// panicked makes an error of a panic: what, and where. The trace goes to stderr.
func panicked(a *app, fault any) error {
	fmt.Fprintf(a.err, "%s\n", printable(string(debug.Stack())))
	return &runner.Error{Code: runner.CodeInternal, Message: fmt.Sprintf("panic: %v, at %s", fault, panicSite()),
		NextStep: "this is a fault of the program: please report it with this message and the trace on stderr"}
}

// panicSite is the place that panicked: the frame below the runtime's own.
func panicSite() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	inPanic := false
	for {
		frame, more := frames.Next()
		switch ours := !strings.HasPrefix(frame.Function, "runtime."); {
		case frame.Function == "runtime.gopanic":
			inPanic = true
		case inPanic && ours:
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}
