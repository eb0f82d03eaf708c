package simulate

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// fingerprint names a state with what is left of the script. A walk that comes
// to one a second time goes the same way for ever.
type fingerprint [sha256.Size]byte

// recall ends a walk that has come back to where it was.
func (w *walker) recall() {
	if w.path.End.State != "" {
		return
	}
	now := w.fingerprint()
	before, known := w.seen[now]
	w.seen[now] = len(w.path.Moves)
	switch {
	case known:
		w.path.End = End{State: Endless, StepID: w.s.Cursor.Step,
			Reason: fmt.Sprintf("after move %d everything is as it was after move %d: as scripted, it goes round for ever", len(w.path.Moves), before)}
	case len(w.path.Moves) >= maxMoves:
		w.path.End = End{State: Endless, StepID: w.s.Cursor.Step, Reason: fmt.Sprintf("it is not over after %d moves", maxMoves)}
	}
}

// fingerprint leaves out what only grows: counts, tokens, and the numbers of
// attempts, which nothing depends on but what is shown.
func (w *walker) fingerprint() fingerprint {
	s := w.s
	s.Revision, s.Moved, s.Receipts = 0, cursor.Change{}, nil
	s.Cursor.Count, s.Cursor.Attempt, s.Cursor.Issue = 0, 0, bare(s.Cursor.Issue)
	s.Cursor.Questions = slices.Clone(s.Cursor.Questions)
	for i := range s.Cursor.Questions {
		s.Cursor.Questions[i].Token = ""
	}
	s.Cursor.Answers = maps.Clone(s.Cursor.Answers)
	for id, a := range s.Cursor.Answers {
		a.Token = ""
		s.Cursor.Answers[id] = a
	}
	s.Packages = maps.Clone(s.Packages)
	for id, p := range s.Packages {
		p.Count, p.Attempts, p.Issue = 0, nil, bare(p.Issue)
		s.Packages[id] = p
	}
	raw, err := json.Marshal(struct {
		State    cursor.State
		Failures map[string]int
		Blocked  map[string]bool
		Answers  map[string]int
		Turn     cursor.Holder
		Executed bool
	}{s, w.left(), w.blocked, w.answersLeft(), w.turns[0], w.executed})
	if err != nil {
		panic("simulate: a state does not encode: " + err.Error())
	}
	return sha256.Sum256(raw)
}

func bare(i *cursor.Issue) *cursor.Issue {
	if i == nil {
		return nil
	}
	plain := *i
	plain.Token, plain.Attempt, plain.Since, plain.Revision = "", 0, time.Time{}, 0
	return &plain
}

// left are the failures that the script still has.
func (w *walker) left() map[string]int {
	left := map[string]int{}
	for step, n := range w.script.Fail {
		if n != Always {
			left[step] = max(0, n-w.reports[step])
		}
	}
	return left
}

func (w *walker) answersLeft() map[string]int {
	left := map[string]int{}
	for id, values := range w.script.Answers {
		left[id] = max(0, len(values)-1-w.askings[id])
	}
	return left
}

// account names the parts of the script that nothing came to.
func (w *walker) account() {
	for _, step := range slices.Sorted(maps.Keys(w.script.Fail)) {
		switch n := w.script.Fail[step]; {
		case w.reports[step] == 0:
			w.unused("step %s was to fail, and nothing was reported on it", step)
		case n > w.reports[step]:
			w.unused("step %s was to fail %d times; %d reports were made on it", step, n, w.reports[step])
		}
	}
	for _, step := range slices.Sorted(maps.Keys(w.script.Block)) {
		if !w.blocked[step] {
			w.unused("step %s was to be blocked, and nothing came to that", step)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.script.Answers)) {
		if rest := w.script.Answers[id][min(w.askings[id], len(w.script.Answers[id])):]; len(rest) > 0 {
			w.unused("%s was not asked for the answer %s", id, strings.Join(rest, ", "))
		}
	}
}

func (w *walker) unused(format string, args ...any) {
	w.path.Unused = append(w.path.Unused, fmt.Sprintf(format, args...))
}
