package config

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/mission"
)

// Loop is one [loops.NAME]: a definition in a file of its own, or inline.
type Loop struct {
	Name string
	File string // as written: below the project root, with slashes; empty for an inline one

	inline *loopDraft
}

// LoopNames are the names of the loops, sorted.
func (c *Config) LoopNames() []string { return sortedKeys(c.Loops) }

// loop finds a loop's definition.
func (c *Config) loop(name string) (Loop, error) {
	l, ok := c.Loops[name]
	if !ok {
		known := c.LoopNames()
		return l, &NotFoundError{What: "loop", Name: name, Known: known, Near: mission.Nearest(name, known),
			Fix: "define it in " + FileName + ", under [loops." + quoted(name) + "]"}
	}
	return l, nil
}

// LoopFile is the absolute path of the file that a loop is defined in: its own,
// or the configuration for an inline one.
func (c *Config) LoopFile(name string) (string, error) {
	l, err := c.loop(name)
	switch {
	case err != nil:
		return "", err
	case l.inline != nil:
		return c.File, nil
	}
	return c.below(l.File), nil
}

// loops reads [loops]. What stands beside file has no effect.
func (c *Config) loops(t *table) {
	c.Loops = map[string]Loop{}
	for _, one := range t.named("loops") {
		l := Loop{Name: one.key}
		if one.has("file") {
			l.File = one.pathBelow("file", "")
			for _, key := range loopKeys() {
				if _, ok := one.get(key); ok {
					one.wrong(key, "has no effect beside file: the definition is in %s", one.text("file"))
				}
			}
			one.done()
		} else {
			l.inline = readLoop(one, one.key, true)
		}
		c.Loops[l.Name] = l
	}
}

func loopKeys() []string {
	return []string{"schema", "description", "gate", "work", "verify", "goal", "approval", "limits", "worktree", "schedule", "lease", "notify"}
}

// LoadLoop reads a loop's definition with its prompt and checks it. The error is
// a *NotFoundError for a loop that the configuration does not name, or an
// *InvalidError with all that is wrong with the definition.
func LoadLoop(cfg *Config, name string) (*loop.Definition, error) {
	found, err := cfg.loop(name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(cfg.Root)
	if err != nil {
		return nil, fmt.Errorf("project root: %w", err)
	}
	defer root.Close()
	l := &loading{cfg: cfg, root: root}
	def, err := l.loop(found)
	if err = cfg.withFaults("loops", name, err); err != nil {
		return nil, err
	}
	return def, nil
}

func (l *loading) loop(found Loop) (*loop.Definition, error) {
	name := FileName
	if found.File != "" {
		name = found.File
	}
	data, err := l.read(name, maxDefinition)
	if err != nil {
		key := "loops." + quoted(found.Name) + ".file"
		return nil, &InvalidError{Problems: []Problem{{File: FileName, Line: l.cfg.lineOf(key), Path: key, Message: fileTrouble(name, err)}}}
	}
	src, values, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	r := &reading{file: name}
	t, base := r.root(values), ""
	if found.File == "" {
		t = t.inline("loops", found.Name)
		base = t.path() + "."
	}
	d := readLoop(t, found.Name, found.File == "")
	l.loopPrompt(r, d)
	d.check(r, l.cfg, base)
	if len(r.problems) > 0 || len(r.unknown) > 0 {
		return nil, src.invalid(r)
	}
	return &d.def, nil
}

// loopPrompt reads the work's prompt file.
func (l *loading) loopPrompt(r *reading, d *loopDraft) {
	if d.promptKey == "" {
		return
	}
	name := path.Join(path.Dir(r.file), d.def.Work.PromptFile)
	why := notBelow(name)
	if file := d.def.Work.PromptFile; file == "" || path.IsAbs(file) {
		why = "is empty or absolute"
	}
	if why != "" {
		r.add(d.promptKey, "", "%q %s; a path was expected that is relative to %s and below the project root", d.def.Work.PromptFile, why, r.file)
		return
	}
	d.def.Work.PromptFile = name
	d.def.Work.Prompt, _ = l.promptText(r, d.promptKey, name)
}

// check adds what is wrong with the values, and with the plugins and commands
// that the definition names. base stands before the paths of an inline one.
func (d *loopDraft) check(r *reading, cfg *Config, base string) {
	r.explainUnknown()
	r.read = len(r.problems)
	for _, p := range d.def.Check() {
		r.unlessKnown(Problem{File: r.file, Path: base + p.Path, Message: p.Message})
	}
	checks := map[string]*loop.Check{"gate": d.def.Gate, "goal": d.def.Goal}
	if d.def.Verify != nil {
		checks["verify"] = &d.def.Verify.Check
	}
	for _, key := range []string{"gate", "verify", "goal"} {
		if c := checks[key]; c != nil {
			r.reference(cfg, base+key+".plugin", "plugin", c.Plugin, cfg.PluginNames(), "plugins")
			r.reference(cfg, base+key+".command", "command", c.Command, cfg.CommandNames(), "commands")
		}
	}
}

// reference adds a name that is none of those known.
func (r *reading) reference(cfg *Config, path, what, name string, known []string, table string) {
	if name == "" || slices.Contains(known, name) {
		return
	}
	r.missing(cfg, path, table, what, name, known)
}

// checkLoops adds what is wrong with all loops to what is known.
func (c *Config) checkLoops(known []Problem) ([]Problem, error) {
	for _, name := range c.LoopNames() {
		_, err := LoadLoop(c, name)
		var bad *InvalidError
		if errors.As(err, &bad) {
			known = append(known, bad.news(known)...)
		} else if err != nil {
			return known, err
		}
	}
	return known, nil
}
