package runner

import (
	"errors"
	"strconv"
	"testing"

	"github.com/spec-kitty/step-runner/host/mission"
)

// counted counts how often a step is decoded.
type counted struct {
	mission.View
	steps int
}

var errUnread = errors.New("unread")

func (c *counted) Step(pos int) (mission.Step, error) {
	c.steps++
	if pos < 0 {
		return mission.Step{}, errUnread
	}
	return mission.Step{ID: strconv.Itoa(pos)}, nil
}

func TestMemo(t *testing.T) {
	view := &counted{}
	m := remembered(view)
	for range 3 {
		for pos := range memoSteps {
			if step, err := m.Step(pos); err != nil || step.ID != strconv.Itoa(pos) {
				t.Fatalf("step %d is %q, %v", pos, step.ID, err)
			}
		}
	}
	if view.steps != memoSteps {
		t.Errorf("%d steps were decoded, wants %d", view.steps, memoSteps)
	}
	if _, err := m.Step(memoSteps); err != nil || len(m.steps) != 1 {
		t.Errorf("it keeps %d steps, %v", len(m.steps), err)
	}
	for range 2 {
		if _, err := m.Step(-1); !errors.Is(err, errUnread) {
			t.Errorf("error = %v", err)
		}
	}
}
