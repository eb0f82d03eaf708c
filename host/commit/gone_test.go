package commit_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// Field case 14: the index names run 2, which began after run 1 and whose folder is
// gone. Whatever is done to the slug and to others, it is known of still and found
// where it is put back; who asks for another run forgets it.
func TestRunThatIsGoneStaysKnown(t *testing.T) {
	carry := func(n int, year int) commit.Whole {
		elsewhere := catalog(durable.NewMem(), func(o *commit.Options) {
			o.Now = func() time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
		})
		committest.MustCommit(t, committest.Start(t, elsewhere, "a", n), committest.Finish{})
		return carried(t, elsewhere, n)
	}
	older, later, lost := carry(4, 2020), carry(5, 2100), carry(1, 2021)
	comesIn := func(t *testing.T, root string, w commit.Whole) {
		t.Helper()
		added, warnings, err := real(root).(commit.Receiver).Receive(t.Context(), w)
		must(t, err)
		if added {
			toldMissing(t, warnings)
		}
	}
	started := func(err error, known any) {
		t.Helper()
		if !errors.As(err, known) {
			t.Errorf("start: %v", err)
		}
	}
	rewrites := map[string]func(t *testing.T, root string){
		"nothing": func(*testing.T, string) {},
		"the entry is mended": func(t *testing.T, root string) {
			if changed, err := real(root).(commit.Keeper).MendEntry(t.Context(), "a"); err != nil {
				t.Errorf("changed %v: %v", changed, err)
			}
		},
		"a commit on the run that is there": func(t *testing.T, root string) {
			committest.MustCommit(t, lookup(t, real(root), "a"), committest.Reopen{})
			committest.MustCommit(t, lookup(t, real(root), "a"), committest.Finish{})
		},
		"a start that is refused": func(t *testing.T, root string) {
			_, _, err := real(root).Start(t.Context(), "a", committest.New{ID: committest.ID(4), First: committest.Open{}})
			started(err, new(*commit.ExistsError))
		},
		"a start beside a live run": func(t *testing.T, root string) {
			committest.MustCommit(t, lookup(t, real(root), "a"), committest.Reopen{})
			started(startAgain(t, real(root), "a", 4), new(*commit.ExistsError))
			committest.MustCommit(t, lookup(t, real(root), "a"), committest.Finish{})
		},
		"another slug, the roster lost": func(t *testing.T, root string) {
			must(t, os.Remove(filepath.Join(root, "index", ".roster")))
			_ = startAgain(t, real(root), "b", 6) // there already the second time
			_ = startAgain(t, real(root), "c", 7)
		},
		"an older run comes in": func(t *testing.T, root string) { comesIn(t, root, older) },
		"a later run comes in":  func(t *testing.T, root string) { comesIn(t, root, later) },
		"the run before it comes in": func(t *testing.T, root string) {
			must(t, os.RemoveAll(runFile(root, 1, "")))
			comesIn(t, root, lost)
		},
	}
	for name, rewrite := range rewrites {
		for _, end := range []string{"put back", "brought back", "forgotten"} {
			t.Run(name+"/"+end, func(t *testing.T) {
				root := filepath.Join(t.TempDir(), "root")
				committest.MustCommit(t, committest.Start(t, real(root), "a", 1), committest.Finish{})
				must(t, startAgain(t, real(root), "a", 2))
				back := carried(t, real(root), 2)
				aside := filepath.Join(root, "aside")
				must(t, os.Rename(runFile(root, 2, ""), aside))
				for range 2 {
					rewrite(t, root)
					stillMissing(t, root)
				}
				found := 2
				switch end {
				case "put back":
					must(t, os.Rename(aside, runFile(root, 2, "")))
				case "brought back":
					added, err := receive(t, real(root), back)
					if exists := new(commit.ExistsError); name == "a later run comes in" {
						if !errors.As(err, &exists) || exists.ID != later.ID {
							t.Errorf("%v %v", added, err)
						}
						return
					}
					if err != nil || !added {
						t.Fatalf("%v %v", added, err)
					}
				case "forgotten":
					must(t, startAgain(t, real(root), "a", 3))
					found = 3
				}
				s := lookup(t, real(root), "a")
				if snap := committest.MustRead(t, s); s.ID() != committest.ID(found) || len(snap.Warnings) > 0 {
					t.Errorf("found %s, %v", s.ID(), snap.Warnings)
				}
				r, err := real(root).(commit.Keeper).Index(t.Context())
				if name == "a later run comes in" && end == "put back" { // both are there now, and the entry is the earlier one's
					if len(r.Faults) != 1 || r.Faults[0].Run != later.ID {
						t.Errorf("%+v %v", r, err)
					}
					return
				}
				if err != nil || len(r.Gone) > 0 || len(r.Faults) > 0 {
					t.Errorf("%+v %v", r, err)
				}
				committest.MustCommit(t, s, add("next"))
			})
		}
	}
}

func stillMissing(t *testing.T, root string) {
	t.Helper()
	toldMissing(t, committest.MustRead(t, lookup(t, real(root), "a")).Warnings)
	want := commit.Entry{Slug: "a", ID: committest.ID(2)}
	gone, err := real(root).(commit.Keeper).Gone(t.Context())
	if err != nil || !slices.Equal(gone, []commit.Entry{want}) {
		t.Errorf("gone: %v %v", gone, err)
	}
	if r, err := real(root).(commit.Keeper).Index(t.Context()); err != nil || len(r.Faults) > 0 || !slices.Equal(r.Gone, gone) {
		t.Errorf("%+v %v", r, err)
	}
}

func toldMissing(t *testing.T, warnings []commit.Warning) {
	t.Helper()
	if !slices.ContainsFunc(warnings, func(w commit.Warning) bool { return w.Code == commit.WarnRunMissing }) {
		t.Errorf("nothing says that run 2 is gone: %v", warnings)
	}
}
