package runner

import (
	"context"

	"github.com/spec-kitty/step-runner/host/bundle"
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

	Dir *PluginFolderPin `json:"dir"` // null: it has no folder of its own
}

// PluginFolderPin is the pin of a plugin's own folder.
type PluginFolderPin struct {
	Folder  string  `json:"folder"` // absolute
	Files   int     `json:"files"`
	Size    int     `json:"size"`   // bytes, packed
	SHA256  string  `json:"sha256"` // of its files, packed
	Before  *string `json:"sha256_before"`
	Changed bool    `json:"changed"`
	Line    int     `json:"line"`
}

// Pin looks at the module of a configured plugin, compiles it into the cache and
// writes its digest, and that of its own folder, into the configuration, in which
// every other byte stays as it was. A module that is no plugin is refused, and nothing is written. When Pin
// returns without error, the pin is durable. Calls that change the configuration at the
// same moment, here and in other processes, do so one after the other, and what a person
// saves meanwhile stays.
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
	out.Dir = folderPin(cfg, conf, m.own)
	return out, classify(changeConfig(ctx, cfg, func(text []byte) ([]byte, error) { return out.pinned(text, name) }))
}

func folderPin(cfg *config.Config, conf config.Plugin, own []byte) *PluginFolderPin {
	if own == nil {
		return nil
	}
	// It was packed a moment ago.
	files, _ := bundle.Unpack(own)
	return &PluginFolderPin{Folder: cfg.OwnDir(conf), Files: len(files), Size: len(own), SHA256: bundle.Sum(own), Before: text(conf.DirSum)}
}

// pinned is the configuration's text with the pins, whose lines it notes. The
// folder's goes first and may move the other's line.
func (p *PluginPin) pinned(before []byte, name string) ([]byte, error) {
	text, err := before, error(nil)
	if d := p.Dir; d != nil {
		if text, _, err = config.WithPin(before, name, config.PinDir, d.SHA256); err != nil {
			return nil, err
		}
		d.Changed = string(text) != string(before)
	}
	after, line, err := config.WithPin(text, name, config.PinWasm, p.SHA256)
	if err != nil {
		return nil, err
	}
	p.Changed, p.Line = string(after) != string(text), line
	if d := p.Dir; d != nil {
		_, d.Line, err = config.WithPin(after, name, config.PinDir, d.SHA256)
	}
	return after, err
}
