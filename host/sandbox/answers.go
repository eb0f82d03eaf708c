package sandbox

import (
	"errors"
	"fmt"

	"github.com/spec-kitty/step-runner/plugins/abi"
)

// Grants are what an executor's answer may ask the host to do. The zero value
// grants nothing.
type Grants struct {
	Write    bool            // publish artifacts
	Commands map[string]bool // run these declared commands
	All      bool            // whatever it asks for: nothing will be done with the answer
}

// GuardAnswer checks what a guard wrote, as a whole. The error is a *Failure of
// code bad_answer.
func GuardAnswer(name string, a Answer) (abi.GuardAnswer, error) {
	g, err := abi.DecodeGuard(a.Stdout)
	return g, badAnswer(name, a, err)
}

// ExecuteAnswer checks what an executor wrote, as a whole, and that all it asks
// for is granted. The error is a *Failure of code bad_answer or not_granted.
func ExecuteAnswer(name string, a Answer, g Grants) (abi.ExecuteAnswer, error) {
	e, err := abi.DecodeExecute(a.Stdout)
	if err != nil {
		return e, badAnswer(name, a, err)
	}
	if missing := g.missing(e); missing != "" {
		return abi.ExecuteAnswer{}, &Failure{Plugin: name, Code: NotGranted, Detail: missing, Log: tail(a.Log, shownLog)}
	}
	return e, nil
}

// DescribeAnswer checks a description. The error is a *Failure of code bad_answer.
func DescribeAnswer(name string, a Answer) (abi.DescribeAnswer, error) {
	d, err := abi.DecodeDescribe(a.Stdout)
	return d, badAnswer(name, a, err)
}

// missing names the first grant that an answer lacks, or "".
func (g Grants) missing(e abi.ExecuteAnswer) string {
	if g.All {
		return ""
	}
	if len(e.Artifacts) > 0 && !g.Write {
		return fmt.Sprintf("it wants to write %q, and its table in spec-kitty.toml grants no `write`: add the folder there, or let it return the text in prompt or notes", tidy(e.Artifacts[0].Path, 200))
	}
	for _, need := range e.Needs {
		if !g.Commands[need.Command] {
			return fmt.Sprintf("it needs the command %q, which is not declared for plugins: do without it", need.Command)
		}
	}
	return ""
}

func badAnswer(name string, a Answer, err error) error {
	if err == nil {
		return nil
	}
	f := &Failure{Plugin: name, Code: BadAnswer, Detail: tidy(err.Error(), 2000), Log: tail(a.Log, shownLog)}
	var fault *abi.AnswerError
	if !errors.As(err, &fault) {
		f.Detail = "its answer cannot be read"
	}
	return f
}
