//go:build linux || darwin

package torture

import (
	"context"
	"fmt"
	"strings"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/runner"
)

// mission is what the agents work on.
const mission = "m"

// choose picks the call that fits, or one that a confused agent would make.
func (l *living) choose(a runner.Answer) call {
	c := call{Op: "next", Reason: fmt.Sprintf("%s %x %d", l.Agent, l.Seed, l.n)}
	if a.Token != nil {
		c.Token = *a.Token // whoever knows it may report with it
	}
	dice := l.rng.IntN(10)
	switch odd := l.rng.IntN(80); {
	case a.MissionState == "done":
		return call{Op: "start"}
	case a.RunID != nil && (odd < 12 || stopped(a)):
		if c, ok := l.detour(a, odd); ok {
			return c
		}
	}
	switch {
	case len(a.OpenDecisions) > 0 && dice < 8:
		d := a.OpenDecisions[l.rng.IntN(len(a.OpenDecisions))]
		return call{Op: "answer", Decision: d.ID, Value: l.Agent}
	case dice == 0 && l.last != "":
		c.Token = l.last
	case dice == 1:
		c.Token = ""
	}
	return c
}

// stopped tells whether something failed and waits for an operator.
func stopped(a runner.Answer) bool {
	return a.ReasonCode != nil && strings.Contains(*a.ReasonCode, "failed")
}

// detour is what operators and unlucky agents do: it takes a package by its name,
// moves one, fails, tries again, takes steps back.
func (l *living) detour(a runner.Answer, odd int) (call, bool) {
	pkg := fmt.Sprintf("WP%02d", 1+l.rng.IntN(packageCount))
	again := call{Op: "retry"}
	if a.MissionState == "build" || a.MissionState == "review" {
		again.Package = pkg
	}
	switch {
	case stopped(a) && odd%2 == 0:
		return again, true
	case a.Progress != nil && odd < 4:
		return call{Op: "claim", Package: pkg}, true
	case a.Progress != nil && odd < 7:
		return call{Op: "move", Package: pkg, To: []string{"blocked", "planned", "for_review"}[l.rng.IntN(3)]}, true
	case a.Token != nil && odd < 8:
		return call{Op: "failed", Token: *a.Token}, true
	case odd < 9:
		return again, true
	case odd == 9:
		return call{Op: "publish"}, true
	case odd == 10 && l.rng.IntN(4) == 0:
		return call{Op: "rewind", To: fmt.Sprintf("w%d", l.rng.IntN(8))}, true
	}
	return call{}, false
}

func (l *living) missionCall(c call) (a runner.Answer, err error) {
	ctx := context.Background()
	operator := runner.OperatorRequest{Mission: mission, Actor: l.Agent, Package: c.Package, To: c.To, Force: true, Reason: "torture"}
	switch c.Op {
	case "claim":
		return l.project.WPClaim(ctx, runner.ClaimRequest{Mission: mission, Caller: l.caller(), Package: c.Package})
	case "move":
		return l.project.WPMove(ctx, operator)
	case "retry":
		return l.project.Retry(ctx, operator)
	case "rewind":
		return l.rewind(c.To)
	case "publish":
		return l.project.Publish(ctx, runner.OperatorRequest{Mission: mission, Actor: l.Agent})
	case "failed":
		return l.project.Next(ctx, runner.Request{Mission: mission, Caller: l.caller(), Result: cursor.Failed, Token: c.Token})
	case "start":
		a, err = l.project.Start(ctx, runner.StartRequest{Slug: mission, Caller: l.caller(), Again: true})
	case "answer":
		a, err = l.project.Next(ctx, runner.Request{Mission: mission, Caller: l.caller(), Answer: &c.Value, Decision: c.Decision})
	default:
		a, err = l.project.Next(ctx, runner.Request{Mission: mission, Caller: l.caller(), Result: cursor.Success, Token: c.Token, Reason: c.Reason})
		l.last = c.Token
	}
	return a, err
}

// rewind has an answer like the others. Its record comes after those that it was
// made on; commits on packages may come between.
func (l *living) rewind(step string) (runner.Answer, error) {
	done, refused, err := l.project.Rewind(context.Background(), runner.RewindRequest{Mission: mission, Actor: l.Agent, Step: step, Reason: "torture"})
	if refused != nil || err != nil {
		return runner.Answer{}, err
	}
	return runner.Answer{RunID: &done.RunID, Revision: done.From + 1, Recorded: done.Applied}, nil
}
