//go:build linux || darwin

package torture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

// loopHistory is what the journal of the loop says.
type loopHistory struct {
	records map[uint64]commit.Record[loop.Event] // by revision
	ended   map[uint64]loop.Ended                // by token
	once    map[string]int                       // what must be there once
	last    uint64                               // the newest token
	landed  int                                  // runs whose work came to the branch
	falling bool                                 // a token came that was not newer
}

func (h *loopHistory) take(rec commit.Record[loop.Event]) error {
	h.records[rec.Revision] = rec
	for _, e := range rec.Events {
		switch e := e.Event.(type) {
		case loop.Claimed:
			h.once[fmt.Sprintf("claim of run %d", e.Token)]++
			h.falling = h.falling || e.Token <= h.last
			h.last = e.Token
		case loop.Working:
			h.once[fmt.Sprintf("work of run %d", e.Token)]++
		case loop.Ended:
			h.once[fmt.Sprintf("end of run %d", e.Token)]++
			h.ended[e.Token] = e
			if e.Result == loop.EndSuccess && e.Progress == loop.Moved {
				h.landed++
			}
		case loop.Decided:
			h.once["decision on request "+e.ID]++
		case loop.Buried:
			h.once[fmt.Sprintf("burial of run %d", e.Token)]++
		}
	}
	return nil
}

// lost tells why what a caller was told is not in the loop's journal.
func (h *loopHistory) lost(a acknowledged) string {
	if a.call.Op == "tick" {
		return h.lostTick(a.told)
	}
	rec, ok := h.records[a.told.Revision]
	switch {
	case !ok:
		return "no such record"
	case rec.Actor != a.agent:
		return "the record is " + rec.Actor + "'s"
	}
	for _, e := range rec.Events {
		if said(e.Event) == a.call.Op+" "+a.call.Reason {
			return ""
		}
	}
	return "the record says something else"
}

// said is an operator's event as the call that made it.
func said(e loop.Event) string {
	switch e := e.(type) {
	case loop.PauseSet:
		return "pause " + e.Reason
	case loop.Resumed:
		return "resume " + e.Reason
	case loop.Cleared:
		return "clear " + e.Reason
	case loop.Decided:
		return map[loop.Decision]string{loop.Approved: "approve ", loop.Denied: "deny "}[e.Decision] + e.Note
	}
	return ""
}

// lostTick holds what a tick said of its run against how that is on record.
func (h *loopHistory) lostTick(t told) string {
	e, ok := h.ended[t.Claim]
	switch want := map[string]loop.Result{"success": loop.EndSuccess, "waiting": loop.EndAsked, "canceled": loop.EndCanceled}[t.Code]; {
	case !ok:
		return fmt.Sprintf("run %d has no end", t.Claim)
	case want != "" && e.Result != want:
		return fmt.Sprintf("run %d is on record as %s", t.Claim, e.Result)
	}
	return ""
}

// judgeLoop lets the loop go on until a run has landed, and holds its journal and its
// branch against what was told and done.
func (lg *log) judgeLoop(t *testing.T, p *runner.Project) (lost int, doubled []string) {
	t.Helper()
	all := p.Loops(tick.Options{})
	goOn(t, all)
	if err := all.Sound(context.Background(), loopName); err != nil {
		t.Errorf("the loop's journal: %v", err)
	}
	h := loopHistory{records: map[uint64]commit.Record[loop.Event]{}, ended: map[uint64]loop.Ended{}, once: map[string]int{}}
	if err := all.Log(context.Background(), loopName, 1, h.take); err != nil {
		t.Error(err)
	}
	acks := 0
	for _, a := range lg.acks {
		if a.told.Run != loopName {
			continue
		}
		acks++
		if why := h.lost(a); why != "" {
			lost++
			t.Errorf("lost: %+v: %s", a, why)
		}
	}
	for what, n := range h.once {
		if n > 1 {
			doubled = append(doubled, fmt.Sprintf("%s %d times", what, n))
		}
	}
	h.heldAgainst(t, p.Config.Root)
	ends := map[string]int{}
	for _, e := range h.ended {
		ends[string(e.Result)]++
	}
	t.Logf("the loop: %d runs, %v, %d landed, %d records, %d acknowledged", h.last, ends, h.landed, len(h.records), acks)
	return lost, doubled
}

// heldAgainst compares what is on record with the branch and with what the works saw.
func (h *loopHistory) heldAgainst(t *testing.T, root string) {
	t.Helper()
	if len(h.ended) != int(h.last) || h.falling {
		t.Errorf("of %d runs %d have ended; tokens that did not rise: %v", h.last, len(h.ended), h.falling)
	}
	// A landing that waited for a person was made by a later run than the work.
	lines := strings.Fields(git(t, root, "show", "loop/"+loopName+":done.txt"))
	if once := slices.Compact(slices.Clone(lines)); len(lines) != h.landed || len(once) != len(lines) {
		t.Errorf("on the branch is the work of the runs %v, on record are %d landings", lines, h.landed)
	}
	if raw, err := os.ReadFile(filepath.Join(root, overlapsFile)); err == nil {
		t.Errorf("these runs were at work beside another one: %s", raw)
	}
	if left := temps(t, filepath.Join(root, stateDir, "loops", loopName)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// goOn makes the loop go on, as its operator, until one more run has landed.
func goOn(t *testing.T, all *tick.Loops) {
	t.Helper()
	var told []string
	for range 20 {
		s, err := all.Status(context.Background(), loopName)
		if err != nil {
			t.Error(err)
			return
		}
		c := goesOn(s)
		r, err := c.on(all, "judge")
		told = append(told, fmt.Sprintf("%s: %s %s %v", c.Op, r.Outcome, r.ReasonCode, err))
		if c.Op == "tick" && r.Outcome == tick.Done {
			return
		}
	}
	t.Errorf("the loop does not go on: %v", told)
}
