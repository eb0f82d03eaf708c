package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
)

// Load reads the configuration of the project at root. It opens that one file:
// definitions are left to LoadMission and LoadLoop. That the folder of the missions
// does not lead out of the project is looked at too, and where the state root lies.
//
// Without the file the error is a *NotFoundError. If anything in it is wrong,
// the error is an *InvalidError and the Config holds what could be read.
func Load(root string) (*Config, error) {
	cfg, err := readConfig(root)
	if err == nil {
		err = cfg.checkFolders()
	}
	return cfg, err
}

// readConfig is Load without the look at the folders.
func readConfig(root string) (*Config, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("project root: %w", err)
	}
	cfg := &Config{Root: root, File: filepath.Join(root, FileName)}
	data, err := readFile(cfg.File, maxConfig)
	var not *readonly.NotRegularError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, projectNotFound(root)
	case errors.As(err, new(*readonly.TooLargeError)):
		return cfg, wholeFile("is larger than " + sizeText(maxConfig) + ": move missions to files of their own")
	case errors.As(err, &not):
		return cfg, wholeFile(not.Error() + ": put the file itself there")
	case err != nil:
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return cfg, cfg.decode(data)
}

// wholeFile says what is wrong with the configuration as a file: nothing in it was read.
func wholeFile(why string) error {
	return &InvalidError{Problems: []Problem{{File: FileName, Message: why}}}
}

// checkFolders wants the folder of the missions inside the project, by its links
// too, and the state root nowhere else in it.
func (c *Config) checkFolders() error {
	if err := c.CheckInside(c.SpecsDir()); err != nil {
		return c.invalidKey("runtime.specs_dir", err.Error())
	}
	if why := c.findState(); why != "" {
		return c.invalidKey("runtime.dir", why)
	}
	return nil
}

func (c *Config) invalidKey(key, why string) error {
	return &InvalidError{Problems: []Problem{{File: FileName, Line: c.lineOf(key), Path: key, Message: why}}}
}

func projectNotFound(dir string) error {
	return &NotFoundError{What: "project", Name: filepath.Join(dir, FileName),
		Fix: "make one in the project's root folder, or name that folder with --root"}
}

// decode reads the whole file into cfg.
func (c *Config) decode(data []byte) error {
	src, values, err := parse(FileName, data)
	if err != nil {
		return err
	}
	r := &reading{file: FileName}
	t := r.root(values)
	c.schema(t)
	c.project(t.table("project"))
	c.runtime(t.table("runtime"))
	c.packages(t.table("work_packages"))
	c.plugins(t)
	c.commands(t)
	c.missions(t)
	c.loops(t)
	t.done()
	if len(r.problems) == 0 && len(r.unknown) == 0 {
		return nil
	}
	c.checkInline(r)
	return src.invalid(r)
}

func (c *Config) schema(t *table) {
	switch n, ok := t.number("schema"); {
	case !t.has("schema"):
		t.wrong("schema", "is missing: the file's first line is schema = 1")
	case ok && n > 1:
		t.wrong("schema", "%d is newer than this version, which reads 1", n)
	case ok && n < 1:
		t.wrong("schema", "must be 1, not %d", n)
	}
}

func (c *Config) project(t *table) {
	c.Name = filepath.Base(c.Root)
	if t == nil {
		return
	}
	if name := t.text("name"); name != "" {
		c.Name = name
	} else if t.has("name") {
		t.wrong("name", "is empty")
	}
	t.done()
}

func (c *Config) runtime(t *table) {
	c.Runtime = Runtime{Dir: ".kittify/step-runner", SpecsDir: "kitty-specs", LockTimeout: 10 * time.Second, Holder: HolderOnly}
	if t == nil {
		return
	}
	c.Runtime.Dir = t.stateDir("dir", c.Runtime.Dir, filepath.ToSlash(c.Root))
	c.Runtime.SpecsDir = t.pathBelow("specs_dir", c.Runtime.SpecsDir)
	c.Runtime.LockTimeout = t.duration("lock_timeout", time.Millisecond, time.Hour, c.Runtime.LockTimeout)
	c.Runtime.RequireToken = t.flag("require_token")
	c.Runtime.Holder = HolderRule(t.oneOf("holder", string(HolderOnly), string(HolderAny)))
	if overlap(".git", c.Runtime.SpecsDir) {
		t.wrong("specs_dir", "%q lies in git's own folder", c.Runtime.SpecsDir)
	}
	if overlap(c.Runtime.Dir, c.Runtime.SpecsDir) {
		t.wrong("dir", "%q and specs_dir %q lie in one another: the state would be taken for a mission, or missions for state", c.Runtime.Dir, c.Runtime.SpecsDir)
	}
	t.done()
}

func (c *Config) packages(t *table) {
	c.Source = SourceAuto
	if t == nil {
		return
	}
	c.Source = Source(t.oneOf("source", string(SourceAuto), string(SourceJournal), string(SourceKittySpecs)))
	t.done()
}

func (c *Config) missions(t *table) {
	c.Missions = map[string]Mission{}
	for _, one := range t.named("missions") {
		m := Mission{Type: one.key}
		if one.has("file") {
			m.File = one.pathBelow("file", "")
			one.onlyFile()
		} else {
			m.inline = readDefinition(one, one.key, true)
		}
		c.Missions[m.Type] = m
	}
}

// onlyFile reports what stands beside file.
func (t *table) onlyFile() {
	for _, key := range []string{"key", "name", "version", "mission", "steps", "audits"} {
		if _, ok := t.get(key); ok {
			t.wrong(key, "has no effect beside file: the definition is in %s", t.text("file"))
		}
	}
	t.done()
}
