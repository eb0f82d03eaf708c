package runner

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spec-kitty/step-runner/host/sandbox"
)

// unanswered is why a call gave no answer; "" where it gave one.
func unanswered(e ended) string {
	if e.code == "" {
		return ""
	}
	return e.saying()
}

// badEnd is what is wrong with the end of a call whose request is sound: it is an
// answer, or an exit that says why.
func badEnd(e ended) string {
	switch {
	case e.code == "", e.code == sandbox.NotGranted:
		return ""
	case e.code == sandbox.Exited && len(bytes.TrimSpace(e.Log)) > 0:
		return ""
	case e.code == sandbox.Exited:
		return fmt.Sprintf("it ended with exit code %d and said nothing on stderr", e.Failure.Exit)
	}
	return e.saying()
}

func (e ended) saying() string {
	if e.code == "" {
		return "it answered " + head(e.Stdout)
	}
	said := string(e.code) + ": " + e.detail
	if e.Failure != nil && e.Failure.Log != "" {
		said += " (its log ends: " + e.Failure.Log + ")"
	}
	return said
}

// head is the beginning of an answer, on one line.
func head(b []byte) string {
	const most = 200
	line := strings.Join(strings.Fields(shownText(b)), " ")
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}
