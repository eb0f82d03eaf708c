package runner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/plugins/starter"
)

// PluginNew is a plugin that was begun.
type PluginNew struct {
	Schema  int      `json:"schema"`
	Name    string   `json:"name"`
	Lang    string   `json:"lang"`
	Dir     string   `json:"dir"`     // absolute
	Created []string `json:"created"` // files, relative to dir
	Tools   string   `json:"tools"`   // what must be installed to build it
	Build   *string  `json:"build"`   // the command, in dir; null where the script runs as it is
	Flags   []string `json:"flags"`   // what plugin check and plugin test need beside the module
	Module  string   `json:"module"`  // what it makes, or the engine, absolute
}

// NewPlugin makes a folder of the plugin's name in a folder ("": the working one)
// with a guard that builds. A folder that is there already is refused, and one
// that could not be filled is taken away again.
func NewPlugin(in, lang, name string) (PluginNew, error) {
	if err := mission.CheckName(name); err != nil {
		return PluginNew{}, fail(CodeUsage, "name the plugin with letters, digits, -, _ and dots, beginning with a letter or digit", "%q is no plugin's name: %v", name, err)
	}
	files := starter.Files(lang, name)
	if files == nil {
		e := fail(CodeUsage, "use --lang "+strings.Join(starter.Languages(), " or --lang "), "there is no starter for the language %q", lang)
		e.Candidates = starter.Languages()
		return PluginNew{}, e
	}
	dir, err := filepath.Abs(filepath.Join(in, name))
	if err != nil {
		return PluginNew{}, classify(err)
	}
	switch err := os.Mkdir(dir, 0o755); {
	case errors.Is(err, fs.ErrExist):
		return PluginNew{}, placed(fail(CodeUsage, "choose another name, or take the folder away", "%s is there already", dir), dir, 0)
	case err != nil:
		return PluginNew{}, classify(err)
	}
	tools, build := starter.Build(lang, name)
	out := PluginNew{Schema: Schema, Name: name, Lang: lang, Dir: dir, Tools: tools, Build: text(build), Flags: []string{}, Module: filepath.Join(dir, name+".wasm")}
	if engine, own := starter.Script(lang); engine != "" {
		out.Module, out.Flags = filepath.Join(dir, engine), []string{"--dir", own}
	}
	if out.Created, err = unpack(dir, files); err != nil {
		return PluginNew{}, classify(errors.Join(err, os.RemoveAll(dir)))
	}
	return out, nil
}

func unpack(dir string, files []starter.File) ([]string, error) {
	var made []string
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(f.Path, ".sh") {
			mode = 0o755
		}
		if err := os.WriteFile(path, f.Data, mode); err != nil {
			return nil, err
		}
		made = append(made, f.Path)
	}
	return made, nil
}
