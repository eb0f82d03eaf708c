package sandbox

import (
	"context"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/plugins/abi"
)

// What a plugin returns is data that is checked as a whole; what it asks for and
// was not granted is refused by name (design 8).
func TestAnswersAreChecked(t *testing.T) {
	h := newHost(t)
	for _, c := range []struct {
		guest, verb string
		code        Code
		says        string
	}{
		{"allow", "guard", "", ""},
		{"refuse", "guard", "", ""},
		{"success", "execute", "", ""},
		{"question", "execute", "", ""},
		{"success", "guard", BadAnswer, "not known here"},
		{"allow", "execute", BadAnswer, "not known here"},
		{"allow", "describe", BadAnswer, "not known here"},
		{"silent", "guard", BadAnswer, "stdout is empty"},
		{"two", "guard", BadAnswer, "after the answer"},
		{"stray", "guard", BadAnswer, `stdout begins with "checking 3 files`},
		{"artifact", "execute", NotGranted, `"docs/a.md"`},
		{"needs", "execute", NotGranted, `"unit-tests"`},
	} {
		t.Run(c.guest+" "+c.verb, func(t *testing.T) {
			call := guardCall()
			call.Verb = c.verb
			a, err := h.Call(context.Background(), plugin(t, c.guest), call)
			if err != nil {
				t.Fatal(err)
			}
			switch c.verb {
			case "guard":
				_, err = GuardAnswer(c.guest, a)
			case "execute":
				_, err = ExecuteAnswer(c.guest, a, Grants{})
			default:
				_, err = DescribeAnswer(c.guest, a)
			}
			if c.code == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if f := mustFail(t, err, c.code); !strings.Contains(f.Detail, c.says) {
				t.Errorf("%q does not say %q", f.Detail, c.says)
			}
		})
	}
}

func TestGrantedIsGiven(t *testing.T) {
	a := Answer{Stdout: []byte(`{"needs":[{"command":"unit-tests"}]}`)}
	e, err := ExecuteAnswer("p", a, Grants{Commands: map[string]bool{"unit-tests": true}})
	if err != nil || len(e.Needs) != 1 {
		t.Errorf("%v, %v", e, err)
	}
	a = Answer{Stdout: []byte(`{"outcome":"success","artifacts":[{"path":"a","content":"b"}]}`)}
	e, err = ExecuteAnswer("p", a, Grants{Write: true})
	if err != nil || len(e.Artifacts) != 1 || e.Outcome != abi.Success {
		t.Errorf("%v, %v", e, err)
	}
}

func TestTextIsTidy(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain — 日本", "plain — 日本"},
		{"a\x1b[31m\r\n\tb\x00", `a\x1b[31m\x0d\n\tb\x00`},
		{"\xff\u202e\u200b", `\xff\u202e\u200b`},
		{strings.Repeat("x", 30), strings.Repeat("x", 20) + "…"},
	} {
		most := 100
		if len(c.in) == 30 {
			most = 20
		}
		if got := tidy(c.in, most); got != c.want {
			t.Errorf("tidy(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := tail([]byte(strings.Repeat("é", 1000)+"end\n\n"), 10); got != "…éééend" {
		t.Errorf("tail gives %q", got)
	}
}

func TestLimitsAreBounded(t *testing.T) {
	if l, err := (Limits{}).filled(); err != nil || l.Memory != 64<<20 || l.Files != 64 {
		t.Errorf("%+v, %v", l, err)
	}
	for _, l := range []Limits{
		{Memory: 1}, {Memory: 4 << 30}, {Timeout: -1}, {CompileTime: -1}, {Timeout: maxTimeout + 1}, {CompileTime: maxTimeout + 1}, {Output: -1}, {Output: maxOutput + 1},
		{Log: -1}, {Log: maxLog + 1}, {Files: -1}, {Files: maxFiles + 1},
	} {
		if _, err := l.filled(); err == nil {
			t.Errorf("%+v is taken", l)
		}
	}
}
