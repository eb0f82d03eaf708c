package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

// The files that a run freezes at its start, beside its journal.
const (
	blobDefinition = "definition.json"  // mission.Definition.Canonical
	blobIndex      = "definition.index" // a view of it, read by position
	blobPlugins    = "plugins.json"     // what the configuration granted them
	blobWasm       = "plugins/"         // + SHA-256 + ".wasm"
	blobBundle     = "plugins/"         // + SHA-256 + ".bundle", a plugin's own folder (host/bundle)
)

// run is an open run with what is read for it: the frozen definition and the
// mission's folder.
type run struct {
	store    Store
	mission  lanes.Mission
	def      mission.View
	index    commit.Blob // nil where the definition had to be decoded
	stale    bool        // the index is to be made anew by the next writer
	packages *lanes.Reader
	lanes    *lanes.LogReader
}

// attach opens what belongs to a run and makes it known to the world, so that
// facts can be read again under its lock.
func (p *Project) attach(store Store, m lanes.Mission) (*run, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, ok := p.open[store.ID()]; ok {
		return r, nil
	}
	r := &run{store: store, mission: m, packages: lanes.NewReader(m.Dir), lanes: lanes.NewLogReader(m.Dir)}
	if err := r.openDefinition(); err != nil {
		return nil, err
	}
	p.open[store.ID()] = r
	return r, nil
}

// openDefinition reads the index of the frozen definition. Where it is missing
// or wrong the definition itself is decoded; the index is a view of it.
func (r *run) openDefinition() error {
	blob, err := r.store.Blob(blobIndex)
	if err == nil {
		index, err := mission.OpenIndex(blob, blob.Size())
		if err == nil {
			r.def, r.index = remembered(&healing{View: index, definition: r.heal}), blob
			return nil
		}
		blob.Close()
	}
	def, err := r.definition()
	if err != nil {
		return err
	}
	r.def, r.stale = def, true
	return nil
}

// heal gives the definition in place of an index that is damaged, which the
// next writer makes anew.
func (r *run) heal() (mission.View, error) {
	def, err := r.definition()
	r.stale = err == nil
	return def, err
}

// definition decodes the whole frozen definition.
func (r *run) definition() (*mission.Definition, error) {
	raw, err := r.blob(blobDefinition)
	if err != nil {
		return nil, &commit.DamagedError{File: blobDefinition, Why: err.Error()}
	}
	def, err := mission.Decode(raw)
	if err != nil {
		return nil, &commit.DamagedError{File: blobDefinition, Why: err.Error()}
	}
	return def, nil
}

// mendIndex makes a missing or wrong index anew. Only writers call it.
func (r *run) mendIndex() error {
	if !r.stale {
		return nil
	}
	def, err := r.definition()
	if err != nil {
		return err
	}
	r.stale = false
	return r.store.PutBlob(blobIndex, mission.EncodeIndex(def))
}

func (r *run) blob(name string) ([]byte, error) { return blobOf(r.store, name) }

// blobOf reads a frozen file whole.
func blobOf(store interface {
	Blob(name string) (commit.Blob, error)
}, name string) ([]byte, error) {
	b, err := store.Blob(name)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return io.ReadAll(io.NewSectionReader(b, 0, b.Size()))
}

func (r *run) close() {
	if r.index != nil {
		r.index.Close()
	}
	r.store.Close()
}

// frozenPlugin is what a run goes on with of a plugin's configuration.
type frozenPlugin struct {
	SHA256  string            `json:"sha256"`
	DirSum  string            `json:"dir_sha256,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Read    []string          `json:"read,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Memory  int64             `json:"memory,omitempty"`
	Timeout int64             `json:"timeout_ns,omitempty"`
	Output  int64             `json:"output,omitempty"`
	Log     int64             `json:"log,omitempty"`
	Write   []string          `json:"write,omitempty"`
	Rounds  int               `json:"max_rounds,omitempty"`
}

func freezePlugin(c config.Plugin) frozenPlugin {
	return frozenPlugin{SHA256: c.SHA256, DirSum: c.DirSum, Args: c.Args, Read: c.Read, Env: c.Env,
		Memory: c.Memory, Timeout: int64(c.Timeout), Output: c.Output, Log: c.Log, Write: c.Write, Rounds: c.MaxRounds}
}

// grantOf is what the run goes on with of a plugin's configuration. The first
// record vouches for the bytes: whoever edits them grants nothing.
func (r *run) grantOf(name, digest string) (frozenPlugin, error) {
	var all map[string]frozenPlugin
	raw, err := r.blob(blobPlugins)
	if err == nil && hexSum(raw) != digest {
		err = errors.New("it is not what the run froze")
	}
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		return frozenPlugin{}, &commit.DamagedError{File: blobPlugins + " of run " + r.store.ID(), Why: err.Error()}
	}
	one, ok := all[name]
	if !ok {
		return one, fmt.Errorf("the run froze no plugin %q", name)
	}
	return one, nil
}

// plugin is the frozen plugin of a name as it is called, with its bytes and its
// own folder.
func (r *run) plugin(name, digest string) (sandbox.Plugin, frozenPlugin, error) {
	one, err := r.grantOf(name, digest)
	if err != nil {
		return sandbox.Plugin{}, one, err
	}
	wasm, err := r.frozenBlob(one.wasmBlob(), one.SHA256)
	var own []byte
	if err == nil && one.DirSum != "" {
		own, err = r.frozenBlob(one.bundleBlob(), one.DirSum)
	}
	if err != nil {
		return sandbox.Plugin{}, one, err
	}
	return one.sandboxed(name, wasm, own), one, nil
}

func (f frozenPlugin) wasmBlob() string   { return blobWasm + f.SHA256 + ".wasm" }
func (f frozenPlugin) bundleBlob() string { return blobBundle + f.DirSum + ".bundle" }

// frozenBlob reads a frozen file, which must have this digest.
func (r *run) frozenBlob(file, sum string) ([]byte, error) {
	data, err := r.blob(file)
	if err == nil && hexSum(data) != sum {
		err = errors.New("it is not what the run froze")
	}
	if err != nil {
		return nil, &commit.DamagedError{File: file + " of run " + r.store.ID(), Why: err.Error()}
	}
	return data, nil
}
