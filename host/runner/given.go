package runner

import (
	"strings"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"github.com/spec-kitty/step-runner/host/mission"
)

// MaxText is the greatest length of a reason or an answer, in bytes.
const MaxText = 64 << 10

// checkText is the rule for a text that somebody gives for the record.
func checkText(what, text string) error {
	switch {
	case len(text) > MaxText:
		return fail(CodeUsage, "put long texts into a file of the mission and name it", "%s is longer than 64 KiB", what)
	case strings.Contains(text, "\x00"):
		return fail(CodeUsage, "leave NUL bytes out", "%s has a NUL byte", what)
	case !utf8.ValidString(text):
		return fail(CodeUsage, "give UTF-8", "%s is not UTF-8", what)
	}
	return nil
}

// checkReason is checkText of a reason that an act cannot do without. A blank one
// is none.
func checkReason(act, reason string) error {
	if strings.TrimSpace(reason) == "" {
		return fail(CodeUsage, "add --reason TEXT", "%s wants a reason", act)
	}
	return checkText("the reason", reason)
}

// checkID is the one rule for names, of a thing that a call names; "" names none.
// What breaks it can be no such thing, which is another fault than that there is
// none.
func checkID(what, id string) error {
	if id == "" {
		return nil
	}
	if err := mission.CheckName(id); err != nil {
		return fail(CodeUsage, "name it as it is listed: letters, digits, -, _ and .", "no %s can be meant: %v", what, err)
	}
	return nil
}

// checkDecision is checkID of a decision, which has its kind in front.
func checkDecision(id string) error {
	kind, key, ok := strings.Cut(id, ":")
	switch {
	case !ok || mission.CheckName(kind) != nil:
		return checkID("decision", id)
	case mission.CheckInputKey(key) == nil: // which may begin with _
		return nil
	case key == "":
		return fail(CodeUsage, "name it as `spec-kitty decision list` does: "+kind+":NAME", "no decision can be meant: %q has no name after its kind", id)
	}
	return checkID("decision", key)
}

// checkToken wants the form of a token; "" is none.
func checkToken(flag, token string) error {
	if token == "" || isToken(token) {
		return nil
	}
	return fail(CodeUsage, "copy the token from the answer that showed it", "%s %.40q is none", flag, token)
}

// isToken tells whether a text has the form of a token, a ULID.
func isToken(text string) bool {
	_, err := ulid.ParseStrict(text)
	return err == nil
}
