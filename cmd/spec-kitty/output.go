package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/spec-kitty/step-runner/host/runner"
)

// answer prints an answer and takes its exit code.
func (a *app) answer(answer runner.Answer) error {
	a.code = exitOfAnswer(answer)
	return a.print(answer, func() string { return a.answerText(answer) })
}

// answerDone is answer for a call that handed nothing out: people are told what
// it did before how things stand.
func (a *app) answerDone(answer runner.Answer, done string) error {
	a.code = exitOfAnswer(answer)
	return a.print(answer, func() string {
		if !answer.Recorded || done == "" {
			return a.answerText(answer)
		}
		return printable(done) + "\n" + a.answerText(answer)
	})
}

// print prints a document with --json, else the text for people.
func (a *app) print(doc any, text func() string) error {
	if a.json {
		return noError(a.writeJSON(doc))
	}
	return noError(a.write([]byte(text())))
}

// noError keeps a nil *runner.Error from becoming an error that is not nil.
func noError(e *runner.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// writeJSON writes one document and a newline, in one write.
func (a *app) writeJSON(doc any) *runner.Error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return &runner.Error{Code: runner.CodeInternal, Message: "the answer cannot be encoded: " + err.Error(), Err: err}
	}
	return a.write(out.Bytes())
}

func (a *app) write(data []byte) *runner.Error {
	if _, err := a.out.Write(data); err != nil {
		return &runner.Error{Code: codeOutputFailed, Message: "stdout cannot be written: " + err.Error(), Err: err,
			NextStep: "ask again with a query: what was recorded stands"}
	}
	return nil
}

// printable writes control characters as escapes, so that no text from a
// mission, an agent or a plugin can steer the terminal.
func printable(text string) string {
	if strings.IndexFunc(text, unprintable) < 0 {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if unprintable(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

func unprintable(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}
