package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"
	"unicode/utf8"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/host/mission"
)

// Frozen is what a run keeps of a definition, and where it came from.
type Frozen struct {
	Definition  []byte // mission.Definition.Canonical
	Digest      string // SHA-256 of Definition, lower-case hexadecimal
	Index       []byte // mission.EncodeIndex
	IndexDigest string // SHA-256 of Index
	Files       []File // the definition's file first, then the prompts'
	ReadAt      time.Time
}

// File is a file as it was when it was read; see Unchanged.
type File struct {
	Path    string    `json:"path"` // relative to the project root, with slashes
	Size    int64     `json:"size"`
	ModTime time.Time `json:"mod_time"`
}

// LoadMission reads a mission type with its prompts and checks it. The error
// is a *NotFoundError for a type that the configuration does not name, or an
// *InvalidError with all that is wrong with the definition.
func LoadMission(cfg *Config, missionType string) (*mission.Definition, Frozen, error) {
	m, err := cfg.mission(missionType)
	if err != nil {
		return nil, Frozen{}, err
	}
	root, err := os.OpenRoot(cfg.Root)
	if err != nil {
		return nil, Frozen{}, fmt.Errorf("project root: %w", err)
	}
	defer root.Close()
	l := &loading{cfg: cfg, root: root, mission: m}
	readAt := time.Now()
	def, err := l.load()
	if err = cfg.withFaults("missions", missionType, err); err != nil {
		return nil, Frozen{}, err
	}
	frozen := freeze(def)
	frozen.Files, frozen.ReadAt = l.files, readAt
	return def, frozen, nil
}

func freeze(def *mission.Definition) Frozen {
	frozen := Frozen{Definition: def.Canonical(), Index: mission.EncodeIndex(def)}
	frozen.Digest, frozen.IndexDigest = hexDigest(frozen.Definition), hexDigest(frozen.Index)
	return frozen
}

func hexDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// loading is one mission type being read. All files are opened through the
// project root's handle, so none outside it can be named, also not by a link.
type loading struct {
	cfg     *Config
	root    *os.Root
	mission Mission
	files   []File
}

func (l *loading) load() (*mission.Definition, error) {
	name := FileName
	if l.mission.File != "" {
		name = l.mission.File
	}
	data, err := l.read(name, maxDefinition)
	if err != nil {
		return nil, l.unreadable(err)
	}
	src, values, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	r := &reading{file: name}
	t, base := r.root(values), ""
	if l.mission.File == "" {
		t = t.inline("missions", l.mission.Type)
		base = t.path() + "."
	}
	d := readDefinition(t, l.mission.Type, l.mission.File == "")
	l.prompts(r, d)
	checkDefinition(r, l.cfg, &d.def, base)
	if len(r.problems) > 0 || len(r.unknown) > 0 {
		return nil, src.invalid(r)
	}
	return &d.def, nil
}

// inline goes down to [missions.TYPE] or [loops.NAME]. The file is read again, as
// it may have changed since Load; then what stands there is looked at anew.
func (t *table) inline(of, name string) *table {
	for _, key := range []string{of, name} {
		if below := t.table(key); below != nil {
			t = below
			continue
		}
		t = &table{read: t.read, up: t, key: key, index: -1}
	}
	return t
}

func (l *loading) unreadable(err error) error {
	line := l.cfg.lineOf("missions." + quoted(l.mission.Type) + ".file")
	problem := Problem{File: FileName, Line: line, Path: "missions." + quoted(l.mission.Type) + ".file", Message: fileTrouble(l.mission.File, err)}
	return &InvalidError{Problems: []Problem{problem}}
}

// lineOf looks a key's line up, for problems found after Load.
func (c *Config) lineOf(key string) int {
	data, err := readFile(c.File, maxConfig)
	if err != nil {
		return 0
	}
	return locate(plainText(data)).of(key)
}

func fileTrouble(name string, err error) string {
	var in *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("%q does not exist", name)
	case errors.As(err, &in):
		return fmt.Sprintf("%q cannot be read: %v", name, in.Err)
	}
	return fmt.Sprintf("cannot be read: %v", err)
}

// read reads a file below the project root and remembers it as seen.
func (l *loading) read(name string, limit int64) ([]byte, error) {
	data, info, err := readonly.File(l.root, name, limit)
	if err != nil {
		return nil, err
	}
	l.files = append(l.files, File{Path: name, Size: info.Size(), ModTime: info.ModTime()})
	return data, nil
}

// prompts reads the prompt files, each once.
func (l *loading) prompts(r *reading, d *draft) {
	texts := map[string]string{}
	for _, file := range d.prompts {
		name := path.Join(path.Dir(r.file), file.path)
		why := notBelow(name)
		if file.path == "" || path.IsAbs(file.path) {
			why = "is empty or absolute"
		}
		if why != "" {
			r.add(file.key, "", "%q %s; a path was expected that is relative to %s and below the project root", file.path, why, r.file)
			d.def.Steps[file.step].Prompt = nil
			continue
		}
		text, ok := texts[name]
		if !ok {
			if text, ok = l.promptText(r, file.key, name); ok {
				texts[name] = text
			}
		}
		if !ok {
			d.def.Steps[file.step].Prompt = nil // reported; an empty one would be reported again
			continue
		}
		prompt := d.def.Steps[file.step].Prompt
		prompt.Text, prompt.Path = text, name
	}
}

func (l *loading) promptText(r *reading, key, name string) (text string, ok bool) {
	data, err := l.read(name, maxPromptFile)
	if err != nil {
		r.add(key, "", "%s", fileTrouble(name, err))
		return "", false
	}
	if !utf8.Valid(data) {
		r.add(key, "", "%q is not UTF-8", name)
		return "", false
	}
	return plainText(data), true
}
