package runner

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// sharing is a project with the runs of some missions at A, whose executor may
// write docs.
func sharing(t *testing.T, missions ...string) string {
	t.Helper()
	root := makeProject(t, logged, nil, "changelog")
	withWrite(t, root, "changelog", `"docs"`)
	for _, m := range missions {
		write(t, filepath.Join(root, "kitty-specs", m, "meta.json"), `{"mission_type": "t"}`)
		if _, err := open(t, root).Next(t.Context(), Request{Mission: m, Caller: Caller{Agent: "a"}, Result: cursor.Success}); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// evaluated is a mission's report of A as it is committed: its executor left one
// new file.
func evaluated(t *testing.T, p *Project, m, path, content string) (*reading, cursor.Report) {
	t.Helper()
	r, err := p.read(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	q := Request{Mission: m, Caller: Caller{Agent: "a"}, Result: cursor.Success}
	report := *r.reportOn(q, r.state.Issues()[0], true).report
	report.Outcome = &cursor.Outcome{Result: cursor.Success, Artifacts: []cursor.Artifact{cursor.NewArtifact(path, content, cursor.Absent)}}
	return r, report
}

// Two missions are reported at once, with artifacts for one path: one is
// acknowledged and its file stands; the other is artifact_conflict and recorded
// nothing.
func TestTwoMissionsOnePath_P4(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 3
	}
	missions := []string{"m", "n"}
	for i := range rounds {
		root := sharing(t, missions...)
		consent := trusting(t, root)
		path := fmt.Sprintf("docs/%d.md", i)
		work := sharedOnce(t, open(t, root, consent), open(t, root, consent), missions, path)
		won := -1
		for n, err := range work {
			var refusal *cursor.Refusal
			switch {
			case err == nil && won < 0:
				won = n
			case !errors.As(err, &refusal) || refusal.Code != cursor.ArtifactConflict:
				t.Fatalf("round %d: %v", i, work)
			}
		}
		if won < 0 {
			t.Fatalf("round %d: nobody was acknowledged: %v", i, work)
		}
		if got := read(t, filepath.Join(root, filepath.FromSlash(path))); got != missions[won] {
			t.Fatalf("round %d: %s was acknowledged, and the file has %q", i, missions[won], got)
		}
	}
}

// sharedOnce commits a report of each mission with the same path, at once.
func sharedOnce(t *testing.T, a, b *Project, missions []string, path string) []error {
	t.Helper()
	ends := make([]error, 2)
	var ready, done sync.WaitGroup
	ready.Add(2)
	for n, p := range []*Project{a, b} {
		r, report := evaluated(t, p, missions[n], path, missions[n])
		done.Go(func() {
			ready.Done()
			ready.Wait()
			ends[n] = r.commit(t.Context(), report)
			if hasCode(r.warnings, commit.WarnNotPublished) {
				ends[n] = errors.Join(ends[n], errors.New("acknowledged, and not published"))
			}
		})
	}
	done.Wait()
	return ends
}

// While another mission's files are put into their places, a commit waits for
// them and then is lock_timeout, with nothing recorded; one that makes no files
// does not wait. What is left over is not waited for under the run's lock.
func TestArtifactsLockIsHeld(t *testing.T) {
	root := sharing(t, "m", "n")
	file := filepath.Join(root, "spec-kitty.toml")
	write(t, file, read(t, file)+"\n[runtime]\nlock_timeout = \"50ms\"\n")
	p := open(t, root, trusting(t, root))
	r, report := evaluated(t, p, "m", "docs/a.md", "x")
	before := r.state.Revision
	err := p.world.filesLock().Do(t.Context(), 0, func(*locks.Held) error {
		a, err := r.refused(Caller{Agent: "a"}, r.commit(t.Context(), report))
		if err != nil || code(a) != string(LockTimeout) || a.Revision != before || !strings.Contains(*a.Reason, artifactsLock) {
			t.Errorf("%s %s, revision %d, %v", code(a), value(a.Reason), a.Revision, err)
		}
		free, err := p.Next(t.Context(), Request{Mission: "n", Caller: Caller{Agent: "a"}, Result: cursor.Failed})
		if err != nil || code(free) == string(LockTimeout) {
			t.Errorf("without artifacts: %s, %v", code(free), err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.commit(t.Context(), report); err != nil || read(t, filepath.Join(root, "docs", "a.md")) != "x" {
		t.Errorf("once it is free: %v", err)
	}
}
