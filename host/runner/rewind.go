package runner

import (
	"cmp"
	"context"
	"slices"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// RewindRequest asks for a run to be put back: to before a step was completed,
// or to a revision.
type RewindRequest struct {
	Mission string
	Actor   string // who does it, for the record
	Human   string // the person who says so by name; "": nobody did
	Step    string // whose newest completion is taken back, or
	To      uint64 // the revision; exactly one of the two is set
	Reason  string
	Lanes   bool // packages go back to their lanes too
	DryRun  bool // only say what it would do
}

// Rewinding is what a rewind takes back, and what it leaves.
type Rewinding struct {
	Schema      int          `json:"schema"`
	MissionSlug string       `json:"mission_slug"`
	RunID       string       `json:"run_id"`
	Applied     bool         `json:"applied"`    // false: a dry run
	From        uint64       `json:"rewound_at"` // the revision that the rewind was made on
	To          uint64       `json:"rewound_to"` // the revision whose state holds again
	StepID      string       `json:"step_id"`    // current afterwards
	Completions []string     `json:"completions"`
	Answers     []AnswerBack `json:"answers"`
	Lanes       []LaneBack   `json:"lanes"`
	Ended       []IssueRow   `json:"ended"`          // work that is void
	LanesLeft   []LaneLeft   `json:"lanes_left"`     // packages that stay where they lie
	Artifacts   []string     `json:"artifacts_left"` // that the guards of the steps taken back looked at
	Recover     []string     `json:"recover"`
	Warnings    []Warning    `json:"warnings"`
}

// AnswerBack is an answer that does not hold any more.
type AnswerBack struct {
	ID     string `json:"decision_id"`
	Answer string `json:"answer"`
	By     string `json:"by"`
}

// LaneBack is a package that went back to a lane.
type LaneBack struct {
	ID   string `json:"wp_id"`
	From string `json:"from"`
	To   string `json:"to"`
}

// LaneLeft is a package that stays in its lane.
type LaneLeft struct {
	ID   string `json:"wp_id"`
	Lane string `json:"lane"`
}

func (q RewindRequest) check() error {
	if (q.Step == "") == (q.To == 0) {
		return fail(CodeUsage, "add --to-step STEP, or --to REVISION", "a rewind goes to before one step's completion, or to one revision")
	}
	return cmp.Or(checkID("step", q.Step), checkReason("taking completed work back", q.Reason))
}

// Rewind puts a mission's latest run back. It hands out nothing, and what was
// handed out is void; the history stays. What the result says is durable when it
// is Applied. A refusal is the Answer; without one it is nil.
func (p *Project) Rewind(ctx context.Context, q RewindRequest) (Rewinding, *Answer, error) {
	if err := q.check(); err != nil {
		return Rewinding{}, nil, err
	}
	r, err := p.read(ctx, q.Mission)
	if err == nil && r.run == nil {
		err = commit.ErrNoRun
	}
	if err != nil {
		return Rewinding{}, nil, classify(err)
	}
	p.hook(PointRead)
	done, err := r.rewind(ctx, q)
	if err != nil {
		a, err := r.refused(Caller{}, err)
		return Rewinding{}, &a, classify(err)
	}
	return done, nil, nil
}

func (r *reading) rewind(ctx context.Context, q RewindRequest) (Rewinding, error) {
	t, err := r.rewinding(ctx, q)
	if err != nil {
		return Rewinding{}, err
	}
	before := *r
	made, err := r.foretell(t)
	if err != nil {
		return Rewinding{}, err
	}
	done, err := before.takesBack(t, made.state)
	if err != nil || q.DryRun {
		done.Warnings = append([]Warning{}, r.warnings...)
		return done, err
	}
	if err := r.commit(ctx, t); err != nil {
		return Rewinding{}, err
	}
	done.Applied = r.recorded
	r.writePrompts()
	done.Warnings = append([]Warning{}, r.warnings...)
	return done, nil
}

// rewinding is the transition: what the journal says of the revision, carried
// over to the definition that the run goes by now.
func (r *reading) rewinding(ctx context.Context, q RewindRequest) (cursor.Rewind, error) {
	t := cursor.Rewind{Who: q.Actor, Human: q.Human, Reason: q.Reason, To: q.To, Step: q.Step, Seen: r.state.CursorStamp(), Tokens: r.p.tokens()}
	if q.Lanes {
		t.Lanes = r.state.PackagesDigest()
	}
	if r.state.Phase == cursor.Aborted || q.Step == "" && q.To >= r.state.Revision {
		t.Then.Run = r.state.Run
		return t, nil // refused by name
	}
	var err error
	if q.Step != "" {
		t.To, err = r.beforeCompletion(ctx, q.Step)
	} else {
		err = r.stillHolds(ctx, q.To)
	}
	if err != nil {
		return t, err
	}
	t.Then, err = r.stateAfter(ctx, t.To)
	return t, err
}

// takesBack lists what a rewind takes back and leaves, by the states before and
// after it.
func (r *reading) takesBack(t cursor.Rewind, after cursor.State) (Rewinding, error) {
	done := Rewinding{Schema: Schema, MissionSlug: r.mission.Slug, RunID: r.state.Run, From: r.state.Revision, To: t.To,
		StepID: after.Cursor.Step, Completions: []string{}, Answers: []AnswerBack{}, Lanes: []LaneBack{}, LanesLeft: []LaneLeft{},
		Artifacts: []string{}, Ended: r.issueRows(), Recover: []string{r.nextLine(Caller{})}}
	for pos := range r.state.Cursor.Done.All() {
		if after.Cursor.Done.Has(pos) {
			continue
		}
		step, err := r.facts.Def.Step(pos)
		if err != nil {
			return done, err
		}
		done.Completions = append(done.Completions, step.ID)
		for _, g := range step.Guards {
			if g.Artifact != nil && !slices.Contains(done.Artifacts, g.Artifact.Path) {
				done.Artifacts = append(done.Artifacts, g.Artifact.Path)
			}
		}
	}
	for _, id := range sortedKeys(r.state.Cursor.Answers) {
		was, is := r.state.Cursor.Answers[id], after.Cursor.Answers[id]
		if was.Value != is.Value || was.Token != is.Token {
			done.Answers = append(done.Answers, AnswerBack{ID: id, Answer: was.Value, By: was.By})
		}
	}
	r.lanesBack(&done, t, after)
	return done, nil
}

// lanesBack lists the packages that go back, and those that would but stay. Of a
// lane log outside of the run nobody knows here where they lay: all stay.
func (r *reading) lanesBack(done *Rewinding, t cursor.Rewind, after cursor.State) {
	_, facts := r.packages()
	outside := r.state.SourceOf(facts) == cursor.KittySpecs
	for _, p := range facts.Packages {
		lane, back := r.state.Lane(facts, p.ID), after.Lane(facts, p.ID)
		switch {
		case back != lane:
			done.Lanes = append(done.Lanes, LaneBack{ID: p.ID, From: string(lane), To: string(back)})
		case outside || t.Then.Lane(facts, p.ID) != lane:
			done.LanesLeft = append(done.LanesLeft, LaneLeft{ID: p.ID, Lane: string(lane)})
		}
	}
}
