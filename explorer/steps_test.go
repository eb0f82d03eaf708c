package explorer

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// recorder names what a real commit does in the model's words.
type recorder struct {
	steps    []string
	decided  bool
	appended bool
	hook     func(point string) // nil: nothing else to do
}

func (r *recorder) note(name string) {
	if len(r.steps) == 0 || r.steps[len(r.steps)-1] != name {
		r.steps = append(r.steps, name)
	}
}

func (r *recorder) reset() { *r = recorder{hook: r.hook} }

func (r *recorder) point(point string) {
	switch point {
	case commit.PointLockAcquired:
		r.note("lock")
	case commit.PointBeforeAppend:
		r.note("compare lock") // the hook is called right before it
	case commit.PointReleased:
		r.note("unlock")
	}
	if r.hook != nil {
		r.hook(point)
	}
}

func (r *recorder) operation(_ int, op durable.Op) {
	name := filepath.Base(op.Path)
	switch {
	case name == "state.json" && op.Kind == "read":
		r.note("read view")
	case name == "state.json" && op.Kind == "rename":
		r.note("rename view")
	case durable.IsTemp(name) && op.Kind == "write":
		r.note("write temp view")
	case name == "run.events.jsonl":
		r.journal(op.Kind)
	}
}

func (r *recorder) journal(kind string) {
	switch {
	case kind == "read":
		r.note("read journal")
	case kind == "truncate":
		r.note("cut tail")
	case kind == "write" && r.decided:
		r.note("append")
		r.appended = true
	case kind == "write":
		r.note("rewrite last record")
	case kind == "size" && r.decided && !r.appended:
		r.note("check length")
	case kind == "sync":
		r.note("sync")
	}
}

// add is a transition that tells the recorder when it is decided.
type add struct {
	committest.Add
	r *recorder
}

func (a add) Decide(s committest.State, f committest.Facts, now time.Time) ([]committest.Event, error) {
	a.r.note("decide")
	a.r.decided = true
	return a.Add.Decide(s, f, now)
}

// realRun is a run in files whose steps are recorded.
func realRun(t *testing.T) (*recorder, committest.Store, string) {
	r := new(recorder)
	root := t.TempDir()
	cat := commit.NewFiles[committest.State, committest.Facts, committest.Event](root, committest.Counter{}, nil, commit.Options{
		Disk: &durable.Faulty{Disk: durable.OS(), Before: r.operation},
		Hook: r.point,
	})
	s := committest.Start(t, cat, "demo", 1)
	t.Cleanup(func() { s.Close() })
	r.reset()
	return r, s, filepath.Join(root, "runs", committest.ID(1))
}

// The real commit does what the model does, in the model's order.
func TestCommitStepsAreReal(t *testing.T) {
	r, s, folder := realRun(t)
	committest.MustCommit(t, s, add{committest.Add{Who: "a", By: 1}, r})
	if diff := cmp.Diff(CommitSteps(), r.steps); diff != "" {
		t.Errorf("a commit (-model +real):\n%s", diff)
	}

	leaveTail(t, folder)
	r.reset()
	committest.MustCommit(t, s, add{committest.Add{Who: "a", By: 1}, r})
	if diff := cmp.Diff(repairing(), r.steps); diff != "" {
		t.Errorf("a commit with a repair (-model +real):\n%s", diff)
	}
}

// repairing is a commit with a repair, as the recorder can see it: the repair's
// own comparison of the lock leaves no mark (TestLockIsCompared sees it), and
// the last record is read once more before it is written.
func repairing() []string {
	steps := CommitSteps()
	at := slices.Index(steps, "decide")
	repair := slices.DeleteFunc(RepairSteps(), func(s string) bool { return s == "compare lock" })
	return slices.Concat(steps[:at], repair, steps[at:])
}

func leaveTail(t *testing.T, folder string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(folder, "run.events.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"format":1,"half`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// "compare lock" is real in both places, and comes before anything is written.
func TestLockIsCompared(t *testing.T) {
	tests := []struct {
		name, point string
		tail        bool
	}{
		{"before the append", commit.PointBeforeAppend, false},
		{"before a repair", commit.PointLockAcquired, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, s, folder := realRun(t)
			if tt.tail {
				leaveTail(t, folder)
			}
			before := journalBytes(t, folder)
			r.hook = func(point string) {
				if point == tt.point {
					replaceFile(t, filepath.Join(folder, "state.json.lock"))
				}
			}
			_, err := s.Commit(t.Context(), committest.Add{Who: "a", By: 1})
			if gone := (*commit.ReplacedError)(nil); !errors.As(err, &gone) {
				t.Errorf("commit says %v, want a *ReplacedError", err)
			}
			if !bytes.Equal(before, journalBytes(t, folder)) {
				t.Error("the journal was written to without its lock")
			}
			if i := strings.Index(strings.Join(r.steps, " "), "write"); i >= 0 {
				t.Errorf("steps: %v", r.steps)
			}
		})
	}
}

func journalBytes(t *testing.T, folder string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "run.events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// replaceFile puts another, empty file under the same name.
func replaceFile(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}
