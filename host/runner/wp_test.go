package runner

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

func claim(t testing.TB, p *Project, agent, id string) Answer {
	t.Helper()
	a, err := p.WPClaim(context.Background(), ClaimRequest{Mission: "m", Caller: Caller{Agent: agent}, Package: id})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func started(t testing.TB, root string) *Project {
	t.Helper()
	p := open(t, root)
	if _, err := p.Start(context.Background(), StartRequest{Slug: "m", Caller: Caller{}}); err != nil {
		t.Fatal(err)
	}
	return p
}

// Field case 03: eight processes claim one ready package, released together when
// each has read. One gets it; the others are told that it has it. Then eight
// claim whatever is next: no package goes to two.
func TestEightClaimOnePackage_Case03(t *testing.T) {
	hands := make([]*hand, 8)
	for i := range hands {
		hands[i] = startHand(t)
	}
	for round := range rounds(t, 50) {
		files := packages(4)
		if round%2 == 1 { // both sources
			files["status.events.jsonl"] = laneLog("planned", "planned", "planned", "planned")
		}
		root := makeProject(t, packaged, files)
		p := started(t, root)
		named := together(hands, claims(root, "WP02"))
		won := 0
		for i, a := range named {
			if a.Kind == KindStep {
				won++
				again := claim(t, p, fmt.Sprintf("agent-%d", i), "WP02")
				if value(again.Token) != value(a.Token) || again.Recorded {
					t.Fatalf("round %d: asked again, the winner is given %s", round, value(again.Token))
				}
				continue
			}
			wantBlocked(t, a, "package_held")
			if a.Holder == nil || !strings.HasPrefix(a.Holder.Agent, "agent-") || a.Holder.Since == "" {
				t.Fatalf("round %d: nobody is named: %+v", round, a.Holder)
			}
		}
		if won != 1 {
			t.Fatalf("round %d: WP02 went to %d", round, won)
		}
		var given []string
		for _, a := range together(hands, claims(root, "")) {
			if a.Kind == KindStep {
				given = append(given, value(a.WPID))
				continue
			}
			wantBlocked(t, a, "waiting_for_work_packages")
		}
		slices.Sort(given)
		if got := fmt.Sprint(given); got != "[WP01 WP02 WP03 WP04]" {
			t.Fatalf("round %d: given were %s", round, got)
		}
	}
}

func claims(root, id string) []order {
	orders := make([]order, 8)
	for i := range orders {
		orders[i] = order{Root: root, Claim: &ClaimRequest{Mission: "m", Caller: Caller{Agent: fmt.Sprintf("agent-%d", i)}, Package: id}}
	}
	return orders
}

// Field case 35: after a rejection and a rework the history has each actor with
// the attempt, the holder is there again, and the next prompt has the feedback.
func TestHistoryKeepsEachActor_Case35(t *testing.T) {
	missions := strings.Replace(packaged, `id = "implement"`, "id = \"implement\"\nprompt = \"Build it. {{.Feedback}}\"", 1)
	missions = strings.Replace(missions, ", self_review = true", "", 1)
	root := makeProject(t, missions, packages(1))
	p := started(t, root)
	token := func(agent string) string { return value(claim(t, p, agent, "WP01").Token) }
	must(t, p, report("ann", cursor.Success, token("ann")))
	rejection := report("bob", cursor.Failed, token("bob"))
	rejection.Reason = "the tests are missing"
	must(t, p, rejection)
	if _, err := p.WPRelease(context.Background(), OperatorRequest{Mission: "m", Actor: "ops", Package: "WP01", Reason: "for ann"}); err != nil {
		t.Fatal(err)
	}
	again := claim(t, p, "ann", "WP01")
	if !strings.Contains(read(t, value(again.PromptFile)), "the tests are missing") {
		t.Errorf("the prompt has no feedback")
	}
	must(t, p, report("ann", cursor.Success, value(again.Token)))
	must(t, p, report("bob", cursor.Success, token("bob")))
	h, err := p.WPHistory(context.Background(), "m", "WP01")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, c := range h.Changes {
		if c.Change == "reported" {
			told = append(told, fmt.Sprintf("%s %s %s %d", c.Holder, value(c.StepID), value(c.Result), *c.Attempt))
		}
	}
	want := "[ann implement success 1 bob review failed 1 ann implement success 2 bob review success 1]"
	if got := fmt.Sprint(told); got != want {
		t.Errorf("reports %s, want %s", got, want)
	}
	page, err := p.WPShow(context.Background(), "m", "WP01")
	if err != nil || page.Package.Lane != "approved" || page.Package.Author != "ann" || page.Feedback != "" {
		t.Errorf("%+v %v", page.Package, err)
	}
}

// A claim whose prompt cannot be rendered hands nothing out.
func TestClaimRendersFirst(t *testing.T) {
	missions := strings.Replace(packaged, `id = "implement"`, "id = \"implement\"\nprompt = \"{{.Package.Title}}\"", 1)
	root := makeProject(t, missions, packages(1))
	p := started(t, root)
	before := journal(t, root)
	tasks := root + "/kitty-specs/m/tasks/WP01.md"
	file := read(t, tasks)
	if err := os.Remove(tasks); err != nil {
		t.Fatal(err)
	}
	if _, err := p.WPClaim(context.Background(), ClaimRequest{Mission: "m", Caller: Caller{Agent: "a"}, Package: "WP01"}); err == nil {
		t.Error("a package without a file was handed out")
	}
	if journal(t, root) != before {
		t.Error("a refused claim wrote")
	}
	write(t, tasks, file)
	if a := claim(t, p, "a", "WP01"); a.Kind != KindStep {
		t.Errorf("%s", value(a.Reason))
	}
}

// Requirement of the moves: where the last package is moved to where the step is
// over, the guards of the step still stand before its end.
func TestMoveDoesNotPassGuards(t *testing.T) {
	missions := strings.Replace(packaged, "retry = 1", "retry = 1\nguards = [{ artifact = \"built.md\" }]", 1)
	root := makeProject(t, missions, packages(1))
	p := started(t, root)
	q := OperatorRequest{Mission: "m", Actor: "ops", Package: "WP01", To: "approved", Force: true, Reason: "by hand"}
	if a, err := p.WPMove(context.Background(), q); err != nil || !a.Recorded || a.MissionState != "implement" {
		t.Fatalf("%+v %v", a, err)
	}
	wantBlocked(t, must(t, p, report("a", cursor.Success)), "guard_refused")
	write(t, root+"/kitty-specs/m/built.md", "it is\n")
	if a := must(t, p, report("a", cursor.Success)); a.MissionState != "review" {
		t.Errorf("state %s (%s)", a.MissionState, value(a.Reason))
	}
}

// A line of the lane log may have any time that is one, the first of all too.
func TestHistoryFromTheBeginningOfTime(t *testing.T) {
	files := packages(1)
	files["status.events.jsonl"] = strings.Replace(laneLog("planned"), "2026-01-01", "0001-01-01", 1)
	p := open(t, makeProject(t, packaged, files))
	h, err := p.WPHistory(t.Context(), "m", "WP01")
	if err != nil || len(h.Changes) != 1 || h.Changes[0].At != "0001-01-01T00:00:00Z" {
		t.Errorf("%+v, %v", h.Changes, err)
	}
}

// A package that is blocked without a word is shown as stopped all the same.
func TestStoppedWithoutAReason(t *testing.T) {
	root := makeProject(t, packaged, packages(1))
	p := started(t, root)
	claim(t, p, "a", "WP01")
	must(t, p, report("a", cursor.Blocked))
	o, err := p.Show(t.Context(), "m")
	if err != nil || len(o.Packages) != 1 || o.Packages[0].Stopped != "blocked" {
		t.Errorf("%+v, %v", o.Packages, err)
	}
	if list, err := p.WPList(t.Context(), "m"); err != nil || list.Packages[0].Stopped != "blocked" {
		t.Errorf("%+v, %v", list.Packages, err)
	}
}
