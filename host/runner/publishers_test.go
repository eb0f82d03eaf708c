package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/artifact"
	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// appends is a mission's report of A whose executor read a file, appends to it, and
// makes another one.
func appends(t *testing.T, p *Project, mission, path, line, other string) (*reading, cursor.Report) {
	t.Helper()
	r, report := evaluated(t, p, mission, other, line)
	stands, err := p.place.Look(path)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(p.Config.Root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	first := cursor.NewArtifact(path, string(before)+line, stands)
	report.Outcome.Artifacts = append([]cursor.Artifact{first}, report.Outcome.Artifacts...)
	return r, report
}

// dying lets every operation of a publication fail, from the nth on.
func dying(p *Project, n int) *durable.Faulty {
	d := &durable.Faulty{Disk: artifact.Disk(p.Config.Root), Fail: func(i int, _ durable.Op) error {
		if i >= n {
			return durable.ErrInjected
		}
		return nil
	}}
	p.hook = func(point string) {
		if point == PointPublishing {
			p.place = artifact.At(p.Config.Root, d)
		}
	}
	return d
}

func unpublishedOf(t *testing.T, p *Project, mission string) *cursor.Unpublished {
	t.Helper()
	r, err := p.read(t.Context(), mission)
	if err != nil {
		t.Fatal(err)
	}
	return r.state.Unpublished
}

// P3: who publishes dies before each operation; then another mission appends to the
// same file, on what it saw there. Nothing of either is lost and neither is stuck,
// also where who published is no longer known.
func TestFilesOfTheDeadComeFirst_P3(t *testing.T) {
	for name, lose := range map[string]func(file string) error{
		"":                func(string) error { return nil },
		"roll removed":    os.Remove,
		"roll is no roll": func(file string) error { return os.WriteFile(file, []byte("{"), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			left := 0
			for n := 0; ; n++ {
				root := sharing(t, "m", "n")
				consent := trusting(t, root)
				write(t, filepath.Join(root, "docs", "log.md"), "start,")
				b, of := appends(t, open(t, root, consent), "n", "docs/log.md", "n,", "docs/n.md")
				disk := dying(b.p, n)
				if err := b.commit(t.Context(), of); err != nil {
					t.Fatal(err)
				}
				if hasCode(b.warnings, commit.WarnNotPublished) {
					left++
				}
				p := open(t, root, consent)
				if err := lose(filepath.Join(p.Config.StateRoot(), publishersFile)); err != nil {
					t.Fatal(err)
				}
				a, next := appends(t, p, "m", "docs/log.md", "m,", "docs/m.md")
				before := a.state.Revision
				if err := a.commit(t.Context(), next); err != nil {
					if refusal := new(cursor.Refusal); !errors.As(err, &refusal) || refusal.Code != cursor.ArtifactConflict || a.state.Revision != before {
						t.Fatalf("%d: %v", n, err)
					}
					a, next = appends(t, p, "m", "docs/log.md", "m,", "docs/m.md")
					if err := a.commit(t.Context(), next); err != nil {
						t.Fatalf("%d, again: %v", n, err)
					}
				}
				for file, want := range map[string]string{"log.md": "start,n,m,", "n.md": "n,", "m.md": "m,"} {
					if got := read(t, filepath.Join(root, "docs", file)); got != want {
						t.Errorf("%d: %s has %q", n, file, got)
					}
				}
				for _, mission := range []string{"m", "n"} {
					if left := unpublishedOf(t, p, mission); left != nil {
						t.Errorf("%d: %s: %v", n, mission, left)
					}
				}
				if disk.Count() <= n {
					break
				}
			}
			if left < 8 {
				t.Errorf("left over %d times only", left)
			}
		})
	}
}

// Files that cannot be made keep other missions from their places, by name, and from
// no others; once they are given up, from none.
func TestFilesThatCannotBeMade(t *testing.T) {
	root := sharing(t, "m", "n")
	consent := trusting(t, root)
	write(t, filepath.Join(root, "docs", "log.md"), "start,")
	b, of := appends(t, open(t, root, consent), "n", "docs/log.md", "n,", "docs/n.md")
	dying(b.p, 0)
	if err := b.commit(t.Context(), of); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "docs", "n.md"), "a person's")

	p := open(t, root, consent)
	a, next := appends(t, p, "m", "docs/log.md", "m,", "docs/m.md")
	before := a.state.Revision
	got, err := a.refused(Caller{Agent: "a"}, a.commit(t.Context(), next))
	if err != nil || code(got) != string(cursor.ArtifactConflict) || got.Revision != before {
		t.Fatalf("%s, revision %d, %v", code(got), got.Revision, err)
	}
	for _, part := range []string{"docs/log.md is for what mission n recorded in revision", "docs/n.md", "spec-kitty run publish", " n`"} {
		if !strings.Contains(*got.Reason, part) {
			t.Errorf("without %q: %s", part, *got.Reason)
		}
	}
	a, free := evaluated(t, p, "m", "docs/other.md", "x")
	if err := a.commit(t.Context(), free); err != nil || read(t, filepath.Join(root, "docs", "other.md")) != "x" {
		t.Fatalf("another path: %v", err)
	}
	if unpublishedOf(t, p, "n") == nil {
		t.Fatal("given up by nobody")
	}
	if _, err := p.Publish(t.Context(), OperatorRequest{Mission: "n", Discard: true, Reason: "theirs is better", Caller: Caller{Agent: "a"}}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(root, "docs", "n.md")); got != "a person's" {
		t.Errorf("docs/n.md has %q", got)
	}
}

// Before the record is written it is durable that who published before has nothing
// left to make, and then who publishes now is named durably. The same run is not named
// again.
func TestPublisherIsNamedFirst_P3(t *testing.T) {
	root := sharing(t, "m", "n")
	var ops []durable.Op
	disk := &durable.Faulty{Disk: durable.OS(), Before: func(_ int, op durable.Op) { ops = append(ops, op) }}
	p := open(t, root, trusting(t, root), func(o *Options) { o.Commit.Disk = disk })
	before, report := evaluated(t, p, "n", "docs/b.md", "x")
	if err := before.commit(t.Context(), report); err != nil {
		t.Fatal(err)
	}
	r, report := evaluated(t, p, "m", "docs/a.md", "x")
	ops = nil
	if err := r.commit(t.Context(), report); err != nil {
		t.Fatal(err)
	}
	at := func(kind, path string, after int) int {
		for i := after + 1; i < len(ops); i++ {
			if ops[i].Kind == kind && strings.HasSuffix(ops[i].Path, path) {
				return i
			}
		}
		t.Fatalf("no %s of %s behind %d in %v", kind, path, after, ops)
		return 0
	}
	journal := func(r *reading) string { return filepath.Join(r.state.Run, "run.events.jsonl") }
	named := at("rename", publishersFile, at("sync", journal(before), -1))
	at("write", journal(r), at("syncdir", filepath.Base(p.Config.StateRoot()), named))
	ops = nil
	if err := p.world.enroll(t.Context(), r.state.Run, report); err != nil {
		t.Fatal(err)
	}
	for _, op := range ops {
		if op.Kind == "rename" || op.Kind == "write" {
			t.Errorf("named again: %v", op)
		}
	}
}
