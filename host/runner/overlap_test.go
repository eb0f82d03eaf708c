package runner

import (
	"context"
	"fmt"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// peerAt runs a peer's calls once, when the caller's own call meets a point.
func peerAt(point string, peer func()) func(*Options) {
	return func(o *Options) {
		done := false
		o.Hook = func(p string) {
			if p == point && !done {
				done = true
				peer()
			}
		}
	}
}

// US1, FR-001, SC-001, SC-004: a peer moves the cursor between a caller's first
// read and its commit. The caller is refused by name, nothing is written, and the
// step that the peer was given is not completed. On the engine path and on the
// composition path, and with the peer at each point before the commit.
func TestOverlapIsRefused_US1_FR001(t *testing.T) {
	for path, definition := range map[string]string{"engine": linear, "composition": composed} {
		for _, point := range []string{PointRead, PointDispatched, PointPlanned} {
			t.Run(path+"/"+point, func(t *testing.T) {
				root := makeProject(t, definition, nil, "success")
				peer := open(t, root)
				first := must(t, peer, report("a", cursor.Success))
				wantStep(t, first, "A")

				var before string
				caller := open(t, root, peerAt(point, func() {
					wantStep(t, must(t, peer, report("a", cursor.Success)), "B")
					before = journal(t, root)
				}))
				wantBlocked(t, must(t, caller, report("a", cursor.Success)), "cursor_moved")
				if got := journal(t, root); got != before {
					t.Errorf("the refused report wrote:\n%s", got[len(before):])
				}
				if n := completions(t, root, "B"); n != 0 {
					t.Errorf("B, which nobody evaluated, is complete")
				}
			})
		}
	}
}

// US1, SC-001, FR-005: without a peer the same report completes the step and
// hands out the next, and two reports one after the other both complete.
func TestSequentialReportsComplete_US1_SC001(t *testing.T) {
	for path, definition := range map[string]string{"engine": linear, "composition": composed} {
		t.Run(path, func(t *testing.T) {
			root := makeProject(t, definition, nil, "success")
			p := open(t, root)
			for _, step := range []string{"A", "B", "C"} {
				wantStep(t, must(t, p, report("a", cursor.Success)), step)
			}
			a := must(t, p, report("a", cursor.Success))
			if a.Kind != KindTerminal || a.MissionState != "done" {
				t.Errorf("kind %s, state %s", a.Kind, a.MissionState)
			}
		})
	}
}

// US2, FR-002: what an engine-path plan relied on changed. It is refused, and
// the planner is not asked again: the caller's one plan is all there is.
func TestStalePlanIsNotPlannedAgain_US2_FR002(t *testing.T) {
	for name, stale := range map[string]bool{"fresh": false, "stale": true} {
		t.Run(name, func(t *testing.T) {
			root := makeProject(t, linear, nil)
			peer := open(t, root)
			must(t, peer, report("a", cursor.Success))
			plans, commits := 0, 0
			caller := open(t, root, func(o *Options) {
				o.Hook = func(point string) {
					switch point {
					case PointPlanned:
						plans++
						if stale && plans == 1 {
							must(t, peer, report("a", cursor.Success))
						}
					case PointCommitted:
						commits++
					}
				}
			})
			a := must(t, caller, report("a", cursor.Success))
			if stale {
				wantBlocked(t, a, "cursor_moved", "stale_plan")
			} else {
				wantStep(t, a, "B")
			}
			if plans != 1 || commits != 1 {
				t.Errorf("%d plans and %d commits, want one each: a stale plan is never made anew as success", plans, commits)
			}
		})
	}
}

// NFR-001: dispatch has ended before the lock is taken, and the lock is given
// back around the commit. NFR-002: it is taken exactly once. C-002: the index
// lock is not held meanwhile, also at a start.
func TestLockOrder_NFR001_NFR002_C002(t *testing.T) {
	root := makeProject(t, composed, nil, "success")
	var points []string
	p := open(t, root, func(o *Options) {
		note := func(point string) { points = append(points, point) }
		o.Hook, o.Commit.Hook = note, note
	})
	must(t, p, report("a", cursor.Success))
	start := fmt.Sprint(points)
	points = nil
	must(t, p, report("a", cursor.Success))
	at := map[string]int{}
	for i, point := range points {
		at[point]++
		if at[point] > 1 {
			t.Errorf("point %s met twice: %v", point, points)
		}
		_ = i
	}
	order := []string{PointRead, PointDispatched, PointPlanned, "lock_acquired", "released", PointCommitted}
	last := -1
	for _, want := range order {
		i := index(points, want)
		if i <= last {
			t.Fatalf("%s is not where it belongs in %v", want, points)
		}
		last = i
	}
	t.Log(start)
}

func index(all []string, one string) int {
	for i, s := range all {
		if s == one {
			return i
		}
	}
	return -1
}

// US3.2, SC-001: eight agents with one token, released together when each has
// read: one commits, seven are refused by name, and nothing is written twice.
func TestEightWithOneToken_US3_2(t *testing.T) {
	eight(t, func(i int, token string) Request { return report(fmt.Sprintf("agent-%d", i), cursor.Success, token) })
}

// US3.2: eight processes of one agent, without a token.
func TestEightOfOneAgent_US3_2(t *testing.T) {
	eight(t, func(int, string) Request { return report("a", cursor.Success) })
}

// US3.2: eight agents where anybody may report the current step: the compare
// decides.
func TestEightWithAnyHolder_US3_2(t *testing.T) {
	definition := "[runtime]\nholder = \"any\"\n" + linear
	eightIn(t, definition, func(i int, _ string) Request { return report(fmt.Sprintf("agent-%d", i), cursor.Success) })
}

func eight(t *testing.T, request func(int, string) Request) { eightIn(t, linear, request) }

func eightIn(t *testing.T, definition string, request func(int, string) Request) {
	hands := make([]*hand, 8)
	for i := range hands {
		hands[i] = startHand(t)
	}
	for round := range rounds(t, 200) {
		root := makeProject(t, definition, nil)
		p := open(t, root)
		token := *must(t, p, report("a", cursor.Success)).Token
		orders := make([]order, 8)
		for i := range orders {
			q := request(i, token)
			orders[i] = order{Root: root, Request: &q}
		}
		won := 0
		for _, a := range together(hands, orders) {
			if a.Kind == KindStep && a.Recorded {
				won++
				continue
			}
			wantBlocked(t, a, "cursor_moved", "stale_plan", "stale_token")
		}
		if won != 1 || completions(t, root, "A") != 1 || completions(t, root, "B") != 0 {
			t.Fatalf("round %d: %d won; A completed %d times, B %d times", round, won, completions(t, root, "A"), completions(t, root, "B"))
		}
		p.Close()
	}
}

// US3.3, FR-004: eight answers to eight questions, released together when each
// has read: eight are stored.
func TestEightAnswers_US3_3(t *testing.T) {
	hands := make([]*hand, 8)
	for i := range hands {
		hands[i] = startHand(t)
	}
	for round := range rounds(t, 50) {
		root := makeProject(t, questions(8), nil)
		p := open(t, root)
		if a := must(t, p, report("a", cursor.Success)); a.Kind != KindDecision || len(a.OpenDecisions) != 8 {
			t.Fatalf("kind %s, %d questions", a.Kind, len(a.OpenDecisions))
		}
		orders := make([]order, 8)
		for i := range orders {
			yes := "yes"
			orders[i] = order{Root: root, Request: &Request{Mission: "m", Caller: Caller{Agent: "a"}, Answer: &yes, Decision: fmt.Sprintf("input:q%d", i)}}
		}
		for _, a := range together(hands, orders) {
			if a.Kind == KindBlocked || !a.Recorded {
				t.Fatalf("round %d: an answer was refused: %s", round, value(a.Reason))
			}
		}
		shown, err := p.Show(context.Background(), "m")
		if err != nil || len(shown.Inputs) != 8 || len(shown.OpenDecisions) != 0 {
			t.Fatalf("round %d: %d answers stored, %d open: %v", round, len(shown.Inputs), len(shown.OpenDecisions), err)
		}
		p.Close()
	}
}

// US3.3, FR-004: an answer that overlaps an advance survives, and the advance
// that was planned before it is refused.
func TestAnswerOverlapsAdvance_US3_3(t *testing.T) {
	root := makeProject(t, questions(1), nil)
	peer := open(t, root)
	must(t, peer, report("a", cursor.Success))
	yes := "yes"
	answer := Request{Mission: "m", Caller: Caller{Agent: "b"}, Answer: &yes}
	caller := open(t, root, peerAt(PointPlanned, func() { must(t, peer, answer) }))
	a := must(t, caller, report("a", cursor.Success))
	// The ask relied on nothing: under the lock the question is answered, so
	// the step is handed out.
	wantStep(t, a, "ask")
	shown, err := peer.Show(context.Background(), "m")
	if err != nil || shown.Inputs["q0"] != "yes" {
		t.Fatalf("the answer is lost: %v %v", shown.Inputs, err)
	}
}

// SC-002, US1: the packages of a mission whose lanes live in the existing tool's
// log wait for review. No overlapping reports reach the end or complete review.
func TestNoReviewIsSkipped_SC002(t *testing.T) {
	files := packages(1)
	files["status.events.jsonl"] = laneLog("for_review")
	for _, point := range []string{PointRead, PointDispatched, PointPlanned} {
		root := makeProject(t, packaged, files)
		peer := open(t, root)
		started := must(t, peer, report("a", cursor.Success))
		if started.MissionState != "implement" {
			t.Fatalf("state %s", started.MissionState)
		}
		caller := open(t, root, peerAt(point, func() {
			if a := must(t, peer, report("b", cursor.Success)); a.MissionState != "review" {
				t.Fatalf("the peer stands at %s", a.MissionState)
			}
		}))
		wantBlocked(t, must(t, caller, report("a", cursor.Success)), "cursor_moved")
		for range 4 { // whoever calls, however often: b has the review
			for _, agent := range []string{"a", "c", "d"} {
				a := must(t, peer, report(agent, cursor.Success))
				if a.Kind == KindTerminal || a.MissionState == "accept" {
					t.Fatalf("%s reached %s with a package unreviewed", agent, a.MissionState)
				}
			}
		}
		if completions(t, root, "review") != 0 {
			t.Fatal("review is complete with a package unreviewed")
		}
	}
}
