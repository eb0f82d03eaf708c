package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

// warningOf finds a warning of an answer; "" where it has none with this code.
func warningOf(a Answer, code string) string {
	for _, w := range a.Warnings {
		if w.Code == code {
			return w.Message
		}
	}
	return ""
}

// wantTold wants a warning that has all words, and a finding of doctor with the
// same code that says what to do.
func wantTold(t testing.TB, p *Project, a Answer, code string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(warningOf(a, code), word) {
			t.Errorf("the warnings do not say %q with %s: %v", word, code, a.Warnings)
		}
	}
	d, err := p.Doctor(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Code == code && f.Fix != "" && f.RunID != "" }) {
		t.Errorf("doctor does not find %s: %+v", code, d.Findings)
	}
}

func wantUntold(t testing.TB, p *Project, a Answer, code string) {
	t.Helper()
	d, err := p.Doctor(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if warningOf(a, code) != "" || slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Code == code }) {
		t.Errorf("%s is told where nothing is wrong: %v %+v", code, a.Warnings, d.Findings)
	}
}

func logFile(root string) string { return filepath.Join(root, "kitty-specs", "m", lanes.LogFile) }

// workedOnBy is a line of the existing tool by which an agent works on a package.
func workedOnBy(id, agent string) string {
	return `{"actor":"` + agent + `","at":"2099-01-01T00:00:00Z","event_id":"01KMB0MJYY10DBJNG3ZD9000` + id[2:] + `","from_lane":"planned","to_lane":"in_progress","wp_id":"` + id + `"}` + "\n"
}

// Field case 33: a log that appears after the first hand-out is told in every
// answer, and what it has with somebody else, or further on, is handed to nobody
// else; whoever holds it there gets it.
func TestLogAppears_Case33(t *testing.T) {
	root := makeProject(t, packaged, packages(4))
	p := started(t, root)
	one := must(t, p, report("a", cursor.Success))
	log := laneLog("planned", "planned", "for_review", "planned") + workedOnBy("WP02", "bob")
	write(t, logFile(root), log)
	a := must(t, p, report("a", cursor.Success, *one.Token))
	if value(a.WPID) != "WP04" {
		t.Fatalf("%s is handed out (%s)", value(a.WPID), value(a.Reason))
	}
	wantTold(t, p, a, WarnLogAppeared, "WP02 lies in in_progress with bob", "WP03 lies in for_review with nobody", "source =")
	claim, err := p.WPClaim(context.Background(), ClaimRequest{Mission: "m", Caller: Caller{Agent: "c"}, Package: "WP02"})
	if err != nil {
		t.Fatal(err)
	}
	wantBlocked(t, claim, "waiting_for_work_packages")
	c := must(t, p, report("c", cursor.Success))
	wantBlocked(t, c, "waiting_for_work_packages")
	if !slices.Contains(c.Recover, "spec-kitty help lanes") || !strings.Contains(*c.Reason, "bob") {
		t.Errorf("%v (%s)", c.Recover, *c.Reason)
	}
	if b := must(t, p, report("bob", cursor.Success)); value(b.WPID) != "WP02" {
		t.Errorf("bob gets %s (%s)", value(b.WPID), value(b.Reason))
	}
	if laneLogOf(t, root) != log {
		t.Error("the log of others was written to")
	}
	wantSound(t, p)
}

// The project says that the log does not count: the run goes on by its own lanes.
func TestLogAppearsAndDoesNotCount(t *testing.T) {
	root := makeProject(t, packaged+"\n[work_packages]\nsource = \"journal\"\n", packages(2))
	p := started(t, root)
	must(t, p, report("a", cursor.Success))
	write(t, logFile(root), laneLog("planned", "done"))
	b := must(t, p, report("b", cursor.Success))
	if value(b.WPID) != "WP02" {
		t.Errorf("%s (%s)", value(b.WPID), value(b.Reason))
	}
	wantUntold(t, p, b, WarnLogAppeared)
}

// A log that is gone stops its run, with advice that works: the file put back, or
// an end and a new start.
func TestLogGone(t *testing.T) {
	root := inLog(t, packaged, 2)
	p := started(t, root)
	one := must(t, p, report("a", cursor.Success))
	log := laneLogOf(t, root)
	if err := os.Remove(logFile(root)); err != nil {
		t.Fatal(err)
	}
	_, err := p.Next(context.Background(), report("a", cursor.Success, *one.Token))
	var known *Error
	if !errors.As(err, &known) || known.Code != CodeDefinitionInvalid || strings.Contains(known.NextStep, "source") ||
		!slices.Contains(known.Recover, "git restore "+quote(logFile(root))) {
		t.Fatalf("%v: %+v", err, known)
	}
	wantTold(t, p, Answer{}, WarnLogGone)
	write(t, logFile(root), log)
	a := must(t, p, report("a", cursor.Success, *one.Token))
	if value(a.WPID) != "WP02" {
		t.Errorf("%s (%s)", value(a.WPID), value(a.Reason))
	}
	wantUntold(t, p, a, WarnLogGone)
	wantUntold(t, p, a, WarnLogPutBack)
	if err := os.Remove(logFile(root)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Abort(context.Background(), OperatorRequest{Mission: "m", Reason: "the log is gone"}); err != nil {
		t.Fatal(err)
	}
	if a, err = p.Start(context.Background(), StartRequest{Slug: "m", Again: true, Caller: Caller{Agent: "b"}}); err != nil || value(a.WPID) != "WP01" {
		t.Errorf("%s %v", value(a.WPID), err)
	}
}

// putBackLog is a mission of which a handed in WP01 and WP02 and holds WP03, and
// whose log was then put back to how it was at the start.
func putBackLog(t *testing.T) (p *Project, root, newer string, held Answer) {
	root = inLog(t, packaged, 3)
	p = started(t, root)
	older := laneLogOf(t, root)
	held = must(t, p, report("a", cursor.Success))
	for range 2 {
		held = must(t, p, report("a", cursor.Success, *held.Token))
	}
	newer = laneLogOf(t, root)
	write(t, logFile(root), older)
	return p, root, newer, held
}

// Work that was acknowledged is not handed out again since a checkout took its
// moves out of the log: the answer names the packages, and the newer log, put
// back, ends it.
func TestLogPutBack_Case33(t *testing.T) {
	p, root, newer, held := putBackLog(t)
	b := must(t, p, report("b", cursor.Success))
	wantBlocked(t, b, "waiting_for_work_packages")
	wantTold(t, p, b, WarnLogPutBack, "WP01 lies in planned there and was moved to for_review", "WP03")
	write(t, logFile(root), newer)
	a := must(t, p, report("a", cursor.Success, *held.Token))
	wantStep(t, a, "review")
	wantUntold(t, p, a, WarnLogPutBack)
	wantSound(t, p)
}

// Where the newer log is lost, an operator says where each package lies: release
// takes the log's word, a forced move the run's. The holder is told the former.
func TestLogPutBackForGood(t *testing.T) {
	p, root, _, held := putBackLog(t)
	q := report("a", cursor.Success, *held.Token)
	refused := must(t, p, q)
	wantBlocked(t, refused, "guard_refused")
	if len(refused.Recover) == 0 || !strings.HasPrefix(refused.Recover[0], "spec-kitty wp release ") || !strings.Contains(refused.Recover[0], " WP03 --mission m --reason ") {
		t.Fatalf("the way out is %v", refused.Recover)
	}
	for _, id := range []string{"WP03", "WP01"} {
		if _, err := p.WPRelease(context.Background(), OperatorRequest{Mission: "m", Package: id, Reason: "the log says so"}); err != nil {
			t.Fatal(err)
		}
	}
	if at := laneIn(t, root, "WP01"); at.Author != "a" {
		t.Errorf("the work on WP01 that was handed in is that of %q", at.Author)
	}
	a, err := p.WPMove(context.Background(), OperatorRequest{Mission: "m", Package: "WP02", To: "for_review", Force: true, Reason: "it was handed in"})
	if err != nil {
		t.Fatal(err)
	}
	wantUntold(t, p, a, WarnLogPutBack)
	if at := laneIn(t, root, "WP02"); at.Lane != mission.ForReview || at.Author != "a" {
		t.Errorf("WP02 lies in %s, the work of %q", at.Lane, at.Author)
	}
	for _, want := range []string{"WP01", "WP03"} {
		if a = must(t, p, report(want, cursor.Success)); value(a.WPID) != want {
			t.Errorf("%s is handed out, want %s (%s)", value(a.WPID), want, value(a.Reason))
		}
	}
	wantSound(t, p)
}

// A package that was handed in does not vanish with its file: the run does not
// end without its review, in either source, until it is back or given up.
func TestFileGone(t *testing.T) {
	for name, root := range map[string]string{"journal": makeProject(t, packaged, packages(2)), "log": inLog(t, packaged, 2)} {
		t.Run(name, func(t *testing.T) {
			p := started(t, root)
			a := must(t, p, report("a", cursor.Success))
			a = must(t, p, report("a", cursor.Success, *a.Token))
			a = must(t, p, report("a", cursor.Success, *a.Token))
			wantStep(t, a, "review")
			if value(a.WPID) != "WP01" {
				t.Fatalf("%s is handed out", value(a.WPID))
			}
			file := filepath.Join(root, "kitty-specs", "m", "tasks", "WP02.md")
			text := read(t, file)
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			a = must(t, p, report("a", cursor.Success, *a.Token))
			if a.MissionState != "review" || code(a) != "waiting_for_work_packages" || !strings.Contains(*a.Reason, "WP02 was worked on") {
				t.Fatalf("%s %s %s", a.Kind, a.MissionState, value(a.Reason))
			}
			wantTold(t, p, a, WarnFileGone, "WP02")
			write(t, file, text)
			a = must(t, p, report("a", cursor.Success))
			if value(a.WPID) != "WP02" {
				t.Fatalf("%s (%s)", value(a.WPID), value(a.Reason))
			}
			wantUntold(t, p, a, WarnFileGone)
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			_, err := p.WPMove(context.Background(), OperatorRequest{Mission: "m", Package: "WP02", To: "canceled", Force: true, Reason: "not wanted"})
			if err != nil {
				t.Fatal(err)
			}
			wantStep(t, must(t, p, report("b", cursor.Success)), "accept")
			wantSound(t, p)
		})
	}
}

// Where nobody has any package, the way out is not a release but a move, or the
// answer of a question.
func TestWaitingForNobody(t *testing.T) {
	files := packages(2)
	files[lanes.LogFile] = `{"event_id":"1","kind":"note"}` + "\n"
	p := started(t, makeProject(t, packaged, files))
	a := must(t, p, report("a", cursor.Success))
	wantBlocked(t, a, "waiting_for_work_packages")
	moves := func(line string) bool {
		return strings.HasPrefix(line, "spec-kitty wp move ") && strings.HasSuffix(line, " WP01 --mission m --to planned")
	}
	if !slices.ContainsFunc(a.Recover, moves) || slices.Contains(a.Recover, "spec-kitty help release") {
		t.Errorf("%v", a.Recover)
	}
	if _, err := p.WPMove(context.Background(), OperatorRequest{Mission: "m", Package: "WP01", To: "planned"}); err != nil {
		t.Fatal(err)
	}
	if a = must(t, p, report("a", cursor.Success)); value(a.WPID) != "WP01" {
		t.Errorf("%s (%s)", value(a.WPID), value(a.Reason))
	}
}
