//go:build unix

package runner

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// killPoints are the named points that a report and a start meet.
var (
	reportPoints = []string{
		PointRead, PointDispatched, PointPlanned, commit.PointLockAcquired, commit.PointBeforeAppend, commit.PointAfterAppend,
		commit.PointAfterSync, commit.PointBeforePublish, commit.PointAfterPublish, commit.PointBeforeRelease, commit.PointReleased, PointCommitted,
	}
	startPoints = []string{
		commit.PointStartLocked, commit.PointStartPrivate, commit.PointStartSynced,
		commit.PointStartRenamed, commit.PointStartIndexed, commit.PointStartReleased,
	}
)

// kill has a hand make a call that ends it at a point.
func kill(t *testing.T, o order, point string) {
	t.Helper()
	h := startHand(t)
	o.Kill = point
	h.tell(o)
	if e, err := h.hear(); err == nil {
		t.Fatalf("the call was not killed at %s: %+v", point, e)
	}
	h.cmd.Wait()
}

// kill -9 at every named point of a commit: the next call works with no manual
// step, and the state is that of before or after.
func TestKilledReport(t *testing.T) {
	for _, point := range reportPoints {
		t.Run(point, func(t *testing.T) {
			root := makeProject(t, linear, nil)
			token := *must(t, open(t, root), report("a", cursor.Success)).Token
			q := report("a", cursor.Success, token)
			kill(t, order{Root: root, Request: &q}, point)
			p := open(t, root)
			query, err := p.Query(context.Background(), "m", Caller{Agent: "a"})
			if err != nil {
				t.Fatalf("query after the kill: %v", err)
			}
			if s := value(query.StepID); s != "A" && s != "B" {
				t.Fatalf("query names %q", s)
			}
			a := must(t, p, report("a", cursor.Success, token))
			wantStep(t, a, "B")
			if a.PromptFile == nil {
				t.Error("the prompt was not written again")
			}
			if n := completions(t, root, "A"); n != 1 {
				t.Errorf("A is complete %d times", n)
			}
			wantSound(t, p)
		})
	}
}

// kill -9 at every named point of a report with an artifact: after the next
// call the file is there once, whole, or the report never was.
func TestKilledReportWithArtifact_P3(t *testing.T) {
	points := append(slices.Clone(reportPoints), PointPublishing, commit.PointPublished)
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			root := changelogProject(t, logged)
			q := because("First")
			var o Options
			trusting(t, root)(&o)
			consent := o.Trust
			query, err := open(t, root, trusting(t, root)).Query(t.Context(), "m", q.Caller)
			if err != nil {
				t.Fatal(err)
			}
			q.Token = *query.Token
			kill(t, order{Root: root, Request: &q, Trust: consent}, point)
			p := open(t, root, trusting(t, root))
			wantStep(t, must(t, p, q), "B")
			if got := read(t, changelogFile(root)); strings.Count(got, "- First\n") != 1 {
				t.Errorf("the changelog: %s", got)
			}
			wantStep(t, must(t, p, because("Second")), "C")
			if got := read(t, changelogFile(root)); strings.Count(got, "- Second\n") != 1 || strings.Count(got, "- First\n") != 1 {
				t.Errorf("the changelog: %s", got)
			}
			left, _ := filepath.Glob(filepath.Join(root, "kitty-specs", "m", ".*"))
			if len(left) > 0 {
				t.Errorf("left over: %v", left)
			}
			wantSound(t, p)
		})
	}
}

// Field case 33: kill -9 at every named point of a claim leaves both lane changes
// or none, and the same agent gets the package again.
func TestKilledClaim_Case33(t *testing.T) {
	for _, point := range reportPoints {
		t.Run(point, func(t *testing.T) {
			root := makeProject(t, packaged, packages(1))
			started(t, root)
			kill(t, order{Root: root, Claim: &ClaimRequest{Mission: "m", Caller: Caller{Agent: "a"}, Package: "WP01"}}, point)
			p := open(t, root)
			list, err := p.WPList(context.Background(), "m")
			if err != nil {
				t.Fatal(err)
			}
			if lane := list.Packages[0].Lane; lane != "planned" && lane != "in_progress" {
				t.Fatalf("WP01 lies in %s", lane)
			}
			if a := claim(t, p, "a", "WP01"); a.Kind != KindStep || a.PromptFile == nil {
				t.Fatalf("kind %s, %s", a.Kind, value(a.Reason))
			}
			if n := strings.Count(journal(t, root), `{"issued":`); n != 1 {
				t.Errorf("WP01 was handed out %d times", n)
			}
			wantSound(t, p)
		})
	}
}

// kill -9 at every named point of a run's start.
func TestKilledStart_Edge(t *testing.T) {
	for _, point := range startPoints {
		t.Run(point, func(t *testing.T) {
			root := makeProject(t, linear, nil)
			kill(t, order{Root: root, Start: &StartRequest{Slug: "m", Caller: Caller{Agent: "a"}}}, point)
			p := open(t, root)
			if _, err := p.Query(context.Background(), "m", Caller{}); err != nil {
				t.Fatalf("query after the kill: %v", err)
			}
			a := must(t, p, report("a", cursor.Success))
			if a.Kind != KindStep || value(a.StepID) != "A" && value(a.StepID) != "B" {
				t.Fatalf("kind %s, step %s", a.Kind, value(a.StepID))
			}
			wantSound(t, p)
			left, _ := filepath.Glob(filepath.Join(root, ".kittify", "step-runner", "runs", "*"))
			if len(left) != 1 {
				t.Errorf("runs: %v", left)
			}
		})
	}
}

// kill -9 before each operation on a temporary file, or in a torture run before
// each operation of the disk: what the call left half-made is gone after the next
// commits, the prompt's temporary file too, which is written when the record is
// durable and nothing is left to repair.
func TestKilledLeavesNoTemporaryFile_P3(t *testing.T) {
	most := 40
	if *torture {
		most = 1000
	}
	for n := range most {
		root := makeProject(t, linear, nil)
		token := *must(t, open(t, root), report("a", cursor.Success)).Token
		q := report("a", cursor.Success, token)
		h := startHand(t)
		h.tell(order{Root: root, Request: &q, Disk: &n, Temps: !*torture})
		e, err := h.hear()
		if err != nil {
			h.cmd.Wait() // until then its id is not free
		}
		state := filepath.Join(root, ".kittify")
		before := temps(durable.OS(), state)
		p := open(t, root)
		a := must(t, p, report("a", cursor.Success, token))
		wantStep(t, a, "B")
		if a.PromptFile == nil {
			t.Errorf("operation %d: no prompt", n)
		}
		wantStep(t, must(t, p, report("a", cursor.Success, *a.Token)), "C")
		if left := temps(durable.OS(), state); len(left) > 0 {
			t.Errorf("killed before operation %d: left over then %q, and now %q", n, before, left)
		}
		wantSound(t, p)
		if err == nil {
			if e.Answer == nil || n < 8 {
				t.Errorf("the %d operations that were met: %+v", n, e)
			}
			return
		}
	}
	t.Errorf("still killed after %d operations", most)
}
