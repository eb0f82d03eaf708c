package commit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/journal"
)

func mender(t *testing.T, root string) commit.Mender {
	t.Helper()
	return lookup(t, real(root), "a").(commit.Mender)
}

// P3, field cases 12 and 14: a mending makes the views anew and keeps the run as
// it was beside it; the records are the same bytes.
func TestMend(t *testing.T) {
	root := five(t)
	file := func(name string) string { return runFile(root, 1, name) }
	whole, err := os.ReadFile(file("run.events.jsonl"))
	must(t, err)
	view, err := os.ReadFile(file("state.json"))
	must(t, err)
	must(t, os.WriteFile(file("run.events.jsonl"), append(whole[:len(whole):len(whole)], `{"format"`...), 0o644))
	must(t, os.WriteFile(file("state.json"), []byte("{"), 0o644))
	must(t, os.Mkdir(file("prompts"), 0o755))
	temp := filepath.Join("prompts", ".x.md.tmp-0123456789abcdef")
	must(t, os.WriteFile(file(temp), []byte("x"), 0o644))
	backup := filepath.Join(root, "backups", "one")

	out, err := mender(t, root).Mend(t.Context(), backup)
	if err != nil || !out.Repaired || len(out.Removed) != 1 || out.Removed[0] != temp {
		t.Fatalf("%+v %v", out, err)
	}
	for name, want := range map[string]string{"run.events.jsonl": string(whole), "state.json": string(view)} {
		if got, err := os.ReadFile(file(name)); err != nil || string(got) != want {
			t.Errorf("%s after: %q %v", name, got, err)
		}
	}
	for name, want := range map[string]string{"run.events.jsonl": string(whole) + `{"format"`, "state.json": "{", temp: "x"} {
		if got, err := os.ReadFile(filepath.Join(backup, name)); err != nil || string(got) != want {
			t.Errorf("%s in the backup: %q %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(backup, "state.json.lock")); err == nil {
		t.Error("the backup has a lock file")
	}
	before := tree(t, root)
	if _, err := mender(t, root).Mend(t.Context(), backup); err == nil {
		t.Error("a second mending wrote over the backup")
	}
	sameTree(t, before, tree(t, root))
}

// Field case 14: what is damaged, or of a newer version, is left as it is,
// without a backup.
func TestMendRefusesDamage(t *testing.T) {
	for name, spoil := range map[string]func(line string) string{
		"damaged": func(line string) string { return "x" + line },
		"newer": func(line string) string {
			return forged(t, line, func(rec *journal.Record) { rec.Events = []json.RawMessage{[]byte(`{"type":"of tomorrow"}`)} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := five(t)
			all := lines(t, root)
			all[len(all)-1] = spoil(all[len(all)-1])
			text := ""
			for _, line := range all {
				text += line
			}
			must(t, os.WriteFile(runFile(root, 1, "run.events.jsonl"), []byte(text), 0o644))
			if name == "newer" {
				must(t, os.Remove(runFile(root, 1, "state.json")))
			}
			before := tree(t, root)
			_, err := mender(t, root).Mend(t.Context(), filepath.Join(root, "backups", "one"))
			if name == "damaged" && !errors.As(err, new(*commit.DamagedError)) || name == "newer" && !errors.As(err, new(*commit.NewerFormatError)) {
				t.Errorf("got %v", err)
			}
			sameTree(t, before, tree(t, root))
		})
	}
}

// resealed is a state file with another text in it and a sum that is right.
func resealed(t *testing.T, data []byte, old, put string) []byte {
	t.Helper()
	body, _, ok := bytes.Cut(data, []byte(`,"sum":"`))
	changed := bytes.Replace(body, []byte(old), []byte(put), 1)
	if !ok || bytes.Equal(changed, body) {
		t.Fatalf("no %s in %s", old, data)
	}
	sum := sha256.Sum256(changed)
	return fmt.Appendf(nil, "%s,\"sum\":\"%x\"}\n", changed, sum[:16])
}

// A state file with a right sum that does not fit the journal is a view all the
// same: Verify says so, and a mending makes it anew. What it vouches for stays: a
// journal that is shorter is damage.
func TestMendOfAWrongView(t *testing.T) {
	for name, change := range map[string][2]string{
		"another state":         {`"count":4`, `"count":5`},
		"no state":              {`"count":4`, `"count":"4"`},
		"of another subject":    {`"subject":"a"`, `"subject":"b"`},
		"one addition too many": {`"by":{`, `"by":{"z":1,`},
	} {
		t.Run(name, func(t *testing.T) {
			root := five(t)
			file := runFile(root, 1, "state.json")
			right, err := os.ReadFile(file)
			must(t, err)
			wrong := resealed(t, right, change[0], change[1])
			must(t, os.WriteFile(file, wrong, 0o644))
			s := lookup(t, real(root), "a")
			r, err := s.Verify(t.Context())
			if d := new(commit.DamagedError); err != nil || len(r.Problems) != 1 || !errors.As(r.Problems[0], &d) || !d.View || r.View != commit.ViewIgnored || r.Records != 5 {
				t.Fatalf("%+v %v", r, err)
			}
			out, err := mender(t, root).Mend(t.Context(), filepath.Join(root, "backups", "one"))
			if err != nil || !out.Repaired {
				t.Fatalf("%+v %v", out, err)
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != string(right) {
				t.Errorf("after: %s %v", got, err)
			}
			if r, err := s.Verify(t.Context()); err != nil || len(r.Problems) != 0 || r.View != commit.ViewCurrent {
				t.Errorf("after: %+v %v", r, err)
			}

			all := lines(t, root)
			must(t, os.WriteFile(file, wrong, 0o644))
			must(t, os.WriteFile(runFile(root, 1, "run.events.jsonl"), []byte(strings.Join(all[:4], "")), 0o644))
			before := tree(t, root)
			_, err = mender(t, root).Mend(t.Context(), filepath.Join(root, "backups", "two"))
			if d := new(commit.DamagedError); !errors.As(err, &d) || d.View {
				t.Errorf("a journal that is too short: %v", err)
			}
			sameTree(t, before, tree(t, root))
		})
	}
}

// A view that is wrong and behind the journal is not folded on: the next view is of
// the journal alone.
func TestMendOfAWrongViewThatIsBehind(t *testing.T) {
	root := five(t)
	file := runFile(root, 1, "state.json")
	old, err := os.ReadFile(file)
	must(t, err)
	committest.MustCommit(t, lookup(t, real(root), "a"), add("t5"))
	right, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, resealed(t, old, `"count":4`, `"count":9`), 0o644))
	if _, err := mender(t, root).Mend(t.Context(), filepath.Join(root, "backups", "one")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != string(right) {
		t.Errorf("after: %s %v", got, err)
	}
}

// An index that disagrees with the run folders is told, entry by entry, and
// mended for one slug alone.
func TestIndexKept(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	cat := real(root)
	committest.Start(t, cat, "a", 1)
	committest.Start(t, cat, "b", 2)
	keeper := cat.(commit.Keeper)
	if r, err := keeper.Index(t.Context()); err != nil || !r.Complete || len(r.Faults) != 0 || r.Entries != 2 || r.Runs != 2 {
		t.Fatalf("%+v %v", r, err)
	}
	must(t, os.Remove(filepath.Join(root, "index", "a")))
	must(t, os.WriteFile(filepath.Join(root, "index", "b"), []byte("junk"), 0o644))
	must(t, os.WriteFile(filepath.Join(root, "index", "c"), []byte(`{"format":1,"slug":"c","run":"`+committest.ID(1)+`"}`), 0o644))
	must(t, os.Mkdir(filepath.Join(root, "runs", ".new-x"), 0o755))
	want := []commit.IndexFault{{Slug: "a", Run: committest.ID(1)}, {Slug: "b", Run: committest.ID(2)}, {Slug: "c", Have: committest.ID(1)}}
	r, err := keeper.Index(t.Context())
	if err != nil || len(r.Faults) != 3 || r.Faults[0] != want[0] || r.Faults[1] != want[1] || r.Faults[2] != want[2] || len(r.Private) != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	if changed, err := keeper.MendEntry(t.Context(), "b"); !changed || err != nil {
		t.Fatalf("changed %v: %v", changed, err)
	}
	if r, err := keeper.Index(t.Context()); err != nil || len(r.Faults) != 2 || r.Faults[0].Slug != "a" {
		t.Errorf("%+v %v", r, err)
	}
	if changed, err := keeper.MendEntry(t.Context(), "b"); changed || err != nil {
		t.Errorf("a second time: changed %v: %v", changed, err)
	}
}
