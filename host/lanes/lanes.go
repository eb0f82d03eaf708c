// Package lanes reads what a mission's folder says: its facts (meta.json), its
// work packages (tasks/WP*.md), the lanes that an existing project keeps for
// them (status.events.jsonl), and the worktrees they belong to (lanes.json). It
// promises to write nothing and to take no lock. Its readers know by size, time,
// identity and digest what has not changed since they read it last, so that a caller
// can read again under a lock of its own at little cost. Damage is an error that names
// file and line, never an empty answer.
package lanes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Source says where a mission's lanes lie.
type Source string

// The two sources, and the setting that chooses by what the folder holds.
const (
	Auto       Source = "auto"
	Journal    Source = "journal"     // in the run's own journal
	KittySpecs Source = "kitty-specs" // in status.events.jsonl in the mission's folder
)

// Names of what lies in a mission's folder.
const (
	MetaFile       = "meta.json"
	LogFile        = "status.events.jsonl"
	WorkspacesFile = "lanes.json"
	TasksFolder    = "tasks"
)

// Choose settles auto: kitty-specs where the mission's folder has a lane log,
// else journal. A folder that is not there yet has none. An unknown setting is
// an error.
func Choose(setting Source, dir string) (Source, error) {
	switch setting {
	case Journal, KittySpecs:
		return setting, nil
	case Auto, "":
	default:
		return "", fmt.Errorf("source %q of work packages is unknown: use %q, %q or %q", setting, Auto, Journal, KittySpecs)
	}
	_, err := os.Lstat(filepath.Join(dir, LogFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Journal, nil
	}
	if err != nil {
		return "", fmt.Errorf("choose the source of the lanes: %w", err)
	}
	return KittySpecs, nil
}

// Warning is something that a caller should tell, and that stops nothing.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The codes of warnings.
const (
	WarnTornLine    = "lane_log_torn_line"
	WarnSameEventID = "lane_log_same_event_id"
)
