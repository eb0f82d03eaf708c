package guest

import "slices"

// GuardAnswer answers guard. Allow, Refuse and CannotJudge make one.
type GuardAnswer struct {
	Verdict string // allow, refuse or error
	Reasons []Reason
	Message string // with error
}

// Reason says what stands in the way, where, and what to do. Path and Fix may be
// "".
type Reason struct{ Message, Path, Fix string }

// Allow lets the step pass.
func Allow() GuardAnswer { return GuardAnswer{Verdict: "allow"} }

// Refuse does not; at least one reason is needed.
func Refuse(reasons ...Reason) GuardAnswer {
	return GuardAnswer{Verdict: "refuse", Reasons: reasons}
}

// CannotJudge says that the guard cannot say yes or no, and why. The step does
// not pass.
func CannotJudge(message string) GuardAnswer {
	return GuardAnswer{Verdict: "error", Message: message}
}

// Encode is the answer as JSON.
func (a GuardAnswer) Encode() []byte {
	var w writer
	w.open('{')
	w.member("verdict", a.Verdict)
	w.reasons(a.Reasons)
	w.optional("message", a.Message)
	w.close('}')
	return w.b
}

// ExecuteAnswer answers execute: an Outcome with what belongs to it, or Needs
// alone.
type ExecuteAnswer struct {
	Outcome   string // success, failed, blocked or question
	Reasons   []Reason
	Inputs    map[string]string // values to store for the run
	Question  *Question
	Prompt    string
	Notes     []string
	Artifacts []Artifact
	Needs     []string // names of declared commands
}

// Question is asked of whoever works on the mission. Its answer comes in the next
// request's Answers, under Key. Without Options any text is an answer.
type Question struct {
	Key, Question string
	Options       []string
}

// Artifact is a file for the host to write; Path is relative to the project.
type Artifact struct{ Path, Content string }

// Ask is an answer that asks.
func Ask(key, question string, options ...string) ExecuteAnswer {
	return ExecuteAnswer{Outcome: "question", Question: &Question{key, question, options}}
}

// Blocked says what stands in the way; at least one reason is needed.
func Blocked(reasons ...Reason) ExecuteAnswer {
	return ExecuteAnswer{Outcome: "blocked", Reasons: reasons}
}

// Encode is the answer as JSON, its inputs in the order of their keys: equal
// answers have equal bytes.
func (a ExecuteAnswer) Encode() []byte {
	var w writer
	w.open('{')
	w.optional("outcome", a.Outcome)
	w.reasons(a.Reasons)
	w.inputs(a.Inputs)
	w.question(a.Question)
	w.optional("prompt", a.Prompt)
	w.list("notes", a.Notes)
	w.objects("artifacts", len(a.Artifacts), func(i int) {
		w.member("path", a.Artifacts[i].Path)
		w.member("content", a.Artifacts[i].Content)
	})
	w.objects("needs", len(a.Needs), func(i int) { w.member("command", a.Needs[i]) })
	w.close('}')
	return w.b
}

func (w *writer) reasons(all []Reason) {
	w.objects("reasons", len(all), func(i int) {
		w.member("message", all[i].Message)
		w.optional("path", all[i].Path)
		w.optional("fix", all[i].Fix)
	})
}

func (w *writer) inputs(all map[string]string) {
	if len(all) == 0 {
		return
	}
	var keys []string
	for key := range all {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	w.key("inputs")
	w.open('{')
	for _, key := range keys {
		w.member(key, all[key])
	}
	w.close('}')
}

func (w *writer) question(q *Question) {
	if q == nil {
		return
	}
	w.key("question")
	w.open('{')
	w.member("key", q.Key)
	w.member("question", q.Question)
	w.list("options", q.Options)
	w.close('}')
}
