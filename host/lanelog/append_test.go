package lanelog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/lanelog"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// noon is before the lines of seed: clocks of two machines differ.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// seed is a log of the existing tool: WP01 and WP02 lie in planned, WP03 in
// in_review with rita, ann's work.
const seed = `{"actor": "finalize-tasks", "at": "2026-05-01T06:46:37.268428+00:00", "event_id": "01KQH4M3EMSE6N4X5T91842ZPK", "to_lane": "planned", "wp_id": "WP01"}
{"actor": "finalize-tasks", "at": "2026-05-01T06:46:37.268428+00:00", "event_id": "01KQH4M3EMSE6N4X5T91842ZPM", "to_lane": "planned", "wp_id": "WP02"}
{"actor": "ann", "at": "2026-05-01T06:46:38.268428+00:00", "event_id": "01KQH4M3EMSE6N4X5T91842ZPN", "to_lane": "in_progress", "wp_id": "WP03"}
{"actor": "rita", "at": "2026-05-01T06:46:39.268428+00:00", "event_id": "01KQH4M3EMSE6N4X5T91842ZPP", "to_lane": "in_review", "wp_id": "WP03"}
`

const dir = "/m"

var path = filepath.Join(dir, lanes.LogFile)

func disk(t testing.TB, log string) *durable.Mem {
	t.Helper()
	mem := durable.NewMem()
	if err := errors.Join(mem.Mkdir(dir, 0o755), mem.SyncDir("/"), durable.Replace(mem, path, []byte(log), 0o644)); err != nil {
		t.Fatal(err)
	}
	return mem
}

func content(t testing.TB, d durable.Disk) string {
	t.Helper()
	data, err := durable.ReadFile(d, path, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func batch(moves ...lanelog.Move) lanelog.Batch {
	return lanelog.Batch{Run: "01RUN", Revision: 7, Slug: "034-pay", MissionID: "01KN2371WSJ7573ZG5D21WP82P",
		Worktrees: map[string]bool{"WP01": true}, Moves: moves}
}

// handOut is what handing WP01 to ann's worker does.
func handOut() lanelog.Batch {
	ann := lanes.Person{Agent: "ann", Worker: "7"}
	return batch(
		lanelog.Move{Package: "WP01", From: mission.Planned, To: mission.Claimed, Actor: "ann", Holder: ann},
		lanelog.Move{Package: "WP01", From: mission.Claimed, To: mission.InProgress, Actor: "ann", Holder: ann},
	)
}

func parse(t testing.TB, text string) lanes.Log {
	t.Helper()
	log, err := lanes.ParseLog(path, []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return log
}

// The fields are those of the existing tool's lines, in its notation; every byte
// that was there stays; times go on after the last one, whatever the clock says.
func TestAppendedLines(t *testing.T) {
	mem := disk(t, seed)
	if err := lanelog.Append(mem, dir, noon, handOut()); err != nil {
		t.Fatal(err)
	}
	text := content(t, mem)
	added, kept := strings.CutPrefix(text, seed)
	if !kept {
		t.Fatalf("what was there changed:\n%s", text)
	}
	id := parse(t, text).At("WP01").EventID
	want := `{"actor": "ann", "at": "2026-05-01T06:46:39.268430+00:00", "event_id": "` + id + `", "evidence": null, "execution_mode": "worktree", "force": false, "from_lane": "claimed", "mission_id": "01KN2371WSJ7573ZG5D21WP82P", "mission_slug": "034-pay", "policy_metadata": {"agent": "ann", "step_runner": {"holder": "ann", "holder_worker": "7", "revision": 7, "run": "01RUN"}}, "reason": null, "review_ref": null, "review_result": null, "to_lane": "in_progress", "wp_id": "WP01"}`
	if diff := cmp.Diff(want, strings.Split(added, "\n")[1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got := parse(t, text).At("WP01")
	if got.Lane != mission.InProgress || got.From != mission.Claimed || got.Holder != "ann" || got.Worker != "7" || got.Since.Before(noon) {
		t.Errorf("%+v", got)
	}
}

// What a lane wants: evidence of a review for approved and done, a result out of
// in_review, a reference for work that goes back, a note where only the holder
// changes.
func TestWhatLanesWant(t *testing.T) {
	approved := `{"reference": "run:01RUN", "reviewer": "rita", "verdict": "approved"}`
	changes := `{"reference": "run:01RUN", "reviewer": "rita", "verdict": "changes_requested"}`
	for name, c := range map[string]struct {
		move lanelog.Move
		want []string
	}{
		"approved":   {lanelog.Move{From: mission.InReview, To: mission.Approved}, []string{`"evidence": {"review": ` + approved + `}`, `"review_result": ` + approved, `"review_ref": null`}},
		"done":       {lanelog.Move{From: mission.Approved, To: mission.Done}, []string{`"evidence": {"review": ` + approved + `}`, `"review_result": null`}},
		"rejected":   {lanelog.Move{From: mission.InReview, To: mission.Planned, Reason: `say "why": a, b`, Ends: "01TOKEN"}, []string{`"evidence": null`, `"review_result": ` + changes, `"review_ref": "run:01RUN"`, `"reason": "say \"why\": a, b"`, `"ends": "01TOKEN"`}},
		"canceled":   {lanelog.Move{From: mission.InReview, To: mission.Canceled, Force: true}, []string{`"evidence": null`, `"review_result": null`, `"force": true`}},
		"freed":      {lanelog.Move{From: mission.InReview, To: mission.InReview}, []string{`"kind": "annotation"`, `"release_runtime_claim": true`}},
		"taken over": {lanelog.Move{From: mission.InReview, To: mission.InReview, Holder: lanes.Person{Agent: "bob"}}, []string{`"kind": "annotation"`, `"agent": "bob"`}},
	} {
		t.Run(name, func(t *testing.T) {
			mem := disk(t, seed)
			c.move.Package, c.move.Actor = "WP03", "rita"
			if err := lanelog.Append(mem, dir, noon, batch(c.move)); err != nil {
				t.Fatal(err)
			}
			text := content(t, mem)
			for _, part := range c.want {
				if !strings.Contains(text[len(seed):], part) {
					t.Errorf("no %s in\n%s", part, text[len(seed):])
				}
			}
			got := parse(t, text).At("WP03")
			if got.Lane != c.move.To || got.Holder != c.move.Holder.Agent || got.Author != "ann" || got.Ended != c.move.Ends {
				t.Errorf("%+v", got)
			}
		})
	}
}

// The same move after the same line is the same event, so that a copy of the log
// that git merges later counts it once; no two moves of one log are.
func TestEventIDs(t *testing.T) {
	one, other := disk(t, seed), disk(t, seed)
	for _, mem := range []*durable.Mem{one, other} {
		if err := lanelog.Append(mem, dir, noon, handOut()); err != nil {
			t.Fatal(err)
		}
	}
	merged := content(t, one) + content(t, other)[len(seed):]
	if log := parse(t, merged); log.At("WP01").Lane != mission.InProgress || len(log.Warnings) > 0 {
		t.Errorf("%+v", log)
	}
	ids := map[string]bool{}
	there := lanes.Person{Agent: "bob"}
	for n := range 20 { // one and the same change of the holder, to and fro
		if n%2 == 0 {
			there = lanes.Person{}
		} else {
			there = lanes.Person{Agent: "bob"}
		}
		if err := lanelog.Append(one, dir, noon, batch(lanelog.Move{Package: "WP01", From: mission.InProgress, To: mission.InProgress, Actor: "ops", Holder: there})); err != nil {
			t.Fatal(err)
		}
		log := parse(t, content(t, one))
		if at := log.At("WP01"); at.Holder != there.Agent || ids[at.Latest] || len(log.Warnings) > 0 {
			t.Fatalf("change %d: %+v, %v", n, at, log.Warnings)
		}
		ids[log.At("WP01").Latest] = true
	}
}

// What a dead writer left unfinished is cut off, and nothing else: a line that is
// whole but for its newline gets it.
func TestTailIsCut(t *testing.T) {
	whole := strings.TrimSuffix(seed, "\n")
	line := `{"actor": "x", "at": "2026-05-01T06:46:40.268428+00:00", "event_id": "01KQH4M3EMSE6N4X5T91842ZPQ", "to_lane": "done", "wp_id": "WP02"}` + "\n"
	tails := map[string]string{
		"no newline": whole, "nothing": seed, "zeros": seed + "\x00\x00\x00", "a newline lost": whole + "\x00",
	}
	for cut := 1; cut < len(line)-1; cut++ {
		tails[fmt.Sprint("cut at ", cut)] = seed + line[:cut]
		tails[fmt.Sprint("zeros from ", cut)] = seed + line[:cut] + strings.Repeat("\x00", len(line)-cut)
		tails[fmt.Sprint("zero at ", cut)] = seed + line[:cut] + "\x00" + line[cut+1:]
	}
	for name, tail := range tails {
		mem := disk(t, tail)
		if log := parse(t, tail); log.At("WP02").Lane != mission.Planned {
			t.Fatalf("%s: an unfinished line counts", name)
		}
		if err := lanelog.Append(mem, dir, noon, handOut()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := content(t, mem)
		if !strings.HasPrefix(text, seed) || strings.Count(text, "\n") != strings.Count(seed, "\n")+2 {
			t.Fatalf("%s:\n%q", name, text)
		}
		if log := parse(t, text); log.At("WP01").Lane != mission.InProgress || len(log.Warnings) > 0 {
			t.Fatalf("%s: %+v", name, log)
		}
	}
}

// Damage is not a tail: it is refused, and its bytes stay.
func TestDamageIsRefused(t *testing.T) {
	for _, damage := range []string{seed + "<<<<<<< HEAD\n", "\x00{}\n" + seed, seed + "junk\n" + seed} {
		mem := disk(t, damage)
		err := lanelog.Append(mem, dir, noon, handOut())
		if !errors.As(err, new(*lanes.FileError)) {
			t.Errorf("%v, want the line that is damaged", err)
		}
		if content(t, mem) != damage {
			t.Error("damage was written to")
		}
	}
}

// P3: an error at each disk operation, and a power failure at each with nothing,
// everything and many subsets of what was not synced. What was there stays; a
// move that was acknowledged is there; a refused one is not; at each moment the
// log can be read, and the next call goes on.
func TestSweep(t *testing.T) {
	for n := 0; ; n++ {
		mem := disk(t, seed+`{"torn`)
		faulty := &durable.Faulty{Disk: mem, Fail: durable.FailAt(n), Short: 100}
		err := lanelog.Append(faulty, dir, noon, handOut())
		met := faulty.Count() > n
		refused := errors.As(err, new(*lanelog.CutError))
		if err != nil && !refused && !errors.As(err, new(*lanelog.UncertainError)) {
			t.Fatalf("operation %d: %v has no class", n, err)
		}
		if moved := parse(t, content(t, mem)).At("WP01").Lane != mission.Planned; err == nil && !moved || refused && moved {
			t.Errorf("operation %d: %v, moved %v", n, err, moved)
		}
		for round := range crashes() {
			survives(t, mem.Crash(1+round%64, chooser(round)), fmt.Sprintf("operation %d, crash %d", n, round), err == nil)
		}
		if !met {
			return
		}
	}
}

// A power failure before operation n.
func TestSweepOfCrashes(t *testing.T) {
	for n := 0; ; n++ {
		var disks []*durable.Mem
		mem := disk(t, seed+`{"torn`)
		faulty := &durable.Faulty{Disk: mem, Before: func(i int, _ durable.Op) {
			for round := range crashes() {
				if i == n {
					disks = append(disks, mem.Crash(1+round%64, chooser(round)))
				}
			}
		}}
		if err := lanelog.Append(faulty, dir, noon, handOut()); err != nil {
			t.Fatal(err)
		}
		if disks == nil {
			return
		}
		for i, after := range disks {
			survives(t, after, fmt.Sprintf("before operation %d, crash %d", n, i), false)
		}
	}
}

// crashes is how many subsets of what was not synced are tried.
func crashes() int {
	if testing.Short() {
		return 20
	}
	return 150
}

func chooser(round int) durable.Chooser {
	switch round {
	case 0:
		return durable.Nothing
	case 1:
		return durable.Everything
	}
	return rand.New(rand.NewPCG(1, uint64(round))).IntN
}

// survives wants that a log after a crash is read, and that the hand-out is made
// whole by the next call.
func survives(t *testing.T, mem *durable.Mem, when string, acknowledged bool) {
	t.Helper()
	text := content(t, mem)
	if !strings.HasPrefix(text, seed) {
		t.Fatalf("%s: what was there changed:\n%q", when, text)
	}
	at := parse(t, text).At("WP01")
	if acknowledged && at.Lane != mission.InProgress {
		t.Fatalf("%s: an acknowledged move is lost", when)
	}
	b := handOut()
	switch at.Lane {
	case mission.Claimed:
		b.Moves = b.Moves[1:]
	case mission.InProgress:
		b.Moves = nil
	}
	if err := lanelog.Append(mem, dir, noon, b); err != nil {
		t.Fatalf("%s: the next call: %v", when, err)
	}
	if got := content(t, mem.Crash(8, durable.Nothing)); parse(t, got).At("WP01").Lane != mission.InProgress || strings.Count(got, "\n") != 6 {
		t.Fatalf("%s: after the next call:\n%s", when, got)
	}
}

// A sync that failed lost its pages, and the line is in memory alone. A later
// call that relies on it makes it durable although it moves nothing.
func TestRelyingOnALineMakesItDurable(t *testing.T) {
	mem := disk(t, seed)
	syncs := 0
	faulty := &durable.Faulty{Disk: mem, Fail: func(_ int, op durable.Op) error {
		if op.Kind == "sync" {
			syncs++
		}
		if op.Kind == "truncate" || op.Kind == "sync" && syncs >= 3 { // the second line's, and the way back
			return durable.ErrInjected
		}
		return nil
	}}
	if err := lanelog.Append(faulty, dir, noon, handOut()); !errors.As(err, new(*lanelog.UncertainError)) {
		t.Fatalf("%v, want uncertain", err)
	}
	if parse(t, content(t, mem)).At("WP01").Lane != mission.InProgress {
		t.Fatal("the test wants a line that is seen and not durable")
	}
	if parse(t, content(t, mem.Crash(1, durable.Nothing))).At("WP01").Lane != mission.Claimed {
		t.Fatal("the line is durable although its sync failed")
	}
	if err := lanelog.Append(mem, dir, noon, batch()); err != nil {
		t.Fatal(err)
	}
	if parse(t, content(t, mem.Crash(1, durable.Nothing))).At("WP01").Lane != mission.InProgress {
		t.Error("the line that was relied on is lost")
	}
}

// Every real log, in a copy: a move out of each package's lane is appended; the
// old bytes stay, the lanes are the expected ones with that move, and the line
// has the fields of the real ones and no others.
func TestRealLogs(t *testing.T) {
	real := filepath.Join("..", "..", "..", "shared", "data", "kitty-specs")
	all, err := filepath.Glob(filepath.Join(real, "*", lanes.LogFile))
	if err != nil || len(all) == 0 {
		t.Skip("no real missions beside the project")
	}
	if len(all) != 40 {
		t.Fatalf("%d logs", len(all))
	}
	fields := map[string]bool{}
	for _, file := range all {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
			if len(line) == 0 {
				continue
			}
			if o := object(t, line); o["to_lane"] != nil {
				for key := range o {
					fields[key] = true
				}
			}
		}
	}
	for _, file := range all {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) { appendToReal(t, file, slices.Sorted(maps.Keys(fields))) })
	}
}

func object(t testing.TB, line []byte) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(line, &o); err != nil {
		t.Fatalf("%v\n%s", err, line)
	}
	return o
}

func appendToReal(t *testing.T, file string, fields []string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	target := filepath.Join(copied, lanes.LogFile)
	if err := os.WriteFile(target, data, 0o644); err != nil {
		t.Fatal(err)
	}
	before := parse(t, string(data))
	want := map[string]mission.Lane{}
	var b lanelog.Batch
	for _, p := range before.Positions {
		want[p.Package] = p.Lane
		for _, to := range mission.Lanes() {
			if mission.CanMove(p.Lane, to) {
				b.Moves = append(b.Moves, lanelog.Move{Package: p.Package, From: p.Lane, To: to, Actor: "ann", Reason: "r"})
				want[p.Package] = to
				break
			}
		}
	}
	if err := lanelog.Append(durable.OS(), copied, noon, b); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	added, kept := bytes.CutPrefix(after, data)
	if !kept {
		t.Fatal("what was there changed")
	}
	got := map[string]mission.Lane{}
	log := parse(t, string(after))
	for _, p := range log.Positions {
		got[p.Package] = p.Lane
	}
	if diff := cmp.Diff(want, got); diff != "" || len(log.Warnings) > 0 {
		t.Errorf("(-want +got):\n%s%v", diff, log.Warnings)
	}
	last := before.Last
	for line := range bytes.Lines(bytes.TrimSpace(added)) {
		o := object(t, line)
		if diff := cmp.Diff(fields, slices.Sorted(maps.Keys(o))); diff != "" {
			t.Fatalf("fields (-real +ours):\n%s", diff)
		}
		at, err := time.Parse("2006-01-02T15:04:05.000000-07:00", o["at"].(string))
		if err != nil || !at.After(last) {
			t.Fatalf("at %v after %v: %v", at, last, err)
		}
		last = at
	}
}
