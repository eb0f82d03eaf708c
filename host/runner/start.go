package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

// MaxWasm is the greatest size of a plugin, in bytes.
const MaxWasm = 32 << 20

// StartRequest asks for a new run.
type StartRequest struct {
	Slug   string // of the mission; its folder is made where it is missing
	Type   string // "": what meta.json says, else the only one defined
	Caller Caller // with an agent, or a person, the first step is handed out
	Actor  string // who starts it where nobody calls, for the record; "": "operator"
	Inputs map[string]string
	Again  bool // a run that is over may be followed by this one

	make func(slug, missionType string) (lanes.Mission, error) // nil: the mission is there
}

// Start starts a run. It is durable when Start returns without error.
func (p *Project) Start(ctx context.Context, q StartRequest) (Answer, error) {
	if err := q.Caller.check(); err != nil {
		return Answer{}, err
	}
	m, fresh, err := p.missionToStart(q)
	if err != nil {
		return Answer{}, classify(err)
	}
	r := &reading{p: p, mission: m}
	if fresh {
		q.make = p.makeMission
	}
	a, err := r.start(ctx, q)
	return a, classify(err)
}

// missionToStart finds the mission. fresh: its folder, or its meta.json, is
// still to be made.
func (p *Project) missionToStart(q StartRequest) (m lanes.Mission, fresh bool, err error) {
	m, err = p.mission(q.Slug)
	var missing *lanes.NotFoundError
	switch {
	case errors.As(err, &missing):
		if err := mission.CheckName(q.Slug); err != nil {
			return m, false, fail(CodeUsage, "name the mission with letters, digits, - and _", "%q is no mission's name: %v", q.Slug, err)
		}
		return lanes.Mission{Slug: q.Slug}, true, nil
	case err != nil:
		return m, false, err
	case !m.HasMeta:
		return m, true, nil
	case q.Type != "" && m.Type != "" && q.Type != m.Type:
		return m, false, fail(CodeUsage, "leave --type away, or name another mission", "mission %s is of type %s, not %s", m.Slug, m.Type, q.Type)
	}
	return m, false, nil
}

// makeMission makes a mission's folder with a meta.json. It writes only where
// nothing stands.
func (p *Project) makeMission(slug, missionType string) (lanes.Mission, error) {
	dir := filepath.Join(p.Config.SpecsDir(), slug)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return lanes.Mission{}, err
	}
	meta, err := json.MarshalIndent(map[string]string{
		"mission_id": p.newULID().String(), "mission_slug": slug, "mission_type": missionType,
	}, "", "  ")
	if err != nil {
		return lanes.Mission{}, err
	}
	file, err := os.OpenFile(filepath.Join(dir, lanes.MetaFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		_, err = file.Write(append(meta, '\n'))
		err = errors.Join(err, file.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return lanes.Mission{}, err
	}
	return lanes.Load(p.Config.SpecsDir(), slug)
}

// settleFolder makes a new mission's folder once nothing speaks against the
// start: one that is refused leaves no trace.
func (r *reading) settleFolder(ctx context.Context, q StartRequest, first cursor.Start) error {
	facts := cursor.Facts{Def: first.Def}
	if r.mission.Dir != "" {
		var err error
		if facts, err = r.p.world.Facts(ctx, cursor.State{}, first); err != nil {
			return err
		}
	}
	if _, err := first.Decide(cursor.State{}, facts, r.p.now()); err != nil {
		return err
	}
	before, err := r.p.runs.Lookup(ctx, first.Mission)
	switch {
	case err == nil:
		defer before.Close()
		if !q.Again {
			return r.exists(&commit.ExistsError{Slug: first.Mission, ID: before.ID()})
		}
	case !errors.Is(err, commit.ErrNoRun):
		return err
	}
	r.mission, err = q.make(first.Mission, first.Type)
	return err
}

// start freezes the definition and the plugins and makes the run.
func (r *reading) start(ctx context.Context, q StartRequest) (Answer, error) {
	missionType := q.Type
	if missionType == "" {
		var err error
		if missionType, err = r.p.typeOf(r.mission); err != nil {
			return Answer{}, err
		}
	}
	def, frozen, err := config.LoadMission(r.p.Config, missionType)
	if err != nil {
		return Answer{}, err
	}
	blobs, pins, err := r.p.freeze(ctx, def, frozen)
	if err != nil {
		return Answer{}, err
	}
	id := r.p.newULID().String()
	first := cursor.Start{
		Who: q.Caller.String(), Run: id, Mission: r.mission.Slug, Type: missionType,
		Definition: frozen.Digest, Index: frozen.IndexDigest, Plugins: pins,
		Seed: hexSum([]byte(id + r.p.newULID().String())), Inputs: q.Inputs, Def: def,
		By: q.Caller.Holder(), Tokens: r.p.tokens(),
	}
	switch {
	case q.Caller != (Caller{}):
	case q.Actor != "":
		first.Who = q.Actor
	default:
		first.Who = "operator"
	}
	if q.make != nil {
		if err := r.settleFolder(ctx, q, first); err != nil {
			return Answer{}, err
		}
	}
	store, out, err := r.p.runs.Start(ctx, r.mission.Slug, commit.New[cursor.State, cursor.Facts, cursor.Event]{
		ID: id, Blobs: blobs, First: first, Again: q.Again,
	})
	var exists *commit.ExistsError
	if errors.As(err, &exists) {
		return Answer{}, r.exists(exists)
	}
	if err != nil {
		return r.refusedStart(q.Caller, err)
	}
	if r.run, err = r.p.attach(store, r.mission); err != nil {
		return Answer{}, err
	}
	r.see(out.Snapshot)
	r.recorded = true
	r.settleDrift(frozen)
	return r.settle(ctx, q.Caller, step{})
}

// refusedStart is the block of a start: the index lock could not be had.
func (r *reading) refusedStart(c Caller, err error) (Answer, error) {
	var timeout *commit.LockTimeoutError
	if errors.As(err, &timeout) {
		return r.blocked(c, &cursor.Refusal{Code: LockTimeout, Message: timeout.Error()})
	}
	return Answer{}, err
}

func (r *reading) exists(e *commit.ExistsError) error {
	known := fail(CodeRunExists, "go on with it; when it is over, `spec-kitty run start "+r.mission.Slug+" --again` starts a new one",
		"mission %s (type %s) already has the run %s", r.mission.Slug, r.mission.Type, e.ID)
	known.Recover = []string{"spec-kitty next --mission " + quote(r.mission.Slug) + " --json"}
	known.Err = e
	return known
}

// freeze gathers what the run goes on with: the definition, its index, the
// plugins that it names with their bytes and what they are granted. The bytes
// that are hashed are the bytes that are frozen; the compilation cache is
// filled on the way.
func (p *Project) freeze(ctx context.Context, def *mission.Definition, frozen config.Frozen) (map[string][]byte, map[string]string, error) {
	blobs := map[string][]byte{blobDefinition: frozen.Definition, blobIndex: frozen.Index}
	pins, grants := map[string]string{}, map[string]frozenPlugin{}
	for _, name := range def.Plugins() {
		c, ok := p.Config.Plugins[name]
		if !ok {
			return nil, nil, fail(CodeDefinitionInvalid, "add [plugins."+name+"] to "+config.FileName, "the definition names plugin %q, which is not configured", name)
		}
		wasm, err := p.readPlugin(c)
		if err != nil {
			return nil, nil, err
		}
		grants[name], pins[name] = freezePlugin(c), c.SHA256
		blobs[blobWasm+c.SHA256+".wasm"] = wasm
		if err := p.plugins.Prepare(ctx, grants[name].sandboxed(name, wasm)); err != nil {
			return nil, nil, badPlugin(name, err)
		}
	}
	raw, err := json.Marshal(grants)
	if err != nil {
		return nil, nil, err
	}
	blobs[blobPlugins] = raw
	return blobs, pins, nil
}

// readPlugin reads a plugin's bytes and holds them against their pin.
func (p *Project) readPlugin(c config.Plugin) ([]byte, error) {
	path := p.Config.WasmPath(c)
	wasm, err := readWasm(path)
	if err != nil {
		return nil, placed(fail(CodeDefinitionInvalid, "mend plugins."+c.Name+".wasm in "+config.FileName, "plugin %s cannot be read: %v", c.Name, err), path, 0)
	}
	if sum := hexSum(wasm); sum != strings.ToLower(c.SHA256) {
		return nil, placed(fail(CodeDefinitionInvalid, "if you trust these bytes: `spec-kitty plugin pin "+c.Name+"`",
			"plugin %s: %s: the file has %s, the configuration pins %s", c.Name, sandbox.WrongSHA256, sum, c.SHA256), path, 0)
	}
	if err := sandbox.Check(wasm); err != nil {
		return nil, badPlugin(c.Name, err)
	}
	return wasm, nil
}

// readWasm reads a module's file.
func readWasm(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case info.Size() > MaxWasm:
		return nil, fmt.Errorf("%d bytes are more than the %d allowed", info.Size(), MaxWasm)
	}
	return os.ReadFile(path)
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func badPlugin(name string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := fail(CodeDefinitionInvalid, "build the plugin anew, or ask its author", "plugin %s: %v", name, err)
	e.Err = err
	return e
}
