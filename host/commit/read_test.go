package commit_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// Reading writes nothing, whatever it finds, also where nothing may be
// written.
func TestReadingWritesNothing(t *testing.T) {
	states := map[string]func(t *testing.T, root string){
		"sound":    func(*testing.T, string) {},
		"no view":  func(t *testing.T, root string) { must(t, os.Remove(runFile(root, 1, "state.json"))) },
		"no index": func(t *testing.T, root string) { must(t, os.RemoveAll(filepath.Join(root, "index"))) },
		"torn": func(t *testing.T, root string) {
			appendTo(t, durable.OS(), runFile(root, 1, "run.events.jsonl"), "{half")
		},
		"leftovers": func(t *testing.T, root string) {
			must(t, os.WriteFile(runFile(root, 1, ".state.json.tmp-0123456789abcdef"), nil, 0o600),
				os.Mkdir(filepath.Join(root, "runs", ".new-01J"), 0o700))
		},
	}
	for name, prepare := range states {
		t.Run(name, func(t *testing.T) {
			root := five(t)
			prepare(t, root)
			was := tree(t, root)
			must(t, readOnly(root, true))
			defer readOnly(root, false)
			cat := commit.NewFiles(root, committest.Counter{}, &committest.Outside{}, commit.Options{Disk: noWrites{durable.OS(), t}})
			s := lookup(t, cat, "a")
			committest.MustRead(t, s)
			tokens(t, s)
			if ok, err := s.Mentions(t.Context(), "t3"); !ok || err != nil {
				t.Errorf("mentions: %v, %v", ok, err)
			}
			if r, err := s.Verify(t.Context()); err != nil || len(r.Problems) > 0 {
				t.Errorf("verify %+v, %v", r, err)
			}
			if l, err := cat.List(t.Context()); err != nil || len(l) != 1 {
				t.Errorf("list %v, %v", l, err)
			}
			if _, err := cat.Lookup(t.Context(), "b"); !errors.Is(err, commit.ErrNoRun) {
				t.Errorf("lookup: %v", err)
			}
			must(t, readOnly(root, false))
			sameTree(t, was, tree(t, root))
		})
	}
}

func readOnly(root string, on bool) error {
	return filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && on:
			return os.Chmod(path, 0o555)
		case d.IsDir():
			return os.Chmod(path, 0o755)
		}
		return nil
	})
}

// noWrites ends the test at any operation that could write. A user who is
// root may write into a read-only folder, so the folder's mode is not enough.
type noWrites struct {
	durable.Disk
	t *testing.T
}

func (d noWrites) OpenFile(path string, flag int, perm fs.FileMode) (durable.File, error) {
	if flag != os.O_RDONLY {
		d.t.Errorf("opened for writing: %s", path)
	}
	return d.Disk.OpenFile(path, flag, perm)
}
func (d noWrites) Rename(a, b string) error            { return d.no("rename", b) }
func (d noWrites) Link(a, b string) error              { return d.no("link", b) }
func (d noWrites) Remove(p string) error               { return d.no("remove", p) }
func (d noWrites) RemoveAll(p string) error            { return d.no("remove", p) }
func (d noWrites) Mkdir(p string, _ fs.FileMode) error { return d.no("mkdir", p) }
func (d noWrites) SyncDir(p string) error              { return d.no("sync", p) }
func (d noWrites) no(what, path string) error {
	d.t.Errorf("%s %s", what, path)
	return fs.ErrPermission
}

// SC-003, the second read. A reader meets the journal in the middle of two
// commits and sees half of one before the other: no damage. Seen twice, it is.
func TestSecondReadBeforeDamage(t *testing.T) {
	for _, always := range []bool{false, true} {
		t.Run(fmt.Sprint("always ", always), func(t *testing.T) {
			root := five(t)
			reads := 0
			view := filepath.Join(root, "early.json")
			early, err := os.ReadFile(runFile(root, 1, "state.json"))
			must(t, err, os.WriteFile(view, early, 0o644))
			s := lookup(t, real(root), "a")
			committest.MustCommit(t, s, add("t5"))
			committest.MustCommit(t, s, add("t6"))
			l := lines(t, root)
			half := strings.Join(l[:5], "") + "{\"half\":\n" + l[6]
			torn := filepath.Join(root, "torn.jsonl")
			must(t, os.WriteFile(torn, []byte(half), 0o644))
			cat := commit.NewFiles(root, committest.Counter{}, &committest.Outside{}, commit.Options{Disk: redirect{durable.OS(), func(path string) string {
				switch {
				case filepath.Base(path) == "state.json" && (reads == 0 || always):
					return view
				case filepath.Base(path) == "run.events.jsonl":
					if reads++; reads == 1 || always {
						return torn
					}
				}
				return path
			}}})
			reader, err := cat.Open(t.Context(), committest.ID(1))
			must(t, err)
			snap, err := reader.Read(t.Context())
			if always {
				var d *commit.DamagedError
				if !errors.As(err, &d) || d.Line != 6 || reads != 2 {
					t.Errorf("after %d reads: %v", reads, err)
				}
				return
			}
			if err != nil || snap.State.Count != 6 {
				t.Errorf("read %+v, %v", snap, err)
			}
			for name, look := range map[string]func() error{
				"records": func() error {
					return reader.Records(t.Context(), 0, func(commit.Record[committest.Event]) error { return nil })
				},
				"verify": func() error { r, err := reader.Verify(t.Context()); return errors.Join(append(r.Problems, err)...) },
			} {
				reads = 0
				if err := look(); err != nil || reads != 2 {
					t.Errorf("%s after %d reads: %v", name, reads, err)
				}
			}
		})
	}
}

// redirect opens another file in place of the one that is asked for.
type redirect struct {
	durable.Disk
	to func(path string) string
}

func (d redirect) OpenFile(path string, flag int, perm fs.FileMode) (durable.File, error) {
	return d.Disk.OpenFile(d.to(path), flag, perm)
}

// A writer commits between a reader's view and its journal: the reader folds
// the rest, and it is no damage.
func TestCommitBetweenViewAndJournal(t *testing.T) {
	root := five(t)
	writer := lookup(t, real(root), "a")
	n := 4
	reader := lookup(t, real(root, hook(func(point string) {
		if point == commit.PointViewRead {
			n++
			committest.MustCommit(t, writer, add(fmt.Sprint("t", n)))
		}
	})), "a")
	for range 3 {
		if snap := committest.MustRead(t, reader); snap.State.Count != n || snap.Revision != uint64(n+1) || len(snap.Warnings) != 0 {
			t.Errorf("read %+v, want %d", snap, n)
		}
	}
}

// Readers beside a writer see whole states, in order, and never damage.
func TestReadersBesideAWriter(t *testing.T) {
	root := five(t)
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		s, err := real(root).Lookup(t.Context(), "a")
		for i := 0; err == nil; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
				_, err = s.Commit(t.Context(), add(fmt.Sprint("w", i)))
			}
		}
		done <- err
	}()
	s := lookup(t, real(root), "a")
	last := uint64(0)
	for range 300 {
		snap := committest.MustRead(t, s)
		if snap.Revision < last || snap.State.Count != int(snap.Revision)-1 {
			t.Errorf("read %+v after revision %d", snap, last)
		}
		last = snap.Revision
	}
	close(stop)
	must(t, <-done)
}

// The cost of a commit and of a query does not grow with the history.
func TestGrowth(t *testing.T) {
	mem := durable.NewMem()
	c := &counting{Disk: mem}
	s := committest.Start(t, catalog(c), "a", 1)
	cost := func() (commit, read int64) {
		c.bytes = 0
		committest.MustCommit(t, s, add("x"+fmt.Sprint(c.n)))
		commit, c.bytes = c.bytes, 0
		committest.MustRead(t, s)
		c.n++
		return commit, c.bytes
	}
	cost()
	commit1, read1 := cost()
	for range 300 {
		cost()
	}
	commit2, read2 := cost()
	if commit2 > commit1+50 || read2 > read1+50 {
		t.Errorf("bytes read by a commit %d, then %d; by a query %d, then %d", commit1, commit2, read1, read2)
	}
}

// counting counts the bytes that are read.
type counting struct {
	durable.Disk
	bytes int64
	n     int
}

func (d *counting) OpenFile(path string, flag int, perm fs.FileMode) (durable.File, error) {
	f, err := d.Disk.OpenFile(path, flag, perm)
	return countingFile{f, d}, err
}

type countingFile struct {
	durable.File
	d *counting
}

func (f countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.d.bytes += int64(n)
	return n, err
}
