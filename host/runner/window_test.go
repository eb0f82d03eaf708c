package runner

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// steered wants that an operator's verb was carried out.
func steered(t *testing.T, a Answer, err error) {
	t.Helper()
	if err != nil || !a.Recorded {
		t.Fatalf("the operator's verb: %v, %v", value(a.Reason), err)
	}
	fits(t, a)
}

// change writes the project's configuration anew.
func change(t *testing.T, root, from, to string) {
	t.Helper()
	path := filepath.Join(root, "spec-kitty.toml")
	raw, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(raw), from) {
		t.Fatalf("%s has no %q: %v", path, from, err)
	}
	write(t, path, strings.Replace(string(raw), from, to, 1))
}

// windowVerbs are what an operator may do to a run while somebody's report is
// under way; each is given the token that the report is on.
func windowVerbs(t *testing.T, root string, p *Project) map[string]func(token string) {
	ctx, ops := context.Background(), OperatorRequest{Mission: "m", Actor: "human:ops", Reason: "r"}
	return map[string]func(string){
		"rewind": func(string) {
			done, refused, err := p.Rewind(ctx, RewindRequest{Mission: "m", Actor: "human:ops", Step: "A", Reason: "r"})
			if err != nil || refused != nil || !done.Applied {
				t.Fatalf("rewind: %+v, %v, %v", done, refused, err)
			}
		},
		"skip": func(string) {
			q := ops
			q.Step = "B"
			a, err := p.Skip(ctx, q)
			steered(t, a, err)
		},
		"retry": func(token string) {
			wantBlockedRecorded(t, must(t, p, report("a", cursor.Blocked, token)))
			q := ops
			q.Caller = Caller{Agent: "a"}
			a, err := p.Retry(ctx, q)
			steered(t, a, err)
			wantStep(t, a, "B")
		},
		"release": func(string) {
			a, err := p.Release(ctx, ops)
			steered(t, a, err)
			wantStep(t, must(t, p, report("a", cursor.Success)), "B")
		},
		"migrate": func(string) {
			change(t, root, `{ id = "B"`, `{ id = "B", title = "otherwise"`)
			done, refused, err := p.Migrate(ctx, MigrateRequest{Mission: "m", Actor: "human:ops", Reason: "r"})
			if err != nil || refused != nil || !done.Applied || len(done.Reissued) != 1 {
				t.Fatalf("migrate: %+v, %v, %v", done, refused, err)
			}
		},
		"abort": func(string) {
			a, err := p.Abort(ctx, ops)
			steered(t, a, err)
		},
	}
}

func wantBlockedRecorded(t *testing.T, a Answer) {
	t.Helper()
	if a.Kind != KindBlocked || !a.Recorded {
		t.Fatalf("%s, recorded %v, want a recorded block", a.Kind, a.Recorded)
	}
}

// Design section 5: rewind, skip, retry, migrate and abort close the window of a
// report that is under way. On both paths and at each point before its commit,
// with the token and without, it is refused by name and writes nothing; also
// where the same step is with the same holder again.
func TestOperatorsCloseTheWindow(t *testing.T) {
	for path, definition := range map[string]string{"engine": linear, "composition": composed} {
		for _, verb := range []string{"rewind", "skip", "retry", "release", "migrate", "abort"} {
			for _, point := range []string{PointRead, PointDispatched, PointPlanned} {
				if path == "composition" && (testing.Short() || point != PointPlanned) {
					continue // a plugin's process for each: the last point will do
				}
				for _, named := range []bool{true, false} {
					t.Run(path+"/"+verb+"/"+point, func(t *testing.T) { window(t, definition, verb, point, named) })
				}
			}
		}
	}
}

func window(t *testing.T, definition, verb, point string, named bool) {
	root := makeProject(t, definition, nil, "success")
	peer := open(t, root)
	must(t, peer, report("a", cursor.Success))
	b := must(t, peer, report("a", cursor.Success))
	wantStep(t, b, "B")
	act := windowVerbs(t, root, peer)[verb]
	completed := completions(t, root, "B")
	var before string
	caller := open(t, root, peerAt(point, func() {
		act(*b.Token)
		completed = completions(t, root, "B")
		before = journal(t, root)
	}))
	q := report("a", cursor.Success)
	if named {
		q.Token = *b.Token
	}
	codes := []string{"cursor_moved", "stale_plan"}
	if verb == "abort" {
		codes = []string{"run_aborted"}
	}
	wantBlocked(t, must(t, caller, q), codes...)
	if got := journal(t, root); got != before {
		t.Errorf("the refused report wrote:\n%s", got[len(before):])
	}
	if n := completions(t, root, "B"); n != completed {
		t.Error("B, which was taken back meanwhile, is complete")
	}
}
