package main

import (
	"strings"
	"testing"
)

// The rules of the steps that packages can be stranded at: none lends to another.
const (
	strandedImplement = `[[missions.t.steps]]
id = "implement"
work_packages = { take = ["planned"], claim = "in_progress", success = "for_review", failed = "planned", until = ["for_review", "in_review", "approved", "done", "canceled"] }
`
	strandedReview = `[[missions.t.steps]]
id = "review"
work_packages = { take = ["for_review"], claim = "in_review", success = "approved", failed = "planned", until = ["approved", "done", "canceled"] }
`
	strandedAlone = `[[missions.t.steps]]
id = "implement"
work_packages = { take = ["planned"], claim = "in_progress", success = "approved", failed = "planned", until = ["approved", "done"], self_review = true }
`
)

// TestStrandedPackagesMoveAsPrinted_P4: where a package lies in a lane that the step
// neither takes from nor ends with, or that keeps another one waiting, the answer
// prints the move that helps, and moves made as printed lead to work again (issue 4
// point 5, field case 09).
func TestStrandedPackagesMoveAsPrinted_P4(t *testing.T) {
	token := func(s site, agent string) string {
		return s.json("next", "--mission", "m", "--agent", agent, "--result", "success")["token"].(string)
	}
	for _, c := range []struct {
		name, config string
		meet         func(s site)
		moves        string // the lanes that are printed, one after the other
		wp           string // handed out at the end
	}{
		{"a dependency waits for its review", strandedImplement + strandedReview, func(s site) {
			s.json("next", "--mission", "m", "--agent", "a", "--token", token(s, "a"), "--result", "success")
		}, "in_review approved", "WP02"},
		{"a review fails and nobody works on it again", strandedImplement + strandedReview, func(s site) {
			s.json("wp", "move", "WP02", "--to", "canceled", "--mission", "m", "--as", "human:kim")
			s.json("next", "--mission", "m", "--agent", "b", "--token", token(s, "b"), "--result", "success")
			s.json("next", "--mission", "m", "--agent", "c", "--token", token(s, "c"), "--result", "failed", "--reason", "no tests")
		}, "claimed in_progress for_review", "WP01"},
		{"released in the middle of a step that was skipped", strandedImplement + strandedReview, func(s site) {
			s.json("wp", "move", "WP02", "--to", "canceled", "--mission", "m", "--as", "human:kim")
			token(s, "a")
			s.json("run", "release", "m", "--reason", "gone")
			s.json("run", "skip", "m", "implement", "--reason", "r")
		}, "for_review", "WP01"},
		{"handed in for a review that no step makes", strandedAlone, func(s site) {
			s.json("wp", "move", "WP01", "--to", "for_review", "--mission", "m", "--agent", "b", "--token", token(s, "b"))
		}, "in_review planned", "WP01"},
		{"a final lane that the step does not end with", strandedAlone, func(s site) {
			s.json("next", "--mission", "m", "--agent", "a", "--token", token(s, "a"), "--result", "success")
			s.json("wp", "move", "WP02", "--to", "canceled", "--mission", "m", "--as", "human:kim", "--force", "--reason", "r")
		}, "planned", "WP02"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.write("spec-kitty.toml", "schema = 1\n"+c.config)
			s.json("run", "start", "m")
			c.meet(s)
			var moves []string
			doc := s.json("next", "--mission", "m", "--agent", "a", "--result", "success")
			for ; refusalOf(doc) == "waiting_for_work_packages" && len(moves) < 9; doc = s.json("next", "--mission", "m", "--agent", "a", "--result", "success") {
				if !strings.Contains(doc["reason"].(string), "it has to be moved on") {
					t.Fatal(doc["reason"])
				}
				moves = append(moves, s.moveOn(doc["recover"].([]any)))
			}
			if got := strings.Join(moves, " "); got != c.moves || doc["kind"] != "step" || doc["wp_id"] != c.wp {
				t.Fatalf("moved to %q, then %v of %v: %v", got, doc["kind"], doc["wp_id"], doc["reason"])
			}
		})
	}
}

// moveOn makes the move among printed ways and gives the lane that it leads to.
func (s site) moveOn(lines []any) string {
	s.t.Helper()
	for _, line := range lines {
		args := words(line.(string))
		if len(args) < 7 || args[1] != "wp" || args[2] != "move" {
			continue
		}
		if out, code := s.call(args[1:]...); code != exitOK {
			s.t.Fatalf("%q does not work as printed: exit code %d, %s", line, code, out)
		}
		return args[7]
	}
	s.t.Fatalf("no move is printed: %v", lines)
	return ""
}

// TestGuardsSeePackagesWithoutAPackageStep: a guard sees where a package lies also
// in a mission in which no step works on packages, and packages are moved there.
func TestGuardsSeePackagesWithoutAPackageStep(t *testing.T) {
	s := newSite(t)
	s.write("spec-kitty.toml", `schema = 1
[missions.t]
steps = [
  { id = "a", guards = [{ work_packages = "WP01", lanes = ["planned"] }] },
  { id = "b", guards = [{ work_packages = "WP01", lanes = ["claimed"] }] },
]
`)
	report := func() map[string]any {
		return s.json("next", "--mission", "m", "--agent", "a", "--result", "success")
	}
	report()
	if doc := report(); doc["step_id"] != "b" || doc["kind"] != "step" {
		t.Fatalf("%v: %v", doc["kind"], doc["reason"])
	}
	if doc := report(); refusalOf(doc) != "guard_refused" || !strings.Contains(doc["reason"].(string), "found WP01 in planned") {
		t.Fatalf("%v: %v", doc["kind"], doc["reason"])
	}
	if doc := s.json("wp", "claim", "WP01", "--mission", "m", "--agent", "z"); !strings.Contains(doc["reason"].(string), "does not work on packages") {
		t.Fatalf("%v", doc)
	}
	s.json("wp", "move", "WP01", "--to", "claimed", "--mission", "m", "--as", "human:kim")
	if doc := report(); doc["mission_state"] != "done" {
		t.Fatalf("%v: %v", doc["kind"], doc["reason"])
	}
}
