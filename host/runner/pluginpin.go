package runner

import (
	"context"
	"os"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

// PluginPin is a pin that was written, or stood already.
type PluginPin struct {
	Schema  int     `json:"schema"`
	Name    string  `json:"name"`
	File    string  `json:"file"` // the module, absolute
	Size    int     `json:"size"` // bytes
	SHA256  string  `json:"sha256"`
	Before  *string `json:"sha256_before"`
	Changed bool    `json:"changed"`
	Config  string  `json:"config"` // the configuration, absolute
	Line    int     `json:"line"`   // of the pin in it
	Cached  bool    `json:"cached"`
}

// Pin looks at the module of a configured plugin, compiles it into the cache and
// writes its digest into the configuration, in which every other byte stays as it
// was. A module that is no plugin is refused, and nothing is written. When Pin
// returns without error, the pin is durable; of two at the same moment one may be
// lost to the other, as with any two editors of one file.
func (k *Kit) Pin(ctx context.Context, name string) (PluginPin, error) {
	conf, err := k.configured(name)
	if err != nil {
		return PluginPin{}, err
	}
	m, err := k.read(conf)
	if err != nil {
		return PluginPin{}, err
	}
	if err := sandbox.Check(m.wasm); err != nil {
		return PluginPin{}, badPlugin(name, err)
	}
	if err := k.host.Prepare(ctx, m.sandboxed()); err != nil {
		return PluginPin{}, badPlugin(name, err)
	}
	out := PluginPin{Schema: Schema, Name: name, File: m.file, Size: len(m.wasm), SHA256: m.sum(), Before: text(conf.SHA256)}
	cfg, err := k.config()
	if err != nil {
		return out, err
	}
	out.Config, out.Cached = cfg.File, k.host.Cached(out.SHA256)
	out.Changed, out.Line, err = writePin(cfg.File, name, out.SHA256)
	return out, classify(err)
}

// writePin reads the configuration anew, as compiling took its time.
func writePin(file, name, sum string) (changed bool, line int, err error) {
	before, err := os.ReadFile(file)
	if err != nil {
		return false, 0, err
	}
	after, line, err := config.WithPin(before, name, sum)
	if err != nil || string(after) == string(before) {
		return false, line, err
	}
	return true, line, replaceConfig(file, after)
}
