package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// ReplayRequest names the run to be replayed: a mission's latest.
type ReplayRequest struct {
	Mission string
	Plugins bool // also make the recorded calls of plugins again
}

// Replay is a run as it happened, and whether it comes out the same.
type Replay struct {
	Schema       int         `json:"schema"`
	RunID        string      `json:"run_id"`
	MissionSlug  string      `json:"mission_slug"`
	MissionType  string      `json:"mission_type"`
	MissionState string      `json:"mission_state"`
	Revision     uint64      `json:"revision"` // of the last moment
	Verdict      Verdict     `json:"verdict"`
	Problems     []string    `json:"problems"` // what speaks against VerdictSame
	Moments      []Moment    `json:"moments"`
	Calls        []CallAgain `json:"calls"` // empty without ReplayRequest.Plugins
}

// Verdict is what a replay comes to.
type Verdict string

// The verdicts, the gravest last.
const (
	VerdictSame      Verdict = "same"       // the journal, folded again, is the state; calls made again gave the same answers
	VerdictNotJudged Verdict = "not_judged" // a record is of a newer version: all is shown, nothing is said of the state
	VerdictDiffers   Verdict = "differs"
	VerdictDamaged   Verdict = "damaged" // the journal cannot be read to its end
)

// Moment is one commit, told.
type Moment struct {
	Revision uint64   `json:"revision"`
	At       string   `json:"at"`
	Actor    string   `json:"actor"`
	Kind     string   `json:"kind"`
	Told     []Saying `json:"told"`
}

// Replay tells a mission's latest run step by step, folds its journal anew and
// holds the outcome against the state that the run goes by. It takes no lock and
// writes nothing. What is wrong with the run is in the verdict; the error says
// that the replay itself could not be made.
func (p *Project) Replay(ctx context.Context, q ReplayRequest) (Replay, error) {
	r, err := p.openRun(ctx, q.Mission)
	if err != nil {
		return Replay{}, classify(err)
	}
	a := &replaying{p: p, run: r, calls: q.Plugins, known: true, Replay: Replay{
		Schema: Schema, RunID: r.store.ID(), MissionSlug: r.mission.Slug,
		Verdict: VerdictSame, Problems: []string{}, Moments: []Moment{}, Calls: []CallAgain{},
	}}
	err = a.replay(ctx)
	return a.Replay, classify(err)
}

// replaying is a replay while it is made.
type replaying struct {
	Replay
	p     *Project
	run   *run
	calls bool

	goesBy *snapshot    // the state that the run goes by; nil: it cannot be read
	state  cursor.State // folded up to the last moment, while known
	known  bool         // every record so far is understood
	met    bool         // the record that goesBy is of
}

func (a *replaying) replay(ctx context.Context) error {
	snap, unread := a.run.store.Read(ctx)
	if unread == nil {
		a.goesBy = &snap
	}
	err := a.run.store.Records(ctx, 1, func(rec commit.Record[cursor.Event]) error { return a.take(ctx, rec) })
	if err == nil {
		err = unread // else the records tell the same, and where
	}
	if err != nil {
		if err := a.judge(err); err != nil {
			return err
		}
	}
	if a.goesBy != nil && a.known && !a.met {
		a.find(VerdictDiffers, fmt.Sprintf("the state is of revision %d, and the journal has no such record", snap.Revision))
	}
	r := reading{state: a.state}
	a.MissionType, a.MissionState = a.state.Type, r.missionState()
	if a.Verdict == VerdictDamaged {
		a.MissionState = string(VerdictDamaged)
	}
	return nil
}

// take tells one record, makes its calls again where that is asked, and folds it.
func (a *replaying) take(ctx context.Context, rec commit.Record[cursor.Event]) error {
	m := Moment{Revision: rec.Revision, At: stamp(rec.At), Actor: rec.Actor, Kind: rec.Kind, Told: []Saying{}}
	for _, e := range rec.Events {
		m.Told = append(m.Told, tell(e))
	}
	a.Revision, a.Moments = rec.Revision, append(a.Moments, m)
	if rec.Newer != "" {
		a.known = false
		a.find(VerdictNotJudged, fmt.Sprintf("revision %d is not understood by this version: %s", rec.Revision, rec.Newer))
	}
	if !a.known {
		return nil
	}
	if err := a.callAgain(ctx, rec); err != nil {
		return err
	}
	meta := metaOf(rec.Meta)
	for _, e := range rec.Events {
		a.state = cursor.Evolve(a.state, meta, e.Event)
	}
	if a.goesBy == nil || a.goesBy.Revision != rec.Revision {
		return nil
	}
	a.met = true
	return a.compare(rec.Digest)
}

// compare holds the folded state against the one that the run goes by.
func (a *replaying) compare(digest string) error {
	if digest != a.goesBy.Digest {
		a.find(VerdictDiffers, fmt.Sprintf("the state was made of another record than revision %d", a.goesBy.Revision))
	}
	folded, err := json.Marshal(a.state)
	if err != nil {
		return err
	}
	have, err := json.Marshal(a.goesBy.State)
	if err != nil {
		return err
	}
	if bytes.Equal(folded, have) {
		return nil
	}
	parts, err := differing(folded, have)
	if err != nil {
		return err
	}
	a.find(VerdictDiffers, fmt.Sprintf("folded up to revision %d the journal gives another state than the one that the run goes by; they differ in: %s",
		a.goesBy.Revision, strings.Join(parts, ", ")))
	return nil
}

// differing names the fields in which two JSON objects differ.
func differing(one, other []byte) ([]string, error) {
	var a, b map[string]json.RawMessage
	if err := json.Unmarshal(one, &a); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(other, &b); err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for _, m := range []map[string]json.RawMessage{a, b} {
		for name := range m {
			if !bytes.Equal(a[name], b[name]) {
				all[name] = true
			}
		}
	}
	return sortedKeys(all), nil
}

// judge takes what the store says of the run into the verdict. Other errors it
// gives back.
func (a *replaying) judge(err error) error {
	known := fromCommit(err)
	switch {
	case known == nil:
		return err
	case known.Code == CodeNewerFormat:
		a.find(VerdictNotJudged, known.Message)
	case known.Code == CodeStateDamaged, known.Code == CodeTwoWriters:
		a.find(VerdictDamaged, known.Message)
	default:
		return err
	}
	return nil
}

// find notes a problem, once, and lets the gravest verdict stand.
func (a *replaying) find(v Verdict, problem string) {
	for _, before := range a.Problems {
		if before == problem {
			return
		}
	}
	a.Problems = append(a.Problems, problem)
	if v.grave() > a.Verdict.grave() {
		a.Verdict = v
	}
}

func (v Verdict) grave() int {
	for i, known := range []Verdict{VerdictSame, VerdictNotJudged, VerdictDiffers, VerdictDamaged} {
		if v == known {
			return i
		}
	}
	return 0
}
