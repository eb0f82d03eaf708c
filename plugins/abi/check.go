package abi

import (
	"fmt"
	"slices"
	"strings"
)

func bad(where, format string, args ...any) error {
	return &AnswerError{Where: where, Why: fmt.Sprintf(format, args...)}
}

func (a GuardAnswer) check() error {
	switch a.Verdict {
	case Allow:
		if len(a.Reasons) > 0 || a.Message != "" {
			return bad("verdict", "allow comes without reasons and message: leave them out, or refuse")
		}
	case Refuse:
		if len(a.Reasons) == 0 {
			return bad("reasons", "a refusal needs at least one reason with a message")
		}
		if a.Message != "" {
			return bad("message", "belongs to the verdict error: put it into reasons")
		}
	case ErrorVerdict:
		if a.Message == "" {
			return bad("message", "the verdict error needs a message that says why the guard could not judge")
		}
		if len(a.Reasons) > 0 {
			return bad("reasons", "belong to the verdict refuse: put the cause into message")
		}
	case "":
		return bad("verdict", "is missing: allow, refuse or error")
	default:
		return bad("verdict", "is %q, must be allow, refuse or error", cut(string(a.Verdict)))
	}
	if err := checkText("message", a.Message, MaxText); err != nil {
		return err
	}
	return checkReasons(a.Reasons)
}

func (a ExecuteAnswer) check() error {
	for _, step := range []func() error{
		a.checkOutcome, a.checkQuestion, a.checkInputs, a.checkArtifacts, a.checkNeeds, a.checkNotes,
		func() error { return checkReasons(a.Reasons) },
		func() error { return checkText("prompt", a.Prompt, MaxPrompt) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (a ExecuteAnswer) checkOutcome() error {
	if len(a.Needs) > 0 {
		if a.Outcome != "" {
			return bad("outcome", "an answer asks for commands (needs) or gives an outcome, not both: leave outcome out until you have the results")
		}
		if len(a.Artifacts) > 0 || a.Question != nil {
			return bad("needs", "an answer that asks for commands holds no artifacts and no question")
		}
		return nil
	}
	switch a.Outcome {
	case Success:
	case Failed, Blocked:
		if len(a.Reasons) == 0 {
			return bad("reasons", "the outcome %s needs at least one reason with a message", a.Outcome)
		}
	case Question:
		if a.Question == nil {
			return bad("question", "the outcome question needs a question with key and question")
		}
	case "":
		return bad("outcome", "is missing: success, failed, blocked or question")
	default:
		return bad("outcome", "is %q, must be success, failed, blocked or question", cut(string(a.Outcome)))
	}
	if len(a.Artifacts) > 0 && a.Outcome != Success {
		return bad("artifacts", "come with the outcome success alone")
	}
	return nil
}

func (a ExecuteAnswer) checkQuestion() error {
	q := a.Question
	if q == nil {
		return nil
	}
	if a.Outcome != Question {
		return bad("question", "belongs to the outcome question")
	}
	if !isKey(q.Key) {
		return bad("question.key", "is %q, must be 1 to %d letters, digits and _", cut(q.Key), MaxName)
	}
	if strings.TrimSpace(q.Question) == "" {
		return bad("question.question", "is empty: ask something")
	}
	if err := checkText("question.question", q.Question, MaxText); err != nil {
		return err
	}
	if q.Options != nil && len(q.Options) == 0 {
		return bad("question.options", "is an empty list, which no answer fits: leave it out where any text will do")
	}
	for i, option := range q.Options {
		where := fmt.Sprintf("question.options[%d]", i)
		if strings.TrimSpace(option) == "" || slices.Index(q.Options, option) != i {
			return bad(where, "is empty or there twice")
		}
		if err := checkText(where, option, MaxText); err != nil {
			return err
		}
	}
	return nil
}

func (a ExecuteAnswer) checkInputs() error {
	if len(a.Inputs) > MaxItems {
		return bad("inputs", "has %d keys, at most %d are allowed", len(a.Inputs), MaxItems)
	}
	for _, key := range sortedKeys(a.Inputs) {
		if !isKey(key) {
			return bad(join("inputs", key), "keys are 1 to %d letters, digits and _", MaxName)
		}
		if err := checkText(join("inputs", key), a.Inputs[key], MaxValue); err != nil {
			return err
		}
	}
	return nil
}

func (a ExecuteAnswer) checkArtifacts() error {
	total := 0
	paths := make([]string, len(a.Artifacts))
	for i, file := range a.Artifacts {
		if why := PathFault(file.Path); why != "" {
			return bad(pathOf(i), "is %q: %s", cut(file.Path), why)
		}
		paths[i] = file.Path
		if total += len(file.Content); total > MaxArtifacts {
			return bad("artifacts", "have more than %d bytes together", MaxArtifacts)
		}
	}
	if i, why := PathsFault(paths); why != "" {
		return bad(pathOf(i), "%q %s", cut(paths[i]), why)
	}
	return nil
}

func pathOf(i int) string { return fmt.Sprintf("artifacts[%d].path", i) }

func (a ExecuteAnswer) checkNeeds() error {
	seen := map[string]bool{}
	for i, need := range a.Needs {
		where := fmt.Sprintf("needs[%d].command", i)
		if !isName(need.Command) {
			return bad(where, "is %q, must be the name of a command that the project declares", cut(need.Command))
		}
		if seen[need.Command] {
			return bad(where, "%q is there twice", need.Command)
		}
		seen[need.Command] = true
	}
	return nil
}

func (a ExecuteAnswer) checkNotes() error {
	for i, note := range a.Notes {
		if err := checkText(fmt.Sprintf("notes[%d]", i), note, MaxText); err != nil {
			return err
		}
	}
	return nil
}

func (a DescribeAnswer) check() error {
	if a.ABI != Version {
		return bad("abi", "is %d, this host speaks %d", a.ABI, Version)
	}
	if !isName(a.Name) {
		return bad("name", "is %q, must be 1 to %d letters, digits, -, _ and ., beginning with a letter or digit", cut(a.Name), MaxName)
	}
	if len(a.Verbs) == 0 {
		return bad("verbs", "is empty: name guard, execute or both")
	}
	for i, verb := range a.Verbs {
		if (verb != Guard && verb != Execute) || slices.Index(a.Verbs, verb) != i {
			return bad(fmt.Sprintf("verbs[%d]", i), "is %q, must be guard or execute, each once", cut(verb))
		}
	}
	if err := checkText("version", a.Version, MaxName); err != nil {
		return err
	}
	return checkText("description", a.Description, MaxText)
}

func checkReasons(reasons []Reason) error {
	for i, r := range reasons {
		at := func(field string) string { return fmt.Sprintf("reasons[%d].%s", i, field) }
		if strings.TrimSpace(r.Message) == "" {
			return bad(at("message"), "is empty: say what stands in the way")
		}
		if err := checkText(at("message"), r.Message, MaxText); err != nil {
			return err
		}
		if err := checkText(at("path"), r.Path, MaxPath); err != nil {
			return err
		}
		if err := checkText(at("fix"), r.Fix, MaxText); err != nil {
			return err
		}
	}
	return nil
}

// checkText bounds a text. What is shown to people later is escaped there; here
// only the zero byte is refused, which no text needs.
func checkText(where, text string, most int) error {
	if len(text) > most {
		return bad(where, "has %d bytes, at most %d are allowed", len(text), most)
	}
	if strings.ContainsRune(text, 0) {
		return bad(where, "holds a zero byte")
	}
	return nil
}

func isKey(s string) bool {
	return s != "" && len(s) <= MaxName && !strings.ContainsFunc(s, func(r rune) bool {
		return !isAlnum(r) && r != '_'
	})
}

func isName(s string) bool {
	if s == "" || len(s) > MaxName || !isAlnum(rune(s[0])) || strings.HasSuffix(s, ".") {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !isAlnum(r) && r != '_' && r != '-' && r != '.'
	})
}

func isAlnum(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

func cut(s string) string { return head([]byte(s)) }
