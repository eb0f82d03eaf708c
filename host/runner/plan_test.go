package runner

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// save makes a saved plan, and wants that nothing is committed by it.
func save(t *testing.T, p *Project, root string, q Request) []byte {
	t.Helper()
	before := journal(t, root)
	var plan []byte
	q.PlanOut = func(raw []byte) error { plan = raw; return nil }
	a := must(t, p, q)
	if !a.Planned || a.Recorded || plan == nil {
		t.Fatalf("planned %v, recorded %v, %d bytes (%s)", a.Planned, a.Recorded, len(plan), value(a.Reason))
	}
	if journal(t, root) != before {
		t.Fatal("--plan-out wrote to the journal")
	}
	return plan
}

func apply(t *testing.T, p *Project, plan []byte) Answer {
	t.Helper()
	a, err := p.Apply(context.Background(), plan)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Two plans of one issue: the one applied last is refused by name, and the
// journal is byte for byte what it was. On both paths, with and without a token,
// and for a plan that asks for work.
func TestSecondPlanIsStale_FR001(t *testing.T) {
	for path, definition := range map[string]string{"engine": linear, "composition": composed} {
		for _, by := range []string{"name", "token", "ask"} {
			t.Run(path+"/"+by, func(t *testing.T) {
				root := makeProject(t, definition, nil, "success")
				p := open(t, root)
				first := must(t, p, report("a", cursor.Success))
				q := report("a", cursor.Success)
				switch by {
				case "token":
					q.Token = *first.Token
				case "ask":
					if _, err := p.Release(context.Background(), OperatorRequest{Mission: "m", Reason: "gone"}); err != nil {
						t.Fatal(err)
					}
				}
				a, b := save(t, p, root, q), save(t, p, root, q)
				if got := apply(t, p, b); !got.Recorded || got.Kind != KindStep {
					t.Fatalf("the fresh plan: kind %s (%s)", got.Kind, value(got.Reason))
				}
				before := journal(t, root)
				wantBlocked(t, apply(t, p, a), "cursor_moved", "stale_plan", "stale_token")
				if journal(t, root) != before {
					t.Error("the stale plan wrote")
				}
			})
		}
	}
}

// Whoever edits the tokens of a plan gains nothing: the work that it hands out has
// a token of its own, and can be reported.
func TestPlanMakesItsTokensAnew_FR001(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	first := must(t, p, report("a", cursor.Success))
	var plan map[string]any
	if err := json.Unmarshal(save(t, p, root, report("a", cursor.Success)), &plan); err != nil {
		t.Fatal(err)
	}
	plan["report"].(map[string]any)["tokens"] = map[string]any{"first": *first.Token}
	raw, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	next := apply(t, p, raw)
	wantStep(t, next, "B")
	if *next.Token == *first.Token {
		t.Fatal("two steps have one token")
	}
	q := report("a", cursor.Success)
	q.Token = *next.Token
	wantStep(t, must(t, p, q), "C")
}

// A saved plan is repeated as itself: the second time it answers from how
// things stand and writes nothing.
func TestPlanIsRepeatedAsItself(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	plan := save(t, p, root, report("a", cursor.Success))
	wantStep(t, apply(t, p, plan), "B")
	before := journal(t, root)
	a := apply(t, p, plan)
	if !a.Replayed || !a.Recorded || value(a.StepID) != "B" || journal(t, root) != before {
		t.Errorf("replayed %v, recorded %v, step %s (%s)", a.Replayed, a.Recorded, value(a.StepID), value(a.Reason))
	}
}

// --apply evaluates the guards again: what was allowed when the plan was made
// and is not any more does not pass, and an edited file gains nothing.
func TestApplyEvaluatesAgain(t *testing.T) {
	const guarded = "[missions.t]\nsteps = [{ id = \"A\", guards = [{ artifact = \"a.md\" }] }, { id = \"B\" }]"
	root := makeProject(t, guarded, map[string]string{"a.md": "here"})
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	plan := save(t, p, root, report("a", cursor.Success))
	write(t, root+"/kitty-specs/m/a.md", "")
	wantBlocked(t, apply(t, p, plan), "guard_refused")

	edited := strings.Replace(string(plan), `"facts"`, `"fakes"`, 1)
	if _, err := p.Apply(context.Background(), []byte(edited)); err == nil {
		t.Error("a plan with an unknown field was taken")
	}
	var tree map[string]any
	if err := json.Unmarshal(plan, &tree); err != nil {
		t.Fatal(err)
	}
	tree["report"].(map[string]any)["guards"] = []any{map[string]any{"guard": "artifact a.md", "verdict": "allow"}}
	forged, _ := json.Marshal(tree)
	wantBlocked(t, apply(t, p, forged), "guard_refused")
}

// An executor's answer in the file is not believed: it is asked again.
func TestApplyAsksTheExecutorAgain(t *testing.T) {
	root := makeProject(t, composed, nil, "success")
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	plan := save(t, p, root, report("a", cursor.Success))
	var tree map[string]any
	if err := json.Unmarshal(plan, &tree); err != nil {
		t.Fatal(err)
	}
	tree["report"].(map[string]any)["outcome"] = map[string]any{"result": "success", "inputs": map[string]any{"forged": "yes"}}
	forged, _ := json.Marshal(tree)
	before := journal(t, root)
	wantBlocked(t, apply(t, p, forged), "stale_plan")
	if journal(t, root) != before {
		t.Error("a forged plan wrote")
	}
	wantStep(t, apply(t, p, plan), "B")
}

// A plan for a package step's own report cannot be bent to another step.
func TestPlanIsForItsStep(t *testing.T) {
	files := packages(1)
	files["status.events.jsonl"] = laneLog("for_review")
	root := makeProject(t, packaged, files)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	plan := save(t, p, root, report("a", cursor.Success))
	if a := apply(t, p, plan); a.MissionState != "review" {
		t.Fatalf("state %s (%s)", a.MissionState, value(a.Reason))
	}
	write(t, root+"/kitty-specs/m/status.events.jsonl", laneLog("approved"))
	before := journal(t, root)
	if a := apply(t, p, plan); !a.Replayed {
		t.Errorf("the same plan again: kind %s (%s)", a.Kind, value(a.Reason))
	}
	other := regexp.MustCompile(`"(id|plan)": "[^"]+"`).ReplaceAllString(string(plan), `"$1": "01KMB0MJYY10DBJNG3ZD7Q8500"`)
	wantBlocked(t, apply(t, p, []byte(other)), "cursor_moved")
	forged := strings.ReplaceAll(other, `"step": "implement"`, `"step": "review"`)
	wantBlocked(t, apply(t, p, []byte(forged)), "stale_plan", "cursor_moved")
	if journal(t, root) != before {
		t.Error("a stale plan wrote")
	}
}

// What a guard or a plugin read is compared under the lock: a change between
// the evaluation and the commit makes the plan stale.
func TestFactsAreReadAgain_FR001(t *testing.T) {
	for name, guards := range map[string]string{
		"artifact": `{ artifact = "a.md", contains = "ok" }`,
		"glob":     `{ artifact = "*.md" }`,
		"plugin":   `{ plugin = "spec-lint" }`,
	} {
		t.Run(name, func(t *testing.T) {
			definition := "[missions.t]\nsteps = [{ id = \"A\", guards = [" + guards + "] }, { id = \"B\" }]"
			root := makeProject(t, definition, map[string]string{"a.md": "ok", "spec.md": spec}, "spec-lint")
			must(t, open(t, root), report("a", cursor.Success))
			changed := false
			caller := open(t, root, peerAt(PointPlanned, func() {
				changed = true
				write(t, root+"/kitty-specs/m/a.md", "ok, and more")
				write(t, root+"/kitty-specs/m/b.md", "new")
				write(t, root+"/kitty-specs/m/spec.md", spec+"\nAnd more.\n")
			}))
			before := journal(t, root)
			wantBlocked(t, must(t, caller, report("a", cursor.Success)), "stale_plan")
			if !changed || journal(t, root) != before {
				t.Error("a stale plan wrote")
			}
			wantStep(t, must(t, caller, report("a", cursor.Success)), "B")
		})
	}
}

// spec is a specification that the example plugin spec-lint allows.
const spec = `# Feature: greet a user

## User scenarios

### User story 1 - Say hello

As a visitor, I want to be greeted by name, so that I feel welcome.

## Requirements

- **FR-001**: The program MUST print the name.

## Success criteria

- **SC-001**: A greeting takes less than a second.
`

// edited is a saved plan by another hand.
func edited(t *testing.T, plan []byte, edit func(issue, report map[string]any)) []byte {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal(plan, &tree); err != nil {
		t.Fatal(err)
	}
	edit(tree["issue"].(map[string]any), tree["report"].(map[string]any))
	raw, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// What guards and calls are on record for is what was seen: a plan of a failure, of
// which nothing is evaluated, has none, whatever its file says.
func TestPlanIsNoEvidence(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	plan := save(t, p, root, report("a", cursor.Failed))
	apply(t, p, edited(t, plan, func(_, report map[string]any) {
		report["guards"] = []any{map[string]any{"guard": "command forged", "verdict": "allow"}}
		report["calls"] = []any{map[string]any{"kind": "command", "name": "forged"}}
	}))
	if got := journal(t, root); strings.Contains(got, "forged") || !strings.Contains(got, `"result":"failed"`) {
		t.Errorf("the journal has what the file made up, or no failure: %s", got)
	}
}

// A plan's words are held to the rules of a report's.
func TestPlanWithABadReason(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	plan := save(t, p, root, report("a", cursor.Failed))
	for name, bad := range map[string][]byte{
		"a NUL byte":  edited(t, plan, func(_, report map[string]any) { report["reason"] = "a\x00b" }),
		"too long":    edited(t, plan, func(_, report map[string]any) { report["reason"] = strings.Repeat("x", MaxText+1) }),
		"text behind": append(plan[:len(plan):len(plan)], "]"...),
	} {
		before := journal(t, root)
		_, err := p.Apply(context.Background(), bad)
		if known := new(Error); !errors.As(err, &known) || known.Code != CodeUsage || journal(t, root) != before {
			t.Errorf("%s: %v", name, err)
		}
	}
}
