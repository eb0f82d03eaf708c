package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

// StartRequest asks for a new run.
type StartRequest struct {
	Slug   string // of the mission; its folder is made where it is missing
	Type   string // "": what meta.json says, else the only one defined
	Caller Caller // with an agent, or a person, the first step is handed out
	Actor  string // who starts it where nobody calls, for the record; "": "operator"
	Inputs map[string]string
	Again  bool // a run that is over may be followed by this one
	Adopt  bool // take over the mission's run of the Python program

	fresh bool // its folder, or its meta.json, is still to be made
}

// Start starts a run. It is durable when Start returns without error.
func (p *Project) Start(ctx context.Context, q StartRequest) (Answer, error) {
	if err := cmp.Or(q.Caller.check(), checkID("mission type", q.Type)); err != nil {
		return Answer{}, err
	}
	m, fresh, err := p.missionToStart(ctx, q)
	if err != nil {
		return Answer{}, classify(err)
	}
	r := &reading{p: p, mission: m}
	q.fresh = fresh
	a, err := r.start(ctx, q)
	return a, classify(err)
}

// missionToStart finds the mission. fresh: its folder, or its meta.json, is
// still to be made.
func (p *Project) missionToStart(ctx context.Context, q StartRequest) (m lanes.Mission, fresh bool, err error) {
	m, err = p.mission(ctx, q.Slug)
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

// settleFolder makes a new mission's folder once nothing speaks against the
// start. undo takes it back where the start is refused after all: it leaves no
// trace. But two may start one mission at once, and the one that is refused may be
// the one that made the folder; the other one's run works in it then:
//
//	a: folder, meta.json
//	                          b: finds them, starts the run
//	a: run_exists             (and its folder is b's now)
func (r *reading) settleFolder(ctx context.Context, q StartRequest, first cursor.Start) (undo func(), err error) {
	if !q.fresh {
		return func() {}, nil
	}
	before, err := r.p.latest(ctx, first.Mission)
	switch {
	case err != nil:
		return nil, err
	case before != "" && !q.Again:
		return nil, r.p.exists(ctx, &commit.ExistsError{Slug: first.Mission, ID: before})
	}
	takeBack, err := r.p.makeMission(first.Mission, first.Type)
	if err != nil {
		return nil, err
	}
	if r.mission, err = lanes.Load(r.p.Config.SpecsDir(), first.Mission); err != nil {
		takeBack()
		return nil, err
	}
	return func() {
		if now, err := r.p.latest(context.WithoutCancel(ctx), first.Mission); err == nil && now == before {
			takeBack()
		}
	}, nil
}

// latest is the id of a mission's latest run; "" where it has none.
func (p *Project) latest(ctx context.Context, slug string) (id string, err error) {
	store, err := p.runs.Lookup(ctx, slug)
	switch {
	case errors.Is(err, commit.ErrNoRun):
		return "", nil
	case err != nil:
		return "", err
	}
	return store.ID(), store.Close()
}

// rehearse decides the start before anything is made, and renders the prompt of
// what it would hand out.
func (r *reading) rehearse(ctx context.Context, first cursor.Start) error {
	facts := cursor.Facts{Def: first.Def}
	if r.mission.Dir != "" && !missing(r.mission.Dir) {
		var err error
		if facts, err = r.p.world.Facts(ctx, cursor.State{}, first); err != nil {
			return err
		}
	}
	would := &reading{p: r.p, mission: r.mission, facts: facts, run: &run{mission: r.mission, packages: lanes.NewReader(r.mission.Dir)}}
	made, err := would.foretell(first)
	if err != nil {
		return err
	}
	return would.renderNext(made, first.By)
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
	var taken *adoption
	if q.Adopt {
		if taken, err = r.adopt(def, missionType, q.Inputs); err != nil {
			return Answer{}, err
		}
	}
	blobs, pins, err := r.p.freeze(ctx, def, frozen)
	if err != nil {
		return Answer{}, err
	}
	commands := r.p.freezeCommands(def, blobs)
	id := r.p.newULID().String()
	first := cursor.Start{
		Who: q.Caller.String(), Run: id, Mission: r.mission.Slug, Type: missionType,
		Definition: frozen.Digest, Index: frozen.IndexDigest, Plugins: pins, Grants: hexSum(blobs[blobPlugins]), Commands: commands,
		Seed: hexSum([]byte(id + r.p.newULID().String())), Inputs: q.Inputs, Def: def,
		By: q.Caller.Holder(), Tokens: r.p.tokens(),
	}
	taken.into(&first)
	switch {
	case q.Caller != (Caller{}):
	case q.Actor != "":
		first.Who = q.Actor
	default:
		first.Who = "operator"
	}
	if err := r.rehearse(ctx, first); err != nil {
		return r.refused(q.Caller, unreachable(q, err))
	}
	undo, err := r.settleFolder(ctx, q, first)
	if err != nil {
		return Answer{}, err
	}
	store, out, err := r.p.runs.Start(ctx, r.mission.Slug, commit.New[cursor.State, cursor.Facts, cursor.Event]{
		ID: id, Blobs: blobs, First: first, Again: q.Again,
	})
	if err != nil {
		// A start that is uncertain may have made the run: its mission stays.
		if !errors.As(err, new(*commit.UncertainError)) {
			undo()
		}
		return r.refusedStart(ctx, q.Caller, err)
	}
	r.run = r.p.attach(store, r.mission)
	if err := r.see(out.Snapshot); err != nil {
		return Answer{}, err
	}
	r.recorded = true
	r.settleDrift(frozen)
	taken.say(r)
	if t, more := r.firstPackage(q.Caller); more {
		return r.take(ctx, q.Caller, t)
	}
	return r.settle(ctx, q.Caller, step{})
}

// firstPackage asks for the package that a start leaves to a commit of its own,
// which holds the lane log's lock.
func (r *reading) firstPackage(c Caller) (step, bool) {
	by := c.Holder()
	if by.IsZero() || r.state.SourceOf(r.facts) != cursor.KittySpecs || len(r.state.Held(by)) > 0 {
		return step{}, false
	}
	here, err := cursor.At(r.state, r.facts, by)
	return r.askFor(c), err == nil && here.Standing == cursor.AtOffer
}

// refusedStart answers a start that the catalog did not make.
func (r *reading) refusedStart(ctx context.Context, c Caller, err error) (Answer, error) {
	var exists *commit.ExistsError
	if errors.As(err, &exists) {
		return Answer{}, r.p.exists(ctx, exists)
	}
	return r.refused(c, err)
}

// exists says which run a mission has, how it stands, and how to go on: a
// damaged run is told as damage.
func (p *Project) exists(ctx context.Context, e *commit.ExistsError) error {
	var row RunRow
	if err := p.fillRow(ctx, e.ID, &row); err != nil {
		return classify(err)
	}
	slug := quote(e.Slug)
	known := fail(CodeRunExists, "go on with it; when it is over, `run start` with --again starts a new one",
		"mission %s (type %s) already has the run %s, which is at %s", e.Slug, row.MissionType, e.ID, row.MissionState)
	known.Recover = []string{"spec-kitty next" + p.rootFlag() + " --mission " + slug + " --json"}
	if over(row.MissionState) {
		known.Recover = []string{"spec-kitty run start" + p.rootFlag() + " " + slug + " --again"}
	}
	if gone, err := p.gone(ctx); err == nil {
		for _, later := range gone {
			if later.Slug == e.Slug {
				known.NextStep = "look for run " + later.ID + " first, which the index names and whose folder is not there: --again forgets it. Else " + known.NextStep
			}
		}
	}
	known.Err = e
	return known
}

func over(missionState string) bool {
	switch cursor.Phase(missionState) {
	case cursor.Done, cursor.Canceled, cursor.Aborted:
		return true
	}
	return false
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
			return nil, nil, fail(CodeDefinitionInvalid, "add [plugins."+config.Key(name)+"] to "+config.FileName, "the definition names plugin %q, which is not configured", name)
		}
		wasm, own, err := readPlugin(p.Config, c)
		if err != nil {
			return nil, nil, err
		}
		one := freezePlugin(c)
		grants[name], pins[name] = one, one.SHA256
		blobs[one.wasmBlob()] = wasm
		if own != nil {
			blobs[one.bundleBlob()] = own
		}
		if err := p.plugins.Prepare(ctx, one.sandboxed(name, wasm, own)); err != nil {
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

// readPlugin reads a plugin's bytes and its own folder (nil: it has none) and
// holds them against their pins.
func readPlugin(cfg *config.Config, c config.Plugin) (wasm, own []byte, err error) {
	path := cfg.WasmPath(c)
	if wasm, err = readInside(cfg, path); err != nil {
		return nil, nil, placed(fail(CodeDefinitionInvalid, "mend plugins."+c.Name+".wasm in "+config.FileName, "plugin %s cannot be read: %v", c.Name, err), path, 0)
	}
	if sum := hexSum(wasm); sum != strings.ToLower(c.SHA256) {
		return nil, nil, placed(fail(CodeDefinitionInvalid, "if you trust these bytes: `spec-kitty plugin pin "+c.Name+"`",
			"plugin %s: %s: the file has %s, the configuration pins %s", c.Name, sandbox.WrongSHA256, sum, c.SHA256), path, 0)
	}
	if err := sandbox.Check(wasm); err != nil {
		return nil, nil, badPlugin(c.Name, err)
	}
	own, err = ownFolder(cfg, c)
	return wasm, own, err
}

// readInside is readWasm of a file that lies in the project, by its links too.
func readInside(cfg *config.Config, path string) ([]byte, error) {
	if err := cfg.CheckInside(path); err != nil {
		return nil, err
	}
	return readWasm(path)
}

// readWasm reads a module's file.
func readWasm(path string) ([]byte, error) {
	wasm, _, err := readonly.Path(path, config.MaxWasm)
	return wasm, err
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func badPlugin(name string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := fail(CodeDefinitionInvalid, "build the plugin anew, or ask its author", "plugin %s: %s", name, cause(err))
	e.Err = err
	return e
}
