package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/simulate"
)

// Simulation is a definition walked with scripted results.
type Simulation struct {
	Schema      int                `json:"schema"`
	MissionType string             `json:"mission_type"`
	Packages    []simulate.Package `json:"packages"`
	Moves       []simulate.Move    `json:"moves"`
	End         simulate.End       `json:"end"`
	Assumed     []string           `json:"assumed"`
	Unused      []string           `json:"unused"`
}

// Finished tells whether the walk came to the mission's end.
func (s Simulation) Finished() bool {
	return s.End.State == string(cursor.Done) || s.End.State == string(cursor.Canceled)
}

// simulatedPackages is how many packages there are where a script names none.
const simulatedPackages = 2

// Simulate walks a mission type ("": the only one defined) as the run of a
// mission would, with scripted results, in memory. It reads the definition and
// nothing else, runs no plugin and writes nothing.
func (p *Project) Simulate(ctx context.Context, missionType string, script simulate.Script) (Simulation, error) {
	var err error
	if missionType == "" {
		if missionType, err = p.Config.OnlyType(); err != nil {
			return Simulation{}, classify(err)
		}
	}
	def, frozen, err := config.LoadMission(p.Config, missionType)
	if err != nil {
		return Simulation{}, classify(err)
	}
	index, err := mission.OpenIndex(bytes.NewReader(frozen.Index), int64(len(frozen.Index)))
	if err != nil {
		return Simulation{}, classify(err)
	}
	s := Simulation{Schema: Schema, MissionType: missionType, Assumed: []string{}}
	if def.HasPackages() && script.Packages == nil {
		script.Packages = Packages(simulatedPackages)
		s.Assumed = append(s.Assumed, fmt.Sprintf("there are %d work packages", simulatedPackages))
	}
	path, err := simulate.Walk(ctx, index, script)
	if err != nil {
		return Simulation{}, classify(badScript(err))
	}
	s.Packages = append([]simulate.Package{}, script.Packages...)
	s.Moves, s.End = path.Moves, path.End
	s.Assumed, s.Unused = append(s.Assumed, path.Assumed...), listed(path.Unused)
	return s, nil
}

// Packages are n packages that nobody works on yet, WP01 and so on.
func Packages(n int) []simulate.Package {
	all := make([]simulate.Package, 0, n)
	for i := range n {
		all = append(all, simulate.Package{ID: fmt.Sprintf("WP%02d", i+1), Lane: mission.Planned})
	}
	return all
}

func badScript(err error) error {
	var bad *simulate.ScriptError
	if !errors.As(err, &bad) {
		return err
	}
	next := "`spec-kitty mission show` lists what there is"
	if len(bad.Known) > 0 {
		next = "use one of: " + strings.Join(bad.Known, ", ")
	}
	e := fail(CodeUsage, next, "%s", bad.Error())
	if e.Candidates = bad.Known; bad.Near != "" {
		e.Candidates = []string{bad.Near}
	}
	return e
}

// Answers reads a file of answers for Simulate. Errors are *Error.
func Answers(file string) (map[string][]string, error) {
	answers, err := config.LoadAnswers(file)
	var invalid *config.InvalidError
	switch {
	case errors.As(err, &invalid):
		e := fromConfig(err)
		e.Code, e.NextStep, e.Err = CodeUsage, "mend the file: `KEY = \"answer\"`, a line for each question", err
		return nil, e
	case err != nil:
		return nil, fail(CodeUsage, "name a file that can be read", "%v", err)
	}
	return answers, nil
}
