package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/simulate"
)

// audited has questions, a retry, and an audit that leads back.
const audited = `
[[missions.t.steps]]
id = "plan"
inputs = [{ key = "owner", question = "Who?" }]
[[missions.t.steps]]
id = "build"
depends_on = ["plan"]
retry = 1
[[missions.t.audits]]
id = "release"
question = "Ship it?"
depends_on = ["build"]
enforcement = "blocking"
on_reject = "build"`

// A run with the same results takes the way that was simulated: each call of
// it, made of a real run, leads to what the simulation says.
func TestSimulationIsWhatARunDoes(t *testing.T) {
	reviewed := strings.ReplaceAll(packaged, ", self_review = true", "")
	for name, c := range map[string]struct {
		project string
		script  simulate.Script
	}{
		"linear":            {linear, simulate.Script{}},
		"a failure":         {audited, simulate.Script{Fail: map[string]int{"build": 1}}},
		"failed for good":   {audited, simulate.Script{Fail: map[string]int{"build": simulate.Always}}},
		"a rejection":       {audited, simulate.Script{Answers: map[string][]string{"audit:release": {"reject", "approve"}}}},
		"blocked":           {audited, simulate.Script{Block: map[string]bool{"plan": true}}},
		"packages":          {packaged, simulate.Script{Packages: Packages(3)}},
		"sent back":         {packaged, simulate.Script{Packages: Packages(2), Fail: map[string]int{"review": 2}}},
		"another reviews":   {reviewed, simulate.Script{Packages: Packages(2), Fail: map[string]int{"review": 1}}},
		"a package fails":   {packaged, simulate.Script{Packages: Packages(2), Fail: map[string]int{"implement": 2}}},
		"a package blocked": {packaged, simulate.Script{Packages: Packages(2), Block: map[string]bool{"implement": true}}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newRehearsal(t, c.project, len(c.script.Packages))
			walked, err := e.p.Simulate(context.Background(), "t", c.script)
			if err != nil {
				t.Fatal(err)
			}
			if len(walked.Unused) > 0 {
				t.Errorf("unused: %q", walked.Unused)
			}
			for _, m := range walked.Moves {
				e.play(m)
			}
			e.ends(walked)
		})
	}
}

// rehearsal plays a simulated walk on a real run.
type rehearsal struct {
	t        *testing.T
	p        *Project
	revision uint64
}

func newRehearsal(t *testing.T, project string, n int) *rehearsal {
	return &rehearsal{t: t, p: open(t, makeProject(t, project, packages(n)))}
}

// play makes a simulated call and compares what it led to.
func (e *rehearsal) play(m simulate.Move) {
	e.t.Helper()
	if err := e.call(m); err != nil {
		e.t.Fatalf("move %d, %s: %v", m.Number, m.Kind, err)
	}
	var want []string
	for _, effect := range m.Effects {
		words := []string{effect.Kind, effect.StepID, effect.WPID, effect.DecisionID}
		if effect.Kind == "handed_out" || effect.Kind == "moved" {
			words = append(words, effect.Text)
		}
		want = append(want, strings.Join(words, " "))
	}
	if diff := cmp.Diff(want, e.happened()); diff != "" {
		e.t.Fatalf("move %d, %s by %s (-simulated +run):\n%s", m.Number, m.Kind, m.By, diff)
	}
}

func (e *rehearsal) call(m simulate.Move) error {
	e.t.Helper()
	ctx := context.Background()
	if m.Kind == "start" {
		_, err := e.p.Start(ctx, StartRequest{Slug: "m", Type: "t", Caller: Caller{Agent: m.By}})
		return err
	}
	shown, err := e.p.Show(ctx, "m")
	if err != nil {
		return err
	}
	q := report(m.By, cursor.Result(m.Result))
	switch m.Kind {
	case "ask":
		q.Result = cursor.Success
	case "report":
		for _, i := range shown.Issues {
			if i.StepID == m.StepID && i.WPID == m.WPID && i.Attempt == m.Attempt {
				q.Token, q.Reason = i.Token, "as the script has it"
			}
		}
		if q.Token == "" {
			return fmt.Errorf("%s %s, attempt %d is not handed out: %+v", m.StepID, m.WPID, m.Attempt, shown.Issues)
		}
	case "answer":
		q = Request{Mission: "m", Caller: Caller{Human: strings.TrimPrefix(m.By, "human:")}, Decision: m.DecisionID, Answer: &m.Answer}
		for _, d := range shown.OpenDecisions {
			if d.ID == m.DecisionID {
				q.DecisionToken = d.Token
			}
		}
	}
	_, err = e.p.Next(ctx, q)
	return err
}

// happened are the events of the records since the last call, as effects.
func (e *rehearsal) happened() []string {
	e.t.Helper()
	var all []string
	err := e.p.Log(context.Background(), "m", e.revision+1, func(r LogRecord) error {
		e.revision = r.Revision
		for _, raw := range r.Events {
			event, err := cursor.DecodeEvent(raw)
			if err != nil {
				return err
			}
			all = effectOf(all, event)
		}
		return nil
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return all
}

func effectOf(all []string, event cursor.Event) []string {
	say := func(words ...string) []string { return append(all, strings.Join(words, " ")) }
	switch v := event.(type) {
	case cursor.Issued:
		return say("handed_out", v.Step, v.Package, "", fmt.Sprintf("to %s, attempt %d", v.Holder, v.Attempt))
	case cursor.Asked:
		return say("asked", "", "", v.ID)
	case cursor.Completed:
		return say("completed", v.Step, "", "")
	case cursor.Stopped:
		return say("stopped", v.Step, v.Package, "")
	case cursor.Reopened:
		return say("reopened", "", "", "")
	case cursor.Finished:
		return say("finished", "", "", "")
	case cursor.Moved:
		if last := len(all) - 1; last >= 0 && strings.HasPrefix(all[last], "moved  "+v.Package+" ") {
			all[last] += ", " + string(v.To)
			return all
		}
		return say("moved", "", v.Package, "", string(v.From)+" to "+string(v.To))
	}
	return all
}

// ends wants the run to stand where the simulation ended.
func (e *rehearsal) ends(walked Simulation) {
	e.t.Helper()
	shown, err := e.p.Show(context.Background(), "m")
	if err != nil {
		e.t.Fatal(err)
	}
	blocked := ""
	if shown.Block != nil {
		blocked = shown.Block.ReasonCode
	}
	state := walked.End.StepID
	if walked.Finished() {
		state = walked.End.State
	}
	if shown.MissionState != state || blocked != walked.End.Code {
		raw, _ := json.Marshal(walked.End)
		e.t.Errorf("the run stands at %s %s, the simulation ended %s", shown.MissionState, blocked, raw)
	}
}
