//go:build linux || darwin

package torture

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

var (
	duration = flag.Duration("for", 3*time.Second, "how long the processes are tormented")
	kills    = flag.Int("kills", 0, "go on until so many commits were killed, however long it takes")
	seed     = flag.Uint64("seed", 0, "of the torments; 0: by the clock")
)

// TestMain is also an agent.
func TestMain(m *testing.M) {
	sandbox.ChildMain()
	command.Main()
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
	loopAgents   = 2
	packageCount = 6
)

// P3, field cases 12 and 16, and rows 14 to 20 of loops: agents on a mission and on a
// loop are killed at named points and at random, stopped, and have no room to write.
// What one of them was told is in the journal exactly once, whatever its successors
// repeat; so are the files of executors, and what the loop's work left is on its branch;
// every run is sound and goes on.
func TestTorture_P3_Case12_Case16(t *testing.T) {
	t.Parallel()
	lg := newLog(project(t, t.TempDir()))
	lg.torment(t, func(began time.Time) bool {
		return time.Since(began) < *duration || lg.dead() < *kills || lg.unproven(began)
	})
	lg.judge(t)
}

func newLog(root, home string) *log {
	return &log{root: root, home: home, deaths: map[string]int{}, errors: map[string]int{}}
}

// torment sets all agents to work, until it was enough.
func (lg *log) torment(t *testing.T, more func(began time.Time) bool) {
	t.Helper()
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", first)
	began := time.Now()
	var all sync.WaitGroup
	for i := range agents + loopAgents {
		who := life{Root: lg.root, Home: lg.home, Agent: fmt.Sprintf("agent-%d", i), Loop: i >= agents}
		rng := rand.New(rand.NewPCG(first, uint64(i)))
		all.Go(func() { lg.agent(who, rng, func() bool { return more(began) }) })
	}
	all.Wait()
	t.Logf("%.0f killed commits a minute", float64(lg.dead())/time.Since(began).Minutes())
}

func (lg *log) judge(t *testing.T) {
	t.Helper()
	p := openProject(t, lg.root, lg.home)
	for _, fault := range lg.faults {
		t.Error(fault)
	}
	settle(t, p)
	h := readAll(t, p)
	if a, err := p.Start(context.Background(), runner.StartRequest{Slug: mission, Caller: runner.Caller{Agent: "judge"}, Again: true}); err != nil || a.Token == nil {
		t.Errorf("no run can be started any more: %v", err)
	}
	loopLost, loopDoubled := lg.judgeLoop(t, p)
	lost := loopLost + lg.lostInRuns(t, h)
	doubled := append(h.doubled(), loopDoubled...)
	h.files(t, lg.root)
	for _, what := range doubled {
		t.Error("doubled: " + what)
	}
	sweep(t, p)
	if lg.killed == lg.inLoop || lg.inLoop == 0 || len(lg.acks) == 0 {
		t.Errorf("nothing was proven: %d killed, %d of them in the loop, %d acknowledged", lg.killed, lg.inLoop, len(lg.acks))
	}
	t.Logf("deaths: %v; errors: %v", maps.Clone(lg.deaths), maps.Clone(lg.errors))
	t.Logf("%d runs, %d records, %d acknowledged, loop and all", len(h.records), h.total, len(lg.acks))
	t.Logf("%d killed commits, %d of them of the loop, %d lost, %d doubled", lg.killed, lg.inLoop, lost, len(doubled))
}

func (lg *log) lostInRuns(t *testing.T, h history) (lost int) {
	t.Helper()
	for _, a := range lg.acks {
		if a.told.Run == loopName {
			continue
		}
		if why := h.lost(a); why != "" {
			lost++
			t.Errorf("lost: %+v: %s", a, why)
		}
	}
	return lost
}
