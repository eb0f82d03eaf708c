package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

// run is an open run with what is read for it: the frozen definition and the
// mission's folder.
type run struct {
	store    Store
	mission  lanes.Mission
	packages *lanes.Reader
	lanes    *lanes.LogReader

	mu      sync.Mutex
	views   map[string]mission.View // definitions that were opened, by digest; guarded by mu
	indexes []commit.Blob           // what they are read from; guarded by mu
	stale   map[string]frozenNames  // whose index the next writer makes anew, by digest; guarded by mu
}

// attach makes a run known to the world, so that facts can be read again under
// its lock.
func (p *Project) attach(store Store, m lanes.Mission) *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, ok := p.open[store.ID()]; ok {
		return r
	}
	r := &run{store: store, mission: m, packages: lanes.NewReader(m.Dir), lanes: lanes.NewLogReader(m.Dir)}
	p.open[store.ID()] = r
	return r
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
	r.closeViews()
	r.store.Close()
}

func (r *run) closeViews() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, index := range r.indexes {
		index.Close()
	}
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

// grantOf is what the run goes on with of a plugin's configuration. The state's
// digest vouches for the bytes: whoever edits them grants nothing.
func (r *run) grantOf(name string, s cursor.State) (frozenPlugin, error) {
	all, err := r.frozenGrants(s)
	if err != nil {
		return frozenPlugin{}, err
	}
	one, ok := all[name]
	if !ok {
		return one, fmt.Errorf("the run froze no plugin %q", name)
	}
	return one, nil
}

// frozenGrants are those of all plugins.
func (r *run) frozenGrants(s cursor.State) (map[string]frozenPlugin, error) {
	var all map[string]frozenPlugin
	file := namesOf(s).plugins
	raw, err := r.frozenBlob(file, s.Grants)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, r.damaged(file, err)
	}
	return all, nil
}

// plugin is the frozen plugin of a name as it is called, with its bytes and its
// own folder.
func (r *run) plugin(name string, s cursor.State) (sandbox.Plugin, frozenPlugin, error) {
	one, err := r.grantOf(name, s)
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

// frozenBlob reads a frozen file, which must have this digest: the records vouch
// for its bytes, and whoever edits them has damaged the run.
func (r *run) frozenBlob(file, sum string) ([]byte, error) {
	data, err := r.blob(file)
	if err == nil && hexSum(data) != sum {
		err = errNotFrozen
	}
	if err != nil {
		return nil, r.damaged(file, err)
	}
	return data, nil
}

var errNotFrozen = errors.New("it is not what the run froze")

// damaged is the damage of a frozen file.
func (r *run) damaged(file string, err error) error {
	return &commit.DamagedError{File: file + " of run " + r.store.ID(), Why: err.Error()}
}
