package runner

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/importer"
	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/host/mission"
)

// pythonRuns is the folder of the Python program's own runs. It is only read.
const pythonRuns = ".kittify/runtime"

// adoption is a run of the Python program that is taken over, and what is said
// about it.
type adoption struct {
	*importer.Run
	took    cursor.Adoption
	inputs  map[string]string
	leftOut []string
}

// adopt finds the mission's run of the Python program and what of it the
// definition can take. Inputs that were given beforehand win.
func (r *reading) adopt(def *mission.Definition, missionType string, given map[string]string) (*adoption, error) {
	root, err := os.OpenRoot(r.p.Config.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := r.pythonRun(root)
	if err != nil {
		return nil, err
	}
	run, err := importer.ReadRun(file)
	if err != nil {
		return nil, notAdopted(err)
	}
	switch {
	case run.Mission != "" && run.Mission != r.mission.Slug:
		return nil, placed(fail(CodeUsage, "start it without --adopt", "the run %s is one of the mission %s, not %s", run.ID, run.Mission, r.mission.Slug), file.Name, 0)
	case run.Type != missionType:
		return nil, placed(fail(CodeUsage, "import that type and start with it, or start without --adopt",
			"the run %s goes by the mission type %s, not %s", run.ID, run.Type, missionType), file.Name, 0)
	}
	a := &adoption{Run: run, inputs: map[string]string{}, took: cursor.Adoption{Run: run.ID, SHA256: hexSum(file.Data), Answers: map[string]cursor.AdoptedAnswer{}}}
	for _, id := range run.Completed {
		a.took.Completed = append(a.took.Completed, ours(def, id))
	}
	a.takeInputs(def, given)
	a.takeAnswers(def)
	return a, nil
}

// pythonRun reads the state of the mission's run. Its index has paths as they
// were when it was written: where such a folder is not below the project, the
// run's own id leads to it.
func (r *reading) pythonRun(root *os.Root) (importer.File, error) {
	index, err := pythonFile(root, pythonRuns+"/feature-runs.json")
	if err != nil {
		return importer.File{}, err
	}
	places, err := importer.ReadRuns(index)
	if err != nil {
		return importer.File{}, notAdopted(err)
	}
	at, ok := places[r.mission.Slug]
	if !ok {
		e := placed(fail(CodeNotFound, "start it without --adopt", "the Python program has no run of the mission %s", r.mission.Slug), index.Name, 0)
		e.Candidates = sortedKeys(places)
		return importer.File{}, e
	}
	dir := path.Join(pythonRuns, "runs", at.ID)
	rel := filepath.FromSlash(at.Dir)
	if filepath.IsAbs(rel) {
		rel, err = filepath.Rel(r.p.Config.Root, rel)
	}
	if err == nil && filepath.IsLocal(rel) {
		if _, err := root.Stat(filepath.Join(rel, "state.json")); err == nil {
			dir = filepath.ToSlash(rel)
		}
	}
	return pythonFile(root, path.Join(dir, "state.json"))
}

func pythonFile(root *os.Root, name string) (importer.File, error) {
	full := filepath.Join(root.Name(), filepath.FromSlash(name))
	data, _, err := readonly.File(root, name, importer.MaxRun)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return importer.File{}, placed(fail(CodeNotFound, "start it without --adopt", "there is no run of the Python program to adopt: %s does not exist", full), full, 0)
	case err != nil:
		return importer.File{}, placed(fail(CodeStateDamaged, "make it a regular file in the project, or start without --adopt", "%v", err), full, 0)
	}
	return importer.File{Name: full, Data: data}, nil
}

// notAdopted says that a file of the Python program cannot be read.
func notAdopted(err error) error {
	var refused *importer.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	p := refused.Problems[0]
	e := placed(fail(CodeStateDamaged, "restore that file, or start without --adopt; nothing was written", "the run cannot be adopted: %s", refused.Error()), p.File, uint64(p.Line))
	e.Err = err
	return e
}

// ours is the definition's name of a step: an import puts step- before an id
// that is reserved here.
func ours(def *mission.Definition, id string) string {
	for _, name := range []string{id, "step-" + id} {
		if _, ok, err := def.Position(name); ok && err == nil {
			return name
		}
	}
	return id
}

// takeInputs takes the inputs that the definition asks for.
func (a *adoption) takeInputs(def *mission.Definition, given map[string]string) {
	asked := map[string]bool{cursor.OwnerInput: true}
	for _, step := range def.Steps {
		for _, in := range step.Inputs {
			asked[in.Key] = true
		}
	}
	for _, key := range sortedKeys(a.Inputs) {
		name := key
		if !asked[name] {
			name = strings.ReplaceAll(key, "-", "_")
		}
		if _, set := given[name]; asked[name] && !set {
			a.inputs[name] = a.Inputs[key]
		} else if key != "mission_slug" { // the Python program's own
			a.leftOut = append(a.leftOut, "the input "+quote(key))
		}
	}
}

// takeAnswers keeps who answered.
func (a *adoption) takeAnswers(def *mission.Definition) {
	for _, id := range sortedKeys(a.Answers) {
		kind, name, _ := strings.Cut(id, ":")
		as := cursor.InputID(strings.ReplaceAll(name, "-", "_"))
		if kind == "audit" {
			name = ours(def, name)
			as = kind + ":" + name
			if !slices.Contains(a.took.Completed, name) {
				a.leftOut = append(a.leftOut, "the answer to "+id)
				continue
			}
		}
		a.took.Answers[as] = cursor.AdoptedAnswer{Value: a.Answers[id].Value, By: a.Answers[id].By}
	}
}

// into puts it into a start.
func (a *adoption) into(first *cursor.Start) {
	if a == nil {
		return
	}
	inputs := maps.Clone(a.inputs)
	maps.Copy(inputs, first.Inputs)
	first.Inputs, first.Adopted = inputs, &a.took
}

// say warns of what was taken over and what was not.
func (a *adoption) say(r *reading) {
	if a == nil {
		return
	}
	text := "took over the run " + a.ID + " of the Python program: completed " + allOf(a.took.Completed) + "; inputs " + allOf(sortedKeys(a.inputs))
	if a.Issued != "" && !slices.Contains(a.Completed, a.Issued) {
		text += "; " + a.Issued + ", handed out there, is handed out anew"
	}
	r.warn("adopted", text)
	if a.Blocked != "" {
		a.leftOut = append(a.leftOut, "that it stood still ("+a.Blocked+")")
	}
	if len(a.leftOut) > 0 {
		r.warn("adopted_without", "not taken over: "+strings.Join(a.leftOut, ", "))
	}
}

func allOf(items []string) string {
	if len(items) == 0 {
		return "none"
	}
	return strings.Join(items, ", ")
}

// unreachable says what to do about a run that this definition could not have come
// to.
func unreachable(q StartRequest, err error) error {
	var refusal *cursor.Refusal
	if !q.Adopt || !errors.As(err, &refusal) || refusal.Code != cursor.Usage || len(refusal.Options) > 0 {
		return err
	}
	e := fail(CodeUsage, "mend what is named, or start without --adopt", "%s", refusal.Message)
	e.Err = err
	return e
}
