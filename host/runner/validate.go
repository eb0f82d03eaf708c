package runner

import (
	"path/filepath"

	"github.com/spec-kitty/step-runner/host/config"
)

// Validation is what Validate found to be sound.
type Validation struct {
	Schema   int           `json:"schema"`
	Valid    bool          `json:"valid"`
	File     string        `json:"file"` // the configuration
	Missions []MissionType `json:"missions"`
	Warnings []Warning     `json:"warnings"` // what is sound, and can leave a run standing still
}

// WarnStandstill warns of a definition by which packages can come to lie where
// nobody is handed them.
const WarnStandstill = "standstill"

// MissionType is one definition.
type MissionType struct {
	Type    string `json:"mission_type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Steps   int    `json:"steps"`
	Path    string `json:"path"` // absolute; of the configuration for an inline one
}

// Validate reads the project at, or above, a folder ("": the working one) with
// everything that its configuration names. What is wrong anywhere is one *Error
// with all problems. It writes nothing.
func Validate(folder string) (Validation, error) {
	root, err := findRoot(folder)
	if err != nil {
		return Validation{}, classify(err)
	}
	cfg, defs, err := config.Validate(root)
	if err != nil {
		return Validation{}, classify(err)
	}
	for _, name := range cfg.PluginNames() {
		if _, _, err := readPlugin(cfg, cfg.Plugins[name]); err != nil {
			return Validation{}, classify(err)
		}
	}
	v := Validation{Schema: Schema, Valid: true, File: filepath.Join(root, config.FileName), Missions: []MissionType{}, Warnings: []Warning{}}
	for _, name := range cfg.MissionTypes() {
		path, err := cfg.DefinitionFile(name)
		if err != nil {
			return Validation{}, classify(err)
		}
		def := defs[name]
		v.Missions = append(v.Missions, MissionType{Type: name, Name: def.Name, Version: def.Version, Steps: len(def.Steps), Path: path})
		for _, at := range def.Standstills() {
			v.Warnings = append(v.Warnings, Warning{WarnStandstill, "mission type " + name + ", " + at.Path + ": " + at.Message})
		}
	}
	return v, nil
}
