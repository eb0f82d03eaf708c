package runner

import (
	"github.com/spec-kitty/step-runner/host/config"
)

// The states of a configured plugin's pin.
const (
	PinFits       = "pinned"     // the file, and the folder, have the pinned digests
	PinDiffers    = "differs"    // one of them has other bytes: the plugin is not run
	PinMissing    = "unpinned"   // the configuration has no digest of one of them
	PinUnreadable = "unreadable" // one of them cannot be read
)

// PluginList is what the project configures.
type PluginList struct {
	Schema  int         `json:"schema"`
	Plugins []PluginRow `json:"plugins"` // by name
}

// PluginRow is one configured plugin.
type PluginRow struct {
	Name    string        `json:"name"`
	File    string        `json:"file"` // absolute
	State   string        `json:"state"`
	Pinned  *string       `json:"sha256_pinned"`
	Found   *string       `json:"sha256_found"`
	Size    *int          `json:"size"`    // bytes
	Problem *string       `json:"problem"` // why it cannot be read
	Cached  bool          `json:"cached"`  // its machine code is in this user's cache
	Dir     *PluginFolder `json:"dir"`     // null: it has no folder of its own
	Grants  PluginGrants  `json:"grants"`
}

// PluginGrants is what the configuration grants: all of it.
type PluginGrants struct {
	Args      []string `json:"args"`
	Read      []string `json:"read"`
	Write     []string `json:"write"`
	Env       []string `json:"env"`    // names
	Memory    int64    `json:"memory"` // bytes
	TimeoutMS int64    `json:"timeout_ms"`
	Output    int64    `json:"output"` // bytes
	Log       int64    `json:"log"`    // bytes
	MaxRounds int      `json:"max_rounds"`
}

// List lists the configured plugins. It runs none and writes nothing.
func (k *Kit) List() (PluginList, error) {
	cfg, err := k.config()
	if err != nil {
		return PluginList{}, err
	}
	out := PluginList{Schema: Schema, Plugins: []PluginRow{}}
	for _, name := range cfg.PluginNames() {
		out.Plugins = append(out.Plugins, k.row(cfg, cfg.Plugins[name]))
	}
	return out, nil
}

func (k *Kit) row(cfg *config.Config, c config.Plugin) PluginRow {
	row := PluginRow{Name: c.Name, File: cfg.WasmPath(c), Pinned: text(c.SHA256), Dir: folderOf(cfg, c), Grants: grantsOf(c)}
	wasm, err := readInside(cfg, row.File)
	if err != nil {
		row.State, row.Problem = PinUnreadable, text(err.Error())
		return row
	}
	sum, size := hexSum(wasm), len(wasm)
	row.Found, row.Size, row.Cached = &sum, &size, k.host.Cached(sum)
	row.State = pinState(c, sum, row.Dir)
	return row
}

// pinState holds a module's digest and its folder against the configuration.
func pinState(c config.Plugin, sum string, dir *PluginFolder) string {
	switch {
	case dir != nil && dir.Problem != nil:
		return PinUnreadable
	case c.SHA256 == "" || dir != nil && c.DirSum == "":
		return PinMissing
	case c.SHA256 != sum || !dir.fits():
		return PinDiffers
	}
	return PinFits
}

func grantsOf(c config.Plugin) PluginGrants {
	return PluginGrants{
		Args: listed(c.Args), Read: listed(c.Read), Write: listed(c.Write), Env: listed(sortedKeys(c.Env)),
		Memory: c.Memory, TimeoutMS: c.Timeout.Milliseconds(), Output: c.Output, Log: c.Log, MaxRounds: c.MaxRounds,
	}
}
