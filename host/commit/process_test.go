package commit_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
)

// order is what a second process is told to do.
type order struct {
	Root   string
	KillAt string // named point; "": live
	Start  bool   // start the slug "a", else add to it
	Tokens []string
	Wait   bool // say "ready" and wait for the end of the input
}

const orderVar = "COMMIT_TEST_ORDER"

// TestMain is also the second process.
func TestMain(m *testing.M) {
	text := os.Getenv(orderVar)
	if text == "" {
		os.Exit(m.Run())
	}
	var o order
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = o.carryOut()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (o order) carryOut() error {
	ctx := context.Background()
	cat := real(o.Root, hook(func(point string) {
		if point == o.KillAt {
			self, _ := os.FindProcess(os.Getpid()) // never fails for a process that is there
			_ = self.Kill()
			select {}
		}
	}))
	if o.Start {
		_, _, err := cat.Start(ctx, "a", committest.New{ID: committest.ID(1), First: committest.Open{}, Blobs: map[string][]byte{"d/x": []byte("x")}})
		return err
	}
	s, err := cat.Lookup(ctx, "a")
	if err != nil {
		return err
	}
	if o.Wait {
		fmt.Println("ready")
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
	}
	for _, token := range o.Tokens {
		out, err := s.Commit(ctx, add(token))
		if err != nil || !out.Committed {
			return errors.Join(err, fmt.Errorf("%s: committed %v", token, out.Committed))
		}
	}
	return nil
}

func (o order) command(t testing.TB) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(o)
	must(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), orderVar+"="+string(text))
	cmd.Stderr = os.Stderr
	return cmd
}

// killed runs a process that must not reach its end.
func killed(t *testing.T, o order) {
	t.Helper()
	var exit *exec.ExitError
	if err := o.command(t).Run(); !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("not killed at %s: %v", o.KillAt, err)
	}
}

// A process kills itself at each named point of a commit. The next call needs
// no manual step, and the state is that of before or after, never between.
func TestKillAtEveryPointOfACommit(t *testing.T) {
	after := []string{
		commit.PointAfterAppend, commit.PointAfterSync, commit.PointBeforePublish,
		commit.PointAfterPublish, commit.PointBeforeRelease, commit.PointReleased,
	}
	before := []string{commit.PointLockAcquired, commit.PointRepaired, commit.PointBeforeAppend}
	for _, point := range slices.Concat(before, after) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			root := five(t)
			must(t, os.Remove(runFile(root, 1, "state.json"))) // so that there is a repair
			killed(t, order{Root: root, KillAt: point, Tokens: []string{"t5"}})
			want := 4
			if slices.Contains(after, point) {
				want = 5
			}
			s := lookup(t, real(root), "a")
			if snap := committest.MustRead(t, s); snap.State.Count != want {
				t.Errorf("state %+v, want %d", snap, want)
			}
			goesOn(t, root, want)
		})
	}
}

// goesOn commits and verifies a run that has n additions.
func goesOn(t *testing.T, root string, n int) {
	t.Helper()
	s := lookup(t, real(root), "a")
	out := committest.MustCommit(t, s, add("next"))
	if out.State.Count != n+1 || len(tokens(t, s)) != n+1 {
		t.Errorf("after the next commit: %+v", out)
	}
	if r, err := s.Verify(t.Context()); err != nil || len(r.Problems) > 0 || r.View != commit.ViewCurrent {
		t.Errorf("verify %+v, %v", r, err)
	}
	for path := range tree(t, root) {
		if name := filepath.Base(path); name != ".gitignore" && name != ".roster" && name[0] == '.' {
			t.Errorf("left: %s", path)
		}
	}
}

// The same for a start: before the rename there is no run and the next start
// makes one; after it there is one, whole.
func TestKillAtEveryPointOfAStart(t *testing.T) {
	before := []string{commit.PointStartLocked, commit.PointStartPrivate, commit.PointStartSynced}
	after := []string{commit.PointStartRenamed, commit.PointStartIndexed, commit.PointStartReleased}
	for _, point := range slices.Concat(before, after) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "root")
			killed(t, order{Root: root, KillAt: point, Start: true})
			cat := real(root)
			_, err := cat.Lookup(t.Context(), "a")
			_, _, again := cat.Start(t.Context(), "a", committest.New{ID: committest.ID(2), First: committest.Open{}})
			if slices.Contains(after, point) {
				var exists *commit.ExistsError
				if err != nil || !errors.As(again, &exists) || exists.ID != committest.ID(1) {
					t.Errorf("lookup %v, start %v", err, again)
				}
			} else if !errors.Is(err, commit.ErrNoRun) || again != nil {
				t.Errorf("lookup %v, start %v", err, again)
			}
			if entries, err := cat.List(t.Context()); err != nil || len(entries) != 1 || entries[0].Err != nil {
				t.Errorf("list %v, %v", entries, err)
			}
			goesOn(t, root, 0)
		})
	}
}

// A query that finds what a killed start left sees the run and writes nothing;
// the first commit enters it into the index.
func TestKilledStartThenQueryThenCommit(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	killed(t, order{Root: root, KillAt: commit.PointStartRenamed, Start: true})
	was := tree(t, root)
	committest.MustRead(t, lookup(t, real(root), "a"))
	sameTree(t, was, tree(t, root))
	committest.MustCommit(t, lookup(t, real(root), "a"), add("t1"))
	if _, err := os.Stat(filepath.Join(root, "index", "a")); err != nil {
		t.Error(err)
	}
}

// FR-003: eight processes, let go together once all are ready. Nothing is lost
// and nothing doubled.
func TestEightProcesses(t *testing.T) {
	const processes, each = 8, 10
	root := filepath.Join(t.TempDir(), "root")
	committest.Start(t, real(root), "a", 1)
	var (
		cmds []*exec.Cmd
		gos  []io.Closer
		want []string
	)
	for p := range processes {
		o := order{Root: root, Wait: true}
		for i := range each {
			o.Tokens = append(o.Tokens, fmt.Sprintf("p%d-%d", p, i))
		}
		want = append(want, o.Tokens...)
		cmd := o.command(t)
		in, err := cmd.StdinPipe()
		must(t, err)
		out, err := cmd.StdoutPipe()
		must(t, err, cmd.Start())
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("process %d says %q, %v", p, line, err)
		}
		cmds, gos = append(cmds, cmd), append(gos, in)
	}
	for _, in := range gos {
		must(t, in.Close())
	}
	for _, cmd := range cmds {
		must(t, cmd.Wait())
	}
	s := lookup(t, real(root), "a")
	got := tokens(t, s)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d additions, want %d", len(got), len(want))
	}
	goesOn(t, root, processes*each)
}
