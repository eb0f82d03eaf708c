//go:build linux || darwin

package torture

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/spec-kitty/step-runner/host/runner"
)

var (
	duration = flag.Duration("for", 3*time.Second, "how long the processes are tormented")
	kills    = flag.Int("kills", 0, "go on until so many commits were killed, however long it takes")
	seed     = flag.Uint64("seed", 0, "of the torments; 0: by the clock")
)

// TestMain is also an agent.
func TestMain(m *testing.M) {
	raw := os.Getenv(lifeVariable)
	if raw == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := live(raw); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const (
	agents       = 4
	packageCount = 6
)

// definition has all kinds of commits: steps, questions, packages, reviews.
func definition() string {
	var b strings.Builder
	b.WriteString("schema = 1\n")
	for i := range 8 {
		fmt.Fprintf(&b, "[[missions.t.steps]]\nid = \"w%d\"\n[[missions.t.steps]]\nid = \"q%d\"\n", i, i)
		fmt.Fprintf(&b, "inputs = [{ key = \"a%d\", question = \"A?\" }, { key = \"b%d\", question = \"B?\" }]\n", i, i)
	}
	b.WriteString(`[[missions.t.steps]]
id = "build"
work_packages = { take = ["planned"], claim = "in_progress", success = "for_review", failed = "planned", until = ["for_review"] }
[[missions.t.steps]]
id = "review"
work_packages = { take = ["for_review"], claim = "in_review", success = "approved", failed = "planned", until = ["approved"], self_review = true }
[[missions.t.steps]]
id = "end"
`)
	return b.String()
}

func project(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{"spec-kitty.toml": definition(), "kitty-specs/m/meta.json": `{"mission_type": "t"}`}
	for i := range packageCount {
		files[fmt.Sprintf("kitty-specs/m/tasks/WP%02d.md", i+1)] = fmt.Sprintf("---\nwork_package_id: WP%02d\ntitle: P\ndependencies: []\n---\n", i+1)
	}
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// P3, field cases 12 and 16: agents are killed at named points and at random,
// stopped, and have no room to write. What one of them was told is in the
// journal exactly once, whatever its successors repeat; every run is sound and
// goes on.
func TestTorture_P3_Case12_Case16(t *testing.T) {
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", first)
	root := project(t)
	lg := &log{deaths: map[string]int{}, errors: map[string]int{}}
	began := time.Now()
	more := func() bool { return time.Since(began) < *duration || lg.dead() < *kills }
	var all sync.WaitGroup
	for i := range agents {
		rng := rand.New(rand.NewPCG(first, uint64(i)))
		all.Go(func() { agent(root, fmt.Sprintf("agent-%d", i), rng, more, lg) })
	}
	all.Wait()
	t.Logf("%.0f killed commits a minute", float64(lg.dead())/time.Since(began).Minutes())
	lg.judge(t, root)
}

func (lg *log) judge(t *testing.T, root string) {
	t.Helper()
	p, err := runner.Open(runner.Options{Root: root, CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, fault := range lg.faults {
		t.Error(fault)
	}
	h := readAll(t, p)
	if a, err := p.Start(context.Background(), runner.StartRequest{Slug: mission, Caller: runner.Caller{Agent: "judge"}, Again: true}); err != nil || a.Token == nil {
		t.Errorf("no run can be started any more: %v", err)
	}
	lost := 0
	for _, a := range lg.acks {
		if why := h.lost(a); why != "" {
			lost++
			t.Errorf("lost: %+v: %s", a, why)
		}
	}
	doubled := h.doubled()
	for _, what := range doubled {
		t.Error("doubled: " + what)
	}
	sweep(t, p)
	if lg.killed == 0 || len(lg.acks) == 0 {
		t.Errorf("nothing was proven: %d killed, %d acknowledged", lg.killed, len(lg.acks))
	}
	t.Logf("deaths: %v; errors: %v", maps.Clone(lg.deaths), maps.Clone(lg.errors))
	t.Logf("%d runs, %d records, %d acknowledged", len(h.records), h.total, len(lg.acks))
	t.Logf("%d killed commits, %d lost, %d doubled", lg.killed, lost, len(doubled))
}
