package runner

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// Caller is who calls: an agent with, where its name is shared, a worker, or a
// person.
type Caller struct {
	Agent  string
	Worker string
	Human  string // the NAME of --as human:NAME
}

// Holder is the caller as a holder of work.
func (c Caller) Holder() cursor.Holder {
	if c.Agent == "" && c.Human != "" {
		return cursor.Holder{Agent: "human:" + c.Human, Worker: c.Worker}
	}
	return cursor.Holder{Agent: c.Agent, Worker: c.Worker}
}

// String is the caller as the journal has it.
func (c Caller) String() string {
	if c.Human != "" {
		return "human:" + c.Human
	}
	return c.Holder().String()
}

// check wants printable names of at most 200 characters.
func (c Caller) check() error {
	for _, name := range []struct{ flag, value string }{{"--agent", c.Agent}, {"--worker", c.Worker}, {"--as", c.Human}} {
		if utf8.RuneCountInString(name.value) > 200 || !utf8.ValidString(name.value) ||
			strings.ContainsFunc(name.value, func(r rune) bool { return !unicode.IsPrint(r) }) ||
			name.value != strings.TrimSpace(name.value) {
			return fail(CodeUsage, "use 1 to 200 printable characters", "%s %.200q is no name", name.flag, name.value)
		}
	}
	switch {
	case strings.HasPrefix(c.Agent, "human:"):
		return fail(CodeUsage, "use --as "+c.Agent, "--agent %s names a person", c.Agent)
	case strings.HasPrefix(c.Agent, "-"), strings.HasPrefix(c.Worker, "-"), strings.HasPrefix(c.Human, "-"):
		return fail(CodeUsage, "give each flag its value", "a name that begins with - looks like a flag: %q", c.Agent+c.Human+" "+c.Worker)
	}
	if c.Agent == "" && c.Human == "" && c.Worker != "" {
		return fail(CodeUsage, "add --agent NAME", "--worker %s without --agent", c.Worker)
	}
	return nil
}

// Request is one call of `next` that may change the run.
type Request struct {
	Mission       string
	Caller        Caller
	Result        cursor.Result // "": only the answer
	Token         string
	Reason        string  // of the result, and of the answer
	Replace       bool    // the answer takes the place of the one given before; Project.Decide only
	Answer        *string // nil: no answer is given
	Decision      string
	DecisionToken string
	PlanOut       func(plan []byte) error `json:"-"` // nil: commit; else where the saved plan goes
}

func (q Request) check() error {
	if err := q.Caller.check(); err != nil {
		return err
	}
	switch {
	case q.Mission == "":
		return fail(CodeUsage, "add --mission M or set SPEC_KITTY_MISSION", "no mission is named")
	case q.Caller.Agent == "" && q.Caller.Human == "":
		return fail(CodeUsage, "add --agent NAME, or --as human:NAME", "a report, a claim or an answer needs somebody who makes it")
	case q.Result == "" && q.Answer == nil:
		return fail(CodeUsage, "add --result success, failed or blocked", "nothing is reported and nothing is answered")
	case q.Answer == nil && (q.Decision != "" || q.DecisionToken != ""):
		return fail(CodeUsage, "add --answer VALUE", "--decision-id and --decision-token go with --answer")
	case q.Token != "" && q.Result == "":
		return fail(CodeUsage, "add --result success, failed or blocked", "--token goes with --result")
	case q.PlanOut != nil && q.Answer != nil:
		return fail(CodeUsage, "give the answer first, then make the plan", "--plan-out saves a report, not an answer")
	}
	switch q.Result {
	case "", cursor.Success, cursor.Failed, cursor.Blocked:
		return q.checkParts()
	}
	return fail(CodeUsage, "use success, failed or blocked", "--result %.40q is none", q.Result)
}

// checkParts is check of the texts and names alone.
func (q Request) checkParts() error {
	answer := ""
	if q.Answer != nil {
		answer = *q.Answer
	}
	return cmp.Or(checkToken("--token", q.Token), checkToken("--decision-token", q.DecisionToken), checkDecision(q.Decision),
		checkText("the reason", q.Reason), checkText("the answer", answer))
}
