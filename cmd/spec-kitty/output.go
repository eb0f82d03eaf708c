package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/spec-kitty/step-runner/host/runner"
)

// answer prints an answer and takes its exit code.
func (a *app) answer(answer runner.Answer) error {
	a.code = exitOfAnswer(answer)
	return a.print(answer, func() string { return a.answerText(answer) })
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
	return a.write(visible(out.Bytes()))
}

func (a *app) write(data []byte) *runner.Error {
	if _, err := a.out.Write(data); err != nil {
		return &runner.Error{Code: codeOutputFailed, Message: "stdout cannot be written: " + err.Error(), Err: err,
			NextStep: "ask again with a query: what was recorded stands"}
	}
	return nil
}

// printable writes what steers a terminal or cannot be seen as escapes.
func printable(text string) string {
	if strings.IndexFunc(text, unseen) < 0 {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if unseen(r) {
			writeEscape(&out, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// told is a text from a mission, an agent or a plugin within a line of ours. Its
// own further lines are marked, so that none passes for one of ours.
func told(text string) string {
	return strings.ReplaceAll(printable(strings.TrimRight(text, "\n")), "\n", "\n  | ")
}

// unseen tells whether a character is no letter, mark, sign or space: controls,
// directions, what has no width.
func unseen(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsGraphic(r) }

func writeEscape(out *strings.Builder, r rune) {
	for _, unit := range utf16.Encode([]rune{r}) {
		fmt.Fprintf(out, `\u%04x`, unit)
	}
}

// visible writes the characters of a JSON document that cannot be seen as JSON
// escapes; outside of its texts there are none.
func visible(doc []byte) []byte {
	if bytes.IndexFunc(doc, unseen) < 0 {
		return doc
	}
	var out strings.Builder
	for _, r := range string(doc) {
		if unseen(r) {
			writeEscape(&out, r)
			continue
		}
		out.WriteRune(r)
	}
	return []byte(out.String())
}
