package tick

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// A loop's folder that was renamed, or copied under another loop's name, is not that
// loop: no verb writes to it, and it says what it is.
func TestRenamedFolderIsNoLoop(t *testing.T) {
	y := newYard(t, commits)
	y.define("other", commits)
	y.create("deps")
	dir := y.loops().dir()
	must(t, os.CopyFS(filepath.Join(dir, "other"), os.DirFS(filepath.Join(dir, "deps"))))
	l := y.loops()
	_, ticked := l.Tick(t.Context(), Request{Loop: "other", Who: "tick"})
	_, paused := l.Pause(t.Context(), PauseRequest{Loop: "other", Who: "human:me"})
	_, retired := l.Retire(t.Context(), "other", "human:me", "", false)
	s, status := l.Status(t.Context(), "other")
	for _, err := range []error{ticked, paused, retired, status} {
		wantRefusal(t, err, Misplaced)
	}
	if s.Status != "broken" || exists(l.lockPath("other")) {
		t.Errorf("%+v", s)
	}
	y.want(y.tick(y.loops()), Done, "success")
}

// rotten is a disk that lost bytes of a file by itself: nobody wrote to it.
type rotten struct {
	durable.Disk
	path string
	was  fs.FileInfo
}

func (d rotten) Stat(path string) (fs.FileInfo, error) {
	if path == d.path {
		return d.was, nil
	}
	return d.Disk.Stat(path)
}

// A record that the disk lost, without anybody's having written to the file, is not
// seen by a tick, which begins at the view; doctor, which reads all, tells it.
func TestDoctorReadsTheWholeJournal_Row22(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	y.want(y.tick(y.loops()), Done, "success")
	journal := filepath.Join(y.loops().dir(), "deps", JournalName)
	was, err := os.Stat(journal)
	must(t, err)
	l := y.loops(func(o *Options) { o.Commit.Disk = rotten{durable.OS(), journal, was} })
	said := func() string {
		var all strings.Builder
		p := l.Preflight(t.Context(), "deps")
		for _, c := range p.Checks {
			if c.Level == LevelFault {
				all.WriteString(c.Check + ": " + c.Message + "\n")
			}
		}
		return all.String()
	}
	if got := said(); got != "" {
		t.Fatal(got)
	}
	raw, err := os.ReadFile(journal)
	must(t, err, os.WriteFile(journal, []byte(strings.Replace(string(raw), `"claimed"`, `"clajmed"`, 1)), 0o644))
	if got := said(); !strings.HasPrefix(got, "journal: ") || !strings.Contains(got, JournalName+":2") {
		t.Errorf("%q", got)
	}
	if s, err := l.Status(t.Context(), "deps"); err != nil || s.Status != "ready" {
		t.Errorf("%+v %v", s, err)
	}
}

// Something lies where the runs' folders belong: the run fails by that name, and its
// claim is given back.
func TestNoPlaceForARun(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	runs := filepath.Join(y.loops().dir(), "deps", runsName)
	write(t, runs, "in the way")
	y.want(y.tick(y.loops()), Failed, "run_folder")
	if s := y.status(); s.Claim != nil || s.Count.Failures != 1 || s.Count.Runs != 0 {
		t.Errorf("%+v", s)
	}
	must(t, os.Remove(runs))
	y.want(y.tick(y.past()), Done, "success")
}
