package runner

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanelog"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

// What can have become of a lane log behind a run's back, as warnings of every
// answer and as findings.
const (
	WarnLogAppeared = "lane_log_appeared" // it came after the run began to keep its lanes itself
	WarnLogPutBack  = "lane_log_put_back" // it lost moves of this run
	WarnLogGone     = "lane_log_gone"     // the run's lanes lie in it, and it is not there
	WarnFileGone    = "package_file_gone" // the run worked on a package that has no file any more
)

// laneFault is one of them: what is wrong, and what to do.
type laneFault struct{ Code, Message, Fix string }

func isLaneFault(w Warning) bool {
	switch w.Code {
	case WarnLogAppeared, WarnLogPutBack, WarnFileGone:
		return true
	}
	return false
}

// beside tells whether a mission has a lane log that its run does not go by,
// where the project did not say that it should not.
func (w *world) beside(r *run, s cursor.State) bool {
	return s.Source == cursor.Journal && w.project.Config.Source != config.SourceJournal && lanelog.Kept(r.mission.Dir)
}

// logGone is the error of a run whose lanes lie in a log that is not there.
// Another source would be another truth: what was moved by others is only there.
func logGone(m lanes.Mission) *Error {
	path := filepath.Join(m.Dir, lanes.LogFile)
	e := fail(CodeDefinitionInvalid, "put the file back, from git or from a copy; if it is gone for good, `spec-kitty help lanes` has the way on",
		"%s is gone, and this run has its lanes there", path)
	e.Recover = []string{"git restore " + quote(path), "spec-kitty help lanes"}
	e.File = path
	return e
}

// laneFaults are what is wrong between a run and its packages' lanes and files.
// The facts were just read.
func (w *world) laneFaults(r *run, s cursor.State, f cursor.Facts) []laneFault {
	if s.Phase != cursor.Running {
		return nil
	}
	var all []laneFault
	if w.beside(r, s) {
		all = append(all, w.appeared(r, s, f))
	}
	var moves []string
	for _, p := range f.Packages {
		if s.PutBack(f, p.ID) {
			moves = append(moves, fmt.Sprintf("%s lies in %s there and was moved to %s", p.ID, p.Lane, s.Packages[p.ID].LoggedTo))
		}
	}
	if moves != nil {
		all = append(all, laneFault{WarnLogPutBack,
			filepath.Join(r.mission.Dir, lanes.LogFile) + " lost moves that this run made in it, so an older one was put back, and these packages are not handed out: " + strings.Join(moves, "; "),
			"put the newer log back, or say where each one lies with `spec-kitty wp release` or `spec-kitty wp move`: `spec-kitty help lanes`"})
	}
	return append(all, filesGone(s, f)...)
}

// appeared says which packages a log beside the run keeps from being handed out.
func (w *world) appeared(r *run, s cursor.State, f cursor.Facts) laneFault {
	fault := laneFault{WarnLogAppeared,
		filepath.Join(r.mission.Dir, lanes.LogFile) + " came after this run began to keep its lanes in its own journal, and nothing is written to it",
		"to go by the log, end this run and start anew; to go by the run alone, set source = \"journal\" in [work_packages]: `spec-kitty help lanes`"}
	if _, err := r.lanes.Read(); err != nil {
		fault.Message += "; it cannot be read: " + err.Error()
		return fault
	}
	var kept []string
	for _, p := range f.Packages {
		if s.Elsewhere(f, p.ID, cursor.Holder{}) {
			kept = append(kept, fmt.Sprintf("%s lies in %s with %s there", p.ID, p.Beside.Lane, p.Beside.Holder))
		}
	}
	if kept != nil {
		fault.Message += "; what it has with others, or further on, is not handed out here: " + strings.Join(kept, "; ")
	}
	return fault
}

// filesGone are the packages that the run worked on and cannot lose silently.
func filesGone(s cursor.State, f cursor.Facts) []laneFault {
	var gone []string
	for _, p := range f.Lost {
		if lane := s.Lane(f, p.ID); !lane.Final() {
			gone = append(gone, p.ID+" (in lane "+string(lane)+")")
		}
	}
	if gone == nil {
		return nil
	}
	return []laneFault{{WarnFileGone, "this run worked on packages that have no file in tasks/ any more: " + strings.Join(gone, ", "),
		"put the files back, or give the packages up with `spec-kitty wp move`: `spec-kitty help lanes`"}}
}

// lanes notes what is wrong between a run that goes on and its mission's folder.
func (e *examination) lanes(h RunHealth, s cursor.State, store Store) {
	m, err := lanes.Load(e.p.Config.SpecsDir(), s.Mission)
	if s.Phase != cursor.Running || err != nil {
		return // a mission that is gone or damaged is told by who names it
	}
	r := &run{store: store, mission: m, packages: lanes.NewReader(m.Dir), lanes: lanes.NewLogReader(m.Dir)}
	var f cursor.Facts
	e.p.world.packages(r, s, &f)
	faults := e.p.world.laneFaults(r, s, f)
	if fault, ok := unreadable(f.Fault); ok && e.needsPackages(r, s) {
		faults = append(faults, fault)
	}
	for _, fault := range faults {
		e.find(Finding{Level: LevelWarning, Code: fault.Code, RunID: h.RunID, Message: fault.Message, Fix: fault.Fix})
	}
}

// needsPackages tells whether the run's definition asks for packages at all.
func (e *examination) needsPackages(r *run, s cursor.State) bool {
	defer r.closeViews()
	def, err := r.view(s)
	return err == nil && def.HasPackages()
}

// WarnUnreadable says that the packages, or the log that has their lanes, cannot be
// read: who needs them gets an error, and nothing is reported on them.
const WarnUnreadable = "packages_unreadable"

// unreadable is the finding of packages that cannot be read.
func unreadable(err error) (laneFault, bool) {
	var gone *Error
	var file *lanes.FileError
	switch {
	case errors.As(err, &gone):
		return laneFault{WarnLogGone, gone.Message, gone.Next()}, true
	case errors.As(err, &file):
		return laneFault{WarnUnreadable, err.Error(), cmp.Or(file.Fix, "mend what is named, or put the file back: `spec-kitty help lanes`")}, true
	case err != nil:
		return laneFault{WarnUnreadable, err.Error(), "mend what is named: `spec-kitty help lanes`"}, true
	}
	return laneFault{}, false
}

// waitingLines help where packages keep a step open: what is with somebody may be
// released, what nobody has lies where no step takes from.
func (r *reading) waitingLines() []string {
	var lines []string
	held, stray := len(r.state.Issues()) > 0, false
	for _, p := range r.facts.Packages {
		lane := r.state.Lane(r.facts, p.ID)
		held = held || !r.state.HolderOf(r.facts, p.ID).IsZero()
		stray = stray || r.state.PutBack(r.facts, p.ID) || r.state.Elsewhere(r.facts, p.ID, cursor.Holder{})
		if lane == mission.Genesis {
			lines = append(lines, r.moveLine(p.ID, mission.Planned))
		}
	}
	if len(r.facts.Packages) == 0 && len(r.facts.Lost) == 0 {
		lines = append(lines, "spec-kitty help packages")
	}
	lines = append(lines, r.strandedLines()...)
	if stray || len(r.facts.Lost) > 0 {
		lines = append(lines, "spec-kitty help lanes")
	}
	if held {
		lines = append(lines, "spec-kitty help release")
	}
	return append(lines, "spec-kitty help skip")
}

// strandedLines move on what no step takes from where it lies. Where steps are
// complete, a rewind has the work done again in place of that.
func (r *reading) strandedLines() []string {
	stranded, _ := r.state.Stranded(r.facts) // its errors were told by the situation
	var lines []string
	for _, at := range stranded {
		line := r.moveLine(at.Package, at.To)
		if at.Force {
			line += " --force --reason " + quote("no step takes it from lane "+string(at.From))
		}
		lines = append(lines, line)
	}
	if lines != nil && !r.state.Cursor.Done.IsZero() {
		lines = append(lines, "spec-kitty help rewind")
	}
	return lines
}

// moveLine takes a package that nobody has one lane on.
func (r *reading) moveLine(id string, to mission.Lane) string {
	return "spec-kitty wp move" + r.p.rootFlag() + " " + quote(id) + " --mission " + quote(r.mission.Slug) + " --to " + string(to)
}

// releaseLine gives up a package that its holder cannot report on any more.
func (r *reading) releaseLine(id, reason string) string {
	return "spec-kitty wp release" + r.p.rootFlag() + " " + quote(id) + " --mission " + quote(r.mission.Slug) + " --reason " + quote(reason)
}
