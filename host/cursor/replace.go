package cursor

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// AnswerUsed is the refusal of an answer that comes to replace one which has
// taken effect. The way out is a rewind.
const AnswerUsed Code = "answer_used"

// replace puts an answer in the place of another one. Work that was handed out
// under the old answer is handed out anew to whoever holds it, with a new token:
// its prompt showed what does not hold any more. No events: it was answered so.
func (t Give) replace(s State, f Facts, now time.Time) ([]Event, error) {
	before, err := t.replaceable(s)
	if err != nil {
		return nil, err
	}
	q := Asking{ID: t.Decision, Token: before.Token, Options: before.Options}
	if err := t.check(s, f, q); err != nil {
		return nil, err
	}
	if before.Value == t.Value {
		return nil, nil
	}
	d := newDraft(s, f, now, t, t.Tokens)
	key, isInput := strings.CutPrefix(q.ID, InputID(""))
	if isInput {
		q.Key = key
	}
	d.emit(Answered{ID: q.ID, Token: q.Token, Key: q.Key, Value: t.Value, By: t.Who, Reason: t.Reason, Replaces: before.Value})
	t.cancels(d, q.ID)
	if isInput || strings.HasPrefix(q.ID, PluginID("")) {
		d.handAnew()
	}
	return d.done(nil)
}

// replaceable is the answer that is meant, as long as nothing was made with it.
func (t Give) replaceable(s State) (Answer, error) {
	if t.Decision == "" || t.Reason == "" {
		return Answer{}, refuse(Usage, "replacing an answer names the decision and says why")
	}
	before, ok := s.Cursor.Answers[t.Decision]
	_, open := s.Asking(t.Decision)
	switch {
	case open:
		return before, refuse(Usage, "%s is open: answer it without replacing", t.Decision)
	case !ok:
		refusal := refuse(DecisionNotFound, "no question %q was answered", t.Decision)
		refusal.Options = slices.Sorted(maps.Keys(s.Cursor.Answers))
		return before, refusal
	case s.Phase != Running:
		return before, refuse(AnswerUsed, "the run is over: it came to its end with the answer %q to %s", before.Value, t.Decision)
	case IsAudit(t.Decision):
		return before, refuse(AnswerUsed, "%s took effect with its answer %q: what was rejected is asked again by a retry", t.Decision, before.Value)
	case strings.HasPrefix(t.Decision, "package:") && before.Value == cancel:
		return before, refuse(AnswerUsed, "%s took effect with its answer %q: packages were canceled", t.Decision, before.Value)
	case before.Used != "":
		return before, refuse(AnswerUsed, "step %s was completed with the answer %q to %s", before.Used, before.Value, t.Decision)
	}
	return before, nil
}

// handAnew gives all that is handed out to its holders once more: the same
// attempts with new tokens, so that the old ones complete nothing.
func (d *draft) handAnew() {
	for _, i := range d.s.Issues() {
		d.reissue(i)
	}
}

func (d *draft) reissue(i Issue) {
	e := Issued{Token: d.token(), Pos: i.Pos, Step: i.Step, Package: i.Package, Attempt: i.Attempt, Holder: i.Holder}
	if i.Package != "" {
		e.Source = d.s.Source
	}
	d.emit(e)
}
