//go:build linux || darwin

package torture

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// history is what the journals of all runs say.
type history struct {
	records  map[string]map[uint64]commit.Record[cursor.Event] // by run and revision
	reported map[string]int                                    // by token
	issued   map[string]int
	once     map[string]int // what must be there once in a run between two rewinds: a step's completion, an answer
	rewound  map[string]int // how often a run was
	total    int

	changes   map[string]string // lines of the changelog, by their report: run and revision
	published map[string]int    // by the same
}

// settle makes one more call on the mission: what a dead process left unmade, it makes.
func settle(t *testing.T, p *runner.Project) {
	t.Helper()
	if _, err := p.Publish(t.Context(), runner.OperatorRequest{Mission: mission, Actor: "judge"}); err != nil {
		t.Errorf("no further call: %v", err)
	}
}

// readAll reads every run and wants it to be sound. Before that each gets one
// more call: whatever a dead process left is mended by the next one.
func readAll(t *testing.T, p *runner.Project) history {
	t.Helper()
	ctx := context.Background()
	h := history{records: map[string]map[uint64]commit.Record[cursor.Event]{}, reported: map[string]int{}, issued: map[string]int{},
		once: map[string]int{}, rewound: map[string]int{}, changes: map[string]string{}, published: map[string]int{}}
	runs := commit.NewFiles[cursor.State, cursor.Facts, cursor.Event](p.Config.StateRoot(), runner.Machine(), nil, commit.Options{})
	list, err := runs.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		if entry.Err != nil {
			t.Errorf("run %s: %v", entry.ID, entry.Err)
			continue
		}
		store, err := runs.Open(ctx, entry.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Commit(ctx, cursor.Abort{Who: "judge", Reason: "the end"}); err != nil && !over(err) {
			t.Errorf("run %s takes no further call: %v", entry.ID, err)
		}
		if report, err := store.Verify(ctx); err != nil || len(report.Problems) > 0 || report.View != commit.ViewCurrent || report.Tail != 0 {
			t.Errorf("run %s: %+v %v", entry.ID, report, err)
		}
		if err := store.Records(ctx, 1, h.take); err != nil {
			t.Errorf("run %s: %v", entry.ID, err)
		}
		store.Close()
	}
	return h
}

func (h *history) take(rec commit.Record[cursor.Event]) error {
	if h.records[rec.Run] == nil {
		h.records[rec.Run] = map[uint64]commit.Record[cursor.Event]{}
	}
	h.records[rec.Run][rec.Revision] = rec
	h.total++
	for _, e := range rec.Events {
		switch e := e.Event.(type) {
		case cursor.Reported:
			if e.Token != "" { // a step's own report has none
				h.reported[e.Token]++
			}
			if len(e.Artifacts) > 0 {
				h.changes[fmt.Sprintf("%s %d", rec.Run, rec.Revision)] = e.Reason
			}
		case cursor.Published:
			h.published[fmt.Sprintf("%s %d", rec.Run, e.Revision)]++
		case cursor.Issued:
			h.issued[e.Token]++
		case cursor.Completed:
			h.once[h.stretch(rec.Run)+" completes "+e.Step]++
		case cursor.Answered:
			h.once[h.stretch(rec.Run)+" answers "+e.ID]++
		case cursor.Finished:
			h.once[h.stretch(rec.Run)+" finishes"]++
		case cursor.Rewound:
			h.rewound[rec.Run]++
		}
	}
	return nil
}

// stretch names what lies between two rewinds of a run.
func (h *history) stretch(run string) string { return fmt.Sprintf("%s.%d", run, h.rewound[run]) }

// lost tells why an acknowledged result is not in the journal.
func (h *history) lost(a acknowledged) string {
	rec, ok := h.records[a.told.Run][a.told.Revision]
	if made, is := madeFiles(rec); is {
		rec, ok = h.records[a.told.Run][made.Revision]
	}
	for ; ok && a.call.Op == "rewind" && (rec.Kind != a.call.Op || rec.Actor != a.agent); rec, ok = h.records[rec.Run][rec.Revision+1] {
	}
	if !ok {
		return "no such record"
	}
	if rec.Actor != a.agent {
		return "the record is " + rec.Actor + "'s"
	}
	found := map[string]bool{}
	for _, e := range rec.Events {
		switch e := e.Event.(type) {
		case cursor.Started:
			found["start"] = true
		case cursor.Reported:
			found["reported "+e.Token] = true
		case cursor.Issued:
			found["issued "+e.Token] = true
		case cursor.Answered:
			found["answered "+e.ID+" "+e.Value] = true
		case cursor.Moved:
			found["moved "+e.Package+" "+string(e.To)] = true
		case cursor.Retried:
			found["retried"] = true
		case cursor.Rewound:
			found["rewound "+e.Step] = true
		}
	}
	if a.told.Token != "" && h.issued[a.told.Token] == 0 { // by this record, or it was the caller's already
		return "nobody was handed the token " + a.told.Token
	}
	var want []string
	switch {
	case a.call.Op == "answer":
		want = []string{"answered " + a.call.Decision + " " + a.call.Value}
	case a.call.Op == "start":
		want = append(want, "start")
	case a.call.Op == "move":
		want = []string{"moved " + a.call.Package + " " + a.call.To}
	case a.call.Op == "retry":
		want = []string{"retried"}
	case a.call.Op == "rewind":
		want = []string{"rewound " + a.call.To}
	case a.call.Token != "":
		want = append(want, "reported "+a.call.Token)
	case a.told.Token != "":
		want = append(want, "issued "+a.told.Token)
	}
	for _, w := range want {
		if !found[w] {
			return fmt.Sprintf("the record has no %q", w)
		}
	}
	return ""
}

// madeFiles tells whether a record says that an earlier one's files are made. A call
// that leaves files is told the revision of that record: it is the second of its two.
func madeFiles(rec commit.Record[cursor.Event]) (made cursor.Published, is bool) {
	for _, e := range rec.Events {
		if made, is = e.Event.(cursor.Published); is {
			return made, true
		}
	}
	return made, false
}

// doubled lists what is there more than once.
func (h *history) doubled() []string {
	var all []string
	for what, counts := range map[string]map[string]int{"reported ": h.reported, "issued ": h.issued, "": h.once} {
		for name, n := range counts {
			if n > 1 {
				all = append(all, fmt.Sprintf("%s%s %d times", what, name, n))
			}
		}
	}
	return all
}

// files wants each report's line in the changelog once, and its file to be on record as
// made once.
func (h *history) files(t *testing.T, root string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "kitty-specs", mission, "CHANGELOG.md"))
	if err != nil && len(h.changes) > 0 {
		t.Error(err)
	}
	for record, line := range h.changes {
		if there, made := strings.Count(string(raw), line+"\n"), h.published[record]; there != 1 || made != 1 {
			t.Errorf("the line %q of record %s is %d times in the changelog, and %d times on record as made", line, record, there, made)
		}
	}
	if len(h.published) != len(h.changes) {
		t.Errorf("%d files are on record, %d as made", len(h.changes), len(h.published))
	}
	if left := temps(t, filepath.Join(root, "kitty-specs")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	t.Logf("%d files of executors, each made once", len(h.changes))
}

// temps are the temporary files below a folder.
func temps(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && durable.IsTemp(entry.Name()) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// sweep wants no temporary file of the state to be left, save in a run that is
// over and takes no more commits; doctor finds those and removes them.
func sweep(t *testing.T, p *runner.Project) {
	t.Helper()
	d, err := p.Doctor(t.Context())
	if err != nil || !d.Healthy {
		t.Errorf("doctor: %+v %v", d.Findings, err)
	}
	states := map[string]string{}
	for _, h := range d.RunHealth {
		states[h.RunID] = h.MissionState
	}
	for _, f := range d.Findings {
		if f.Code != "leftovers" || states[f.RunID] != "done" {
			t.Errorf("doctor: %+v", f)
		}
		if _, err := p.Repair(t.Context(), f.RunID); err != nil {
			t.Errorf("repair: %v", err)
		}
	}
	for _, folder := range []string{"runs", "index", "."} {
		for _, name := range temps(t, filepath.Join(p.Config.StateRoot(), folder)) {
			if !strings.Contains(name, "backups") {
				t.Errorf("left: %s", name)
			}
		}
	}
}

// over tells whether a run refuses because it has ended.
func over(err error) bool {
	_, refused := err.(*cursor.Refusal)
	return refused
}
