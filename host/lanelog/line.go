package lanelog

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

// Move is one move of a package, along one edge or forced; where From is To only
// its holder changes, which the log has as a note.
type Move struct {
	Package  string
	From, To mission.Lane
	Actor    string       // who moves it
	Holder   lanes.Person // from then on; nobody: nobody
	Author   lanes.Person // nobody: as before
	Reason   string
	Force    bool
	Ends     string // token of the issue whose report the move is
}

// stamp is what a line says besides its move.
type stamp struct {
	id string
	at time.Time
}

// timeLayout is how the existing tool writes times: microseconds, and an offset.
const timeLayout = "2006-01-02T15:04:05.000000-07:00"

// object is a JSON object in the making; its keys are written in order.
type object map[string]any

// line is the move as the existing tool's line, with its newline.
func (b Batch) line(m Move, s stamp) ([]byte, error) {
	if m.From == m.To {
		return encode(b.note(m, s))
	}
	var evidence, result, reference, reason any
	if m.To.Satisfies() {
		evidence = object{"review": b.verdict(m, "approved")}
	}
	if m.From == mission.InReview {
		result = b.judged(m)
	}
	if m.takesBack() {
		reference = b.reference()
	}
	if m.Reason != "" {
		reason = m.Reason
	}
	policy := object{lanes.OwnKey: b.own(m)}
	if m.Holder.Agent != "" {
		policy["agent"] = m.Holder.Agent
	}
	return encode(object{
		"event_id": s.id, "at": s.at.Format(timeLayout), "wp_id": m.Package,
		"from_lane": m.From, "to_lane": m.To, "actor": m.Actor, "force": m.Force,
		"execution_mode": b.mode(m.Package), "mission_slug": b.Slug, "mission_id": text(b.MissionID),
		"evidence": evidence, "review_result": result, "review_ref": reference,
		"reason": reason, "policy_metadata": policy,
	})
}

// note is a change of the holder alone.
func (b Batch) note(m Move, s stamp) object {
	delta := object{lanes.OwnKey: b.own(m)}
	if m.Holder.Agent == "" {
		delta["release_runtime_claim"] = true
	} else {
		delta["agent"] = m.Holder.Agent
	}
	return object{
		"event_id": s.id, "at": s.at.Format(timeLayout), "wp_id": m.Package,
		"actor": m.Actor, "kind": "annotation", "delta": delta,
	}
}

// own is our part of the line: who has the package and who did the work, exactly.
func (b Batch) own(m Move) object {
	part := object{"run": b.Run, "revision": b.Revision}
	for key, value := range map[string]string{
		"holder": m.Holder.Agent, "holder_worker": m.Holder.Worker,
		"author": m.Author.Agent, "author_worker": m.Author.Worker, "ends": m.Ends,
	} {
		if value != "" {
			part[key] = value
		}
	}
	return part
}

// judged is the review's result, which the log wants of a move out of in_review;
// blocked and canceled are none.
func (b Batch) judged(m Move) any {
	switch m.To {
	case mission.Approved, mission.Done:
		return b.verdict(m, "approved")
	case mission.InProgress, mission.Planned:
		return b.verdict(m, "changes_requested")
	}
	return nil
}

func (b Batch) verdict(m Move, verdict string) object {
	return object{"reviewer": m.Actor, "verdict": verdict, "reference": b.reference()}
}

// reference names the commit of the run that has the whole story.
func (b Batch) reference() string { return "run:" + b.Run }

// takesBack tells whether finished work goes back to be done again.
func (m Move) takesBack() bool {
	switch m.From {
	case mission.ForReview, mission.InReview, mission.Approved:
		return m.To == mission.InProgress || m.To == mission.Planned
	}
	return false
}

// mode is where the work is done.
func (b Batch) mode(id string) string {
	if b.Worktrees[id] {
		return "worktree"
	}
	return "direct_repo"
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// encode writes an object in one line as the existing tool does: keys in order, a
// space after commas and colons.
func encode(o object) ([]byte, error) {
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	if err := e.Encode(o); err != nil {
		return nil, err
	}
	out := make([]byte, 0, plain.Len()*5/4)
	inText := false
	for i, c := range plain.Bytes() {
		out = append(out, c)
		switch {
		case c == '"' && !escaped(plain.Bytes()[:i]):
			inText = !inText
		case !inText && (c == ',' || c == ':'):
			out = append(out, ' ')
		}
	}
	return out, nil
}

// escaped tells whether what follows is escaped: an odd number of backslashes.
func escaped(before []byte) bool {
	n := len(before) - len(bytes.TrimRight(before, `\`))
	return n%2 == 1
}
