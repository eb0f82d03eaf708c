package cursor

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
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
	before, err := t.replaceable(s, f)
	if err != nil {
		return nil, err
	}
	q := Asking{ID: t.Decision, Token: before.Token, Options: before.Options}
	key, isInput := strings.CutPrefix(q.ID, InputID(""))
	if isInput {
		q.Key = key
		if err := t.ofInput(f, &q); err != nil {
			return nil, err
		}
	}
	if err := t.check(s, f, q); err != nil {
		return nil, err
	}
	if before.Value == t.Value {
		return nil, nil
	}
	d := newDraft(s, f, now, t, t.Tokens)
	if q.Token == "" { // nobody asked for what is replaced
		q.Token = d.token()
	}
	d.emit(Answered{ID: q.ID, Token: q.Token, Key: q.Key, Value: t.Value, By: t.Who, Reason: t.Reason, Replaces: before.Value})
	t.cancels(d, q.ID)
	if isInput || strings.HasPrefix(q.ID, PluginID("")) {
		d.handAnew()
	}
	return d.done(nil)
}

// ofInput gives the asking the options that its input has now, which a migration may
// have changed. What nobody was asked for and no step names is an executor's own.
func (t Give) ofInput(f Facts, q *Asking) error {
	in, _, err := declared(f.Def, q.Key)
	switch {
	case err != nil:
		return err
	case in != nil:
		q.Options = in.Options
	case q.Token == "":
		return checkInput(f.Def, q.Key, t.Value)
	}
	return nil
}

// replaceable is the answer that is meant, as long as nothing was made with it.
func (t Give) replaceable(s State, f Facts) (Answer, error) {
	if t.Decision == "" || t.Reason == "" {
		return Answer{}, refuse(Usage, "replacing an answer names the decision and says why")
	}
	before, ok := s.answerTo(f, t.Decision)
	_, open := s.Asking(t.Decision)
	owner := t.Decision == InputID(OwnerInput)
	switch {
	case owner && ok && t.Human == "":
		return before, refuse(AuditNeedsHuman, "%s says who answers audits: a person replaces it, with --as human:NAME", t.Decision)
	case open:
		return before, refuse(Usage, "%s is open: answer it without replacing", t.Decision)
	case !ok:
		refusal := refuse(DecisionNotFound, "no question %q was answered", t.Decision)
		refusal.Options = slices.Sorted(maps.Keys(s.Cursor.Answers))
		for _, key := range slices.Sorted(maps.Keys(s.Cursor.Inputs)) {
			if id := InputID(key); !slices.Contains(refusal.Options, id) {
				refusal.Options = append(refusal.Options, id)
			}
		}
		return before, refusal
	case s.Phase != Running:
		return before, refuse(AnswerUsed, "the run is over: it came to its end with the answer %q to %s", before.Value, t.Decision)
	case IsAudit(t.Decision):
		return before, refuse(AnswerUsed, "%s took effect with its answer %q: `spec-kitty run retry` asks again what was rejected, a rewind what was approved", t.Decision, before.Value)
	case strings.HasPrefix(t.Decision, "package:") && before.Value == cancel:
		return before, refuse(AnswerUsed, "%s took effect with its answer %q: packages were canceled", t.Decision, before.Value)
	case owner: // who may audit can be put right as long as the run goes on
	case before.Used != "":
		return before, refuse(AnswerUsed, "step %s was completed with the answer %q to %s", before.Used, before.Value, t.Decision)
	}
	return before, nil
}

// answerTo is the answer to a question, or the value of an input that nobody was
// asked for: it was given at the start, or is a default. Every step that was
// completed since saw it.
func (s State) answerTo(f Facts, decision string) (Answer, bool) {
	if before, ok := s.Cursor.Answers[decision]; ok {
		return before, true
	}
	key, isInput := strings.CutPrefix(decision, InputID(""))
	value, known := s.Cursor.Inputs[key]
	if !isInput || !known {
		return Answer{}, false
	}
	before := Answer{Value: value}
	for pos := range s.Cursor.Done.All() {
		step, _ := f.Def.Step(pos) // one that cannot be read was completed all the same
		before.Used = cmp.Or(step.ID, strconv.Itoa(pos+1))
		break
	}
	return before, true
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
