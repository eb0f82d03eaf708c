package lanes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
)

// metaLimit is far above any meta.json that was seen (a few hundred bytes).
const metaLimit = 1 << 20

// Mission is what a mission's folder says about itself.
type Mission struct {
	Slug     string // the folder's name; the mission's one identity
	Dir      string // absolute
	Number   string // from the folder's name, without zeros in front; "" where it has none
	ID       string // ULID; "" where meta.json has none
	Alias    string // the slug that meta.json gives, where it is not the folder's name
	Type     string // mission_type; "" where meta.json has none
	Topology string
	HasMeta  bool // meta.json is there
}

// Load reads the mission in the folder dir/slug. A folder that is not there is
// fs.ErrNotExist; a folder without meta.json is a mission without a type; a
// damaged meta.json is a *FileError, as is a link in the folder's place: by one
// that leads out of the project its lane log would be written there, and by one
// that leads to another mission two runs would move the packages of one.
func Load(dir, slug string) (Mission, error) {
	folder, err := filepath.Abs(filepath.Join(dir, slug))
	if err != nil {
		return Mission{}, fmt.Errorf("find the mission %s: %w", slug, err)
	}
	root, err := enter(folder)
	if err != nil {
		return Mission{}, err
	}
	defer root.Close()
	m := Mission{Slug: slug, Dir: folder, Number: numberOf(slug)}
	data, _, err := readonly.File(root, MetaFile, metaLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	path := filepath.Join(folder, MetaFile)
	if err != nil {
		return Mission{}, &FileError{Path: path, Why: err.Error(), Err: err}
	}
	m.HasMeta = true
	if err := m.decode(path, data); err != nil {
		return Mission{}, err
	}
	return m, nil
}

// enter opens a mission's folder, which is no link.
func enter(folder string) (*os.Root, error) {
	dir, slug := filepath.Split(folder)
	all, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the mission %s: %w", slug, err)
	}
	defer all.Close()
	root, err := readonly.Enter(all, slug)
	if not := new(readonly.NotStraightError); errors.As(err, &not) {
		return nil, &FileError{Path: folder, Why: "this mission cannot be used: " + err.Error(), Err: err,
			Fix: "move the mission's folder here, or name the mission where its folder is"}
	}
	if err != nil {
		return nil, fmt.Errorf("open the mission %s: %w", slug, err)
	}
	return root, nil
}

// metaJSON takes every value as it comes: existing projects have numbers where
// others have text, and fields that we do not know.
type metaJSON struct {
	ID       loose `json:"mission_id"`
	Slug     loose `json:"mission_slug"`
	Short    loose `json:"slug"`
	Type     loose `json:"mission_type"`
	OldType  loose `json:"mission"`
	Topology loose `json:"topology"`
}

func (m *Mission) decode(path string, data []byte) error {
	data = trimMark(data)
	var meta metaJSON
	if err := json.Unmarshal(data, &meta); err != nil {
		return &FileError{Path: path, Line: lineOf(data, err), Why: "not a JSON object: " + err.Error(),
			Fix: "mend the file by hand", Err: err}
	}
	if first := bytes.TrimLeft(data, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		return &FileError{Path: path, Line: 1, Why: "not a JSON object", Fix: "mend the file by hand"}
	}
	m.ID = strings.ToUpper(string(meta.ID))
	m.Type = firstOf(meta.Type, meta.OldType)
	m.Topology = string(meta.Topology)
	if alias := firstOf(meta.Slug, meta.Short); alias != m.Slug {
		m.Alias = alias
	}
	return nil
}

// loose is text, a number as it is written, or empty for anything else.
type loose string

func (l *loose) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*l = loose(strings.TrimSpace(text))
		return nil
	}
	var number json.Number
	if json.Unmarshal(data, &number) == nil {
		*l = loose(number)
	}
	return nil
}

func firstOf(values ...loose) string {
	for _, v := range values {
		if v != "" {
			return string(v)
		}
	}
	return ""
}

// CheckTopology refuses a mission whose lane log lies in a worktree of its own:
// its folder here may have no log or an old one, so neither source would tell the
// truth. project is the project's root. The error is a *CoordError.
func (m Mission) CheckTopology(project string) error {
	if m.Topology != "coord" && m.Topology != "lanes_with_coord" {
		return nil
	}
	name := m.Slug
	if short := shortID(m.ID); short != "" && !strings.HasSuffix(name, "-"+short) {
		name += "-" + short
	}
	return &CoordError{Slug: m.Slug, Topology: m.Topology, Worktree: filepath.Join(project, worktrees, name+"-coord")}
}

func shortID(id string) string {
	if len(id) < minPrefix {
		return ""
	}
	return id[:minPrefix]
}

// numberOf is the number in front of a folder's name: "034-pay" has "34".
func numberOf(slug string) string {
	digits, _, found := strings.Cut(slug, "-")
	if !found || !allDigits(digits) {
		return ""
	}
	return trimZeros(digits)
}

func trimZeros(digits string) string {
	if trimmed := strings.TrimLeft(digits, "0"); trimmed != "" {
		return trimmed
	}
	return "0"
}

func allDigits(text string) bool {
	for _, r := range text {
		if r < '0' || r > '9' {
			return false
		}
	}
	return text != ""
}
