package commit_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
)

// moved moves what lies at path to a place outside and puts a link to it there.
func moved(t *testing.T, path string) (outside string) {
	t.Helper()
	outside = filepath.Join(t.TempDir(), "outside")
	must(t, os.Rename(path, outside))
	if err := os.Symlink(outside, path); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	return outside
}

// A link in the place of any folder or file of the state is followed by no call:
// what it leads to stays as it is, and whatever has to be written there is
// refused by name.
func TestNothingIsWrittenThroughALink(t *testing.T) {
	for name, refuses := range map[string]bool{ // whether commits are refused
		"runs": true, "runs/RUN": true, "runs/RUN/run.events.jsonl": true, "runs/RUN/state.json.lock": true,
		"runs/RUN/state.json": false, "runs/RUN/prompts": false, "runs/RUN/prompts/p.md": false,
		"index": false, "index/a": false, "index/.roster": false, "index.lock": false, "backups": false,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "root")
			s, _, err := real(root).Start(t.Context(), "a", committest.New{ID: committest.ID(1), First: committest.Open{}})
			must(t, err)
			_, err = s.Publish("prompts/p.md", []byte("do"))
			must(t, err)
			committest.MustCommit(t, s, add("t1"))
			must(t, os.Mkdir(filepath.Join(root, "backups"), 0o755))
			at := linkedPath(root, name)
			outside := moved(t, at)
			before := tree(t, outside)

			everyWrite(t, root, refuses)
			if diff := cmp.Diff(before, tree(t, outside)); diff != "" {
				t.Errorf("what the link leads to changed (-before +after):\n%s", diff)
			}
		})
	}
}

func linkedPath(root, name string) string {
	if rest, ok := strings.CutPrefix(name, "runs/RUN"); ok {
		return runFile(root, 1, filepath.FromSlash(rest))
	}
	return filepath.Join(root, filepath.FromSlash(name))
}

// everyWrite makes each call that writes. Those that cannot say so; none may
// take the link for the run's own.
func everyWrite(t *testing.T, root string, refuses bool) {
	t.Helper()
	cat := real(root)
	s, err := cat.Open(t.Context(), committest.ID(1))
	must(t, err)
	_, err = s.Commit(t.Context(), add("t2"))
	if refuses != errors.As(err, new(*commit.DamagedError)) || !refuses && err != nil {
		t.Errorf("commit: %v, want refused %v", err, refuses)
	}
	_, _ = s.Publish("prompts/p.md", []byte("again"))
	_, _ = s.Publish("prompts/q.md", []byte("new"))
	_, _, _ = cat.Start(t.Context(), "a", committest.New{ID: committest.ID(2), First: committest.Open{}, Again: true})
	_, _, _ = cat.Start(t.Context(), "b", committest.New{ID: committest.ID(3), First: committest.Open{}})
	_, _ = s.(commit.Mender).Mend(t.Context(), cat.(commit.Keeper).BackupDir(s.ID(), "x"))
	_, _ = cat.(commit.Keeper).MendEntry(t.Context(), "a")
}

// Row 30: what is no file in the place of a lock is told at once and by name, for
// a run and for the index.
func TestBadLock_Row30(t *testing.T) {
	root := five(t)
	for _, path := range []string{runFile(root, 1, "state.json.lock"), filepath.Join(root, "index.lock")} {
		must(t, os.RemoveAll(path), os.Mkdir(path, 0o755))
	}
	cat := real(root)
	_, err := lookup(t, cat, "a").Commit(t.Context(), add("t9"))
	wantBadLock(t, err, runFile(root, 1, "state.json.lock"))
	_, _, err = cat.Start(t.Context(), "b", committest.New{ID: committest.ID(9), First: committest.Open{}})
	wantBadLock(t, err, filepath.Join(root, "index.lock"))
}

func wantBadLock(t *testing.T, err error, path string) {
	t.Helper()
	var damaged *commit.DamagedError
	if !errors.As(err, &damaged) || damaged.File != path || !strings.HasSuffix(damaged.Error(), "not a file; remove it and call again, the lock is made anew") {
		t.Errorf("%v, want a bad lock at %s", err, path)
	}
}

// A state root that is a link itself is a person's choice, and works.
func TestRootMayBeALink(t *testing.T) {
	root := five(t)
	outside := moved(t, root)
	committest.MustCommit(t, lookup(t, real(root), "a"), add("t9"))
	if have := tokens(t, lookup(t, real(outside), "a")); have[len(have)-1] != "t9" {
		t.Errorf("tokens %v", have)
	}
}
