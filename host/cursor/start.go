package cursor

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Start is the first transition of a run. With a holder the first step is
// handed out in the same commit, unless it is a package whose lane lives outside
// of the run.
type Start struct {
	Who        string
	Run        string
	Mission    string
	Type       string
	Definition string
	Index      string
	Plugins    map[string]string
	Grants     string
	Commands   string
	Seed       string
	Inputs     map[string]string
	Def        mission.View // the definition that the run freezes
	By         Holder
	Tokens     Tokens
	Adopted    *Adoption // a run of the Python program that this one takes over; nil: none
}

// Kind implements the commit core's Transition.
func (t Start) Kind() string { return "start" }

// Actor implements the commit core's Transition.
func (t Start) Actor() string { return t.Who }

// Decide opens the run and enters its first step.
func (t Start) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if s.Phase != "" {
		return nil, refuse(RunExists, "the run %s was started already", s.Run)
	}
	for _, key := range slices.Sorted(maps.Keys(t.Inputs)) {
		err := checkInput(f.Def, key, t.Inputs[key])
		if refusal := new(Refusal); errors.As(err, &refusal) && refusal.Code == InvalidAnswer {
			refusal.Message = "the input " + key + ": " + refusal.Message
		}
		if err != nil {
			return nil, err
		}
	}
	d := newDraft(s, f, now, t, t.Tokens)
	d.emit(Started{
		Run: t.Run, Mission: t.Mission, Type: t.Type, Definition: t.Definition,
		Index: t.Index, Plugins: t.Plugins, Grants: t.Grants, Commands: t.Commands, Seed: t.Seed, Adopted: t.from(),
	})
	if err := t.inputs(d); err != nil {
		return nil, err
	}
	if err := t.adopt(d); err != nil {
		return nil, err
	}
	if err := d.enter(); err != nil {
		return nil, err
	}
	if outside, err := t.outside(d); outside || err != nil {
		return d.done(err)
	}
	return d.done(d.handOut(t.By))
}

// outside tells whether the first work would be a package whose lane lives
// outside of the run. A start does not hold that log's lock: who starts the run
// asks for the package next.
func (t Start) outside(d *draft) (bool, error) {
	if d.s.Cursor.Pos < 0 || d.s.SourceOf(d.f) != KittySpecs {
		return false, nil
	}
	step, err := d.f.Def.Step(d.s.Cursor.Pos)
	return step.Packages != nil, err
}

// checkInput wants an input that some step names, and a value that it allows.
func checkInput(def mission.View, key, value string) error {
	in, keys, err := declared(def, key)
	if err != nil {
		return err
	}
	if in != nil {
		return allowed(in.Options, value)
	}
	if key == OwnerInput { // may be set without a step that asks for it
		return allowed(nil, value)
	}
	refusal := refuse(Usage, "no step has an input %q", key)
	refusal.Options = keys
	return refusal
}

// declared is the input of the first step that names the key; nil where none does,
// with all keys that are named.
func declared(def mission.View, key string) (in *mission.Input, keys []string, err error) {
	for pos := range def.Len() {
		step, err := def.Step(pos)
		if err != nil {
			return nil, nil, err
		}
		for i := range step.Inputs {
			if step.Inputs[i].Key == key {
				return &step.Inputs[i], nil, nil
			}
			keys = append(keys, step.Inputs[i].Key)
		}
	}
	return nil, keys, nil
}

// Settable says, by a *Refusal, why an executor may not give an input this value: it
// names who may approve, a person answered otherwise, or it is none of the options.
// A key that no step names is the executor's own.
func (s State) Settable(def mission.View, key, value string) error {
	if key == OwnerInput {
		return refuse(Usage, "%s says who answers audits, which is a person's to say", key)
	}
	if before, answered := s.Cursor.Answers[InputID(key)]; answered && before.Value != value {
		return refuse(DecisionConflict, "%s was answered with %q by %s", key, before.Value, before.By)
	}
	in, _, err := declared(def, key)
	if err != nil || in == nil {
		return err
	}
	return allowed(in.Options, value)
}

// allowed wants a value that is not empty and, where there are options, one of
// them.
func allowed(options []string, value string) error {
	switch {
	case len(options) > 0 && !slices.Contains(options, value):
		refusal := refuse(InvalidAnswer, "%q is none of the options", value)
		refusal.Options = options
		return refusal
	case strings.TrimSpace(value) == "":
		return refuse(InvalidAnswer, "an empty answer is none")
	case strings.Contains(value, "\x00"):
		return refuse(InvalidAnswer, "a text with a NUL byte is no answer")
	}
	return nil
}

// inputs gives all inputs with a default, and those that were given, their
// values: what a step says of a default holds from the start.
func (t Start) inputs(d *draft) error {
	all, err := defaults(d.f.Def)
	if err != nil {
		return err
	}
	maps.Copy(all, t.Inputs)
	if len(all) > 0 {
		d.emit(InputsSet{Inputs: all})
	}
	return nil
}

// defaults are the values of all inputs that have one without being asked for.
func defaults(def mission.View) (map[string]string, error) {
	all := map[string]string{}
	for pos := range def.Len() {
		step, err := def.Step(pos)
		if err != nil {
			return nil, err
		}
		for _, in := range step.Inputs {
			if in.Default != nil {
				all[in.Key] = *in.Default
			}
		}
	}
	return all, nil
}
