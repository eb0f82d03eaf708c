package runner

import (
	"errors"
	"sync"

	"github.com/spec-kitty/step-runner/host/mission"
)

// healing reads a frozen definition by its index. Where the index turns out to
// be damaged, the definition itself is decoded instead: the index is a view, and
// no damage of it stops a run.
type healing struct {
	mission.View
	definition func() (mission.View, error)

	mu    sync.Mutex
	whole mission.View // once the index was found damaged; guarded by mu
}

// healed asks the index, or the definition in its place.
func healed[T any](h *healing, ask func(mission.View) (T, error)) (T, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.whole != nil {
		return ask(h.whole)
	}
	answer, err := ask(h.View)
	var damaged *mission.IndexError
	if !errors.As(err, &damaged) {
		return answer, err
	}
	whole, err := h.definition()
	if err != nil {
		return answer, err
	}
	h.whole = whole
	return ask(whole)
}

// Step implements mission.View.
func (h *healing) Step(pos int) (mission.Step, error) {
	return healed(h, func(v mission.View) (mission.Step, error) { return v.Step(pos) })
}

// Deps implements mission.View.
func (h *healing) Deps(pos int) ([]int, error) {
	return healed(h, func(v mission.View) ([]int, error) { return v.Deps(pos) })
}

// Position implements mission.View.
func (h *healing) Position(id string) (pos int, ok bool, err error) {
	pos, err = healed(h, func(v mission.View) (at int, err error) {
		at, ok, err = v.Position(id)
		return at, err
	})
	return pos, ok, err
}
