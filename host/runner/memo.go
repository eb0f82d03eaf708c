package runner

import (
	"sync"

	"github.com/spec-kitty/step-runner/host/mission"
)

// memoSteps bounds what a memo keeps.
const memoSteps = 32

// memo remembers the steps that it decoded: one call looks at the same two or
// three again and again, also under the lock.
type memo struct {
	mission.View
	mu    sync.Mutex
	steps map[int]mission.Step // guarded by mu
}

func remembered(v mission.View) *memo {
	return &memo{View: v, steps: map[int]mission.Step{}}
}

// Step implements mission.View.
func (m *memo) Step(pos int) (mission.Step, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if step, ok := m.steps[pos]; ok {
		return step, nil
	}
	step, err := m.View.Step(pos)
	if err != nil {
		return step, err
	}
	if len(m.steps) == memoSteps {
		clear(m.steps)
	}
	m.steps[pos] = step
	return step, nil
}
