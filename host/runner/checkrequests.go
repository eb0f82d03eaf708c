package runner

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spec-kitty/step-runner/plugins/abi"
)

// The requests of the conformance checks. They differ from the plain one in what
// must make no difference.

const (
	checkMission = "kitty-specs/001-check"

	maxRequest = 1 << 20 // what the host sends at most
)

// baseRequest is a request as a run would send it.
func baseRequest(verb string) []byte { return encoded(verb, "Check", "nothing") }

// emojiRequest is the base request with letters from beyond ASCII, and beyond 16
// bits.
func emojiRequest(verb string) []byte {
	return encoded(verb, "Prüfung \u2714 żółć 👋🏽", "日本語 \"quoted\" \\ 🧪")
}

func encoded(verb, title, reason string) []byte {
	r := abi.Request{
		Verb:    verb,
		Run:     abi.Run{ID: "01K2ZK3V5Q8W7D0M9R4T6Y1XBC", Mission: "001-check", Type: "check", Revision: 1},
		Mission: abi.Mission{Dir: abi.ProjectDir + "/" + checkMission},
		Step:    abi.Step{ID: "check", Title: title, Attempt: 1},
		Inputs:  map[string]string{"topic": reason},
		Agent:   "check", Result: "success", Reason: reason, Now: "2026-03-01T12:00:00Z",
		Packages: []abi.Package{{ID: "WP01", Title: title, Lane: "planned"}},
	}
	b, _ := r.Encode() // plain texts always encode
	return b
}

// withUnknown adds keys that nobody knows, to the request and to objects in it.
func withUnknown(request []byte) []byte {
	extra := `"x_new":{"a":[1,-2.5e3,true,null,{"b":"c"}]},"x_list":[],"x_null":null,`
	text := string(request)
	for _, at := range []string{`"run":{`, `"mission":{`, `"step":{`} {
		text = strings.Replace(text, at, at+extra, 1)
	}
	return []byte("{" + extra + text[1:])
}

// withDepth adds lists inside each other, so that 64 are open at once.
func withDepth(request []byte) []byte {
	deep := strings.Repeat("[", abi.MaxDepth-1) + strings.Repeat("]", abi.MaxDepth-1)
	return fmt.Appendf(nil, `{"x_deep":%s,%s`, deep, request[1:])
}

// withSize makes the request as long as the host ever sends one.
func withSize(request []byte) []byte {
	const begin, end = `{"x_long":"`, `",`
	fill := maxRequest - len(begin) - len(end) - (len(request) - 1)
	return fmt.Appendf(nil, "%s%s%s%s", begin, strings.Repeat("0123456789abcdef", fill/16+1)[:fill], end, request[1:])
}

// escaped writes every letter of the values' texts as an escape. Keys stay: no
// host writes them otherwise.
func escaped(request []byte) []byte {
	var out bytes.Buffer
	for at := 0; at < len(request); {
		if request[at] != '"' {
			out.WriteByte(request[at])
			at++
			continue
		}
		end := endOfText(request, at)
		if end < len(request) && request[end] == ':' {
			out.Write(request[at:end])
		} else {
			escapeText(&out, request[at+1:end-1])
		}
		at = end
	}
	return out.Bytes()
}

// endOfText is where the text that begins at a quote ends.
func endOfText(b []byte, at int) int {
	for at++; at < len(b); at++ {
		switch b[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(b)
}

func escapeText(out *bytes.Buffer, text []byte) {
	out.WriteByte('"')
	for len(text) > 0 {
		if text[0] == '\\' { // an escape already; of \u the digits would come out as letters
			n := 2
			if text[1] == 'u' {
				n = 6
			}
			out.Write(text[:n])
			text = text[n:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			fmt.Fprintf(out, `\u%04x\u%04x`, high, low)
		} else {
			fmt.Fprintf(out, `\u%04X`, r)
		}
		text = text[size:]
	}
	out.WriteByte('"')
}
