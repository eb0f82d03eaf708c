package runner

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/spec-kitty/step-runner/host/artifact"
	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/host/trust"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// The commit core's types, over the cursor's.
type (
	// Store is one run.
	Store = commit.Store[cursor.State, cursor.Facts, cursor.Event]
	// Catalog is the runs of one state root.
	Catalog    = commit.Catalog[cursor.State, cursor.Facts, cursor.Event]
	snapshot   = commit.Snapshot[cursor.State]
	transition = commit.Transition[cursor.State, cursor.Facts, cursor.Event]
)

// Named points of a call, for Options.Hook, in the order in which a report
// meets them.
const (
	PointRead       = "read"        // the first read is done
	PointDispatched = "dispatched"  // executor and guards have answered
	PointPlanned    = "planned"     // the plan is made, its prompt rendered
	PointLogLocked  = "log_locked"  // the lane log's lock is held
	PointLogWritten = "log_written" // the moves are in the lane log, their record is not written
	PointPublishing = "publishing"  // artifacts are about to be made; their record is durable
	PointCommitted  = "committed"   // the commit returned, refused or not
)

// Options say where a project is and, for tests, what stands in for the world.
type Options struct {
	Root     string           // a folder in the project; "": the working directory
	Commit   commit.Options   // of the runs' store; LockTimeout is the configuration's
	CacheDir string           // of compiled plugins; "": the user's
	TrustDir string           // of consents; "": in the user's configuration folder
	Trust    string           // the digest that the environment consents to (SPEC_KITTY_TRUST); "": none
	Now      func() time.Time // nil: time.Now
	Hook     func(point string)

	// ToSteer opens a project of which the configuration cannot be read, too: it has
	// no definitions then, and its loops can be looked at and stopped.
	ToSteer bool

	Artifacts durable.Disk // that artifacts are written to; nil: the real one, see artifact.At
}

// Project is an open project: its configuration and its runs.
type Project struct {
	Config  *config.Config
	runs    Catalog
	world   *world
	plugins *sandbox.Host
	trust   *trust.Store
	place   *artifact.Place // where artifacts are put
	now     func() time.Time
	hook    func(string)
	named   string // the project as the caller named it; "": found from the working folder
	unread  error  // why the configuration could not be read; see Options.ToSteer

	mu   sync.Mutex
	open map[string]*run // by id; guarded by mu
}

// Open reads the configuration and opens the runs' catalog. It writes nothing.
// Errors are *Error.
func Open(o Options) (*Project, error) {
	root, err := findRoot(o.Root)
	if err == nil && o.Root == "" {
		err = oneOfSeveral(root)
	}
	if err != nil {
		return nil, classify(err)
	}
	cfg, err := config.LoadUsable(root)
	unread := classify(err)
	switch {
	case err != nil && o.ToSteer && errors.As(err, new(*config.InvalidError)):
		cfg = cfg.Steering()
	case err != nil:
		return nil, unread
	}
	p := &Project{Config: cfg, now: o.Now, hook: o.Hook, unread: unread, open: map[string]*run{}}
	if o.Root != "" {
		p.named = cfg.Root
	}
	if p.now == nil {
		p.now = time.Now
	}
	if p.hook == nil {
		p.hook = func(string) {}
	}
	p.trust = trust.Open(trust.Options{Dir: o.TrustDir, Project: cfg.Root, Digest: o.Trust})
	p.place = artifact.At(cfg.Root, o.Artifacts)
	p.plugins = sandbox.New(sandbox.Options{CacheDir: o.CacheDir, Project: cfg.Root})
	opts := o.Commit
	opts.LockTimeout, opts.Owner = cfg.Runtime.LockTimeout, cfg.StateOwner()
	if err := commit.CheckOwner(opts.Disk, cfg.StateRoot(), opts.Owner); err != nil {
		return nil, classify(err)
	}
	if opts.Now == nil {
		opts.Now = p.now
	}
	p.world = &world{project: p, opts: opts}
	p.runs = commit.NewFiles[cursor.State, cursor.Facts, cursor.Event](cfg.StateRoot(), machine{}, p.world, opts)
	return p, nil
}

// Close closes the runs that were opened.
func (p *Project) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, r := range p.open {
		r.close()
		delete(p.open, id)
	}
	return nil
}

// findRoot is the project root for a call from a folder, "" being the working
// one: the same root from every folder, link and worktree that leads to it.
func findRoot(folder string) (string, error) {
	if folder == "" {
		var err error
		if folder, err = os.Getwd(); err != nil {
			return "", err
		}
	}
	return config.FindRoot(folder)
}

// oneOfSeveral refuses to choose, for who names no project, between the worktrees of
// a repository that has no main one.
func oneOfSeveral(root string) error {
	projects, err := config.Apart(root)
	if err != nil || projects == nil {
		return err
	}
	way := "say in every call whose runs are meant, the same from each worktree that works on them, such as with --root " + quote(projects[0])
	if len(projects) == 1 {
		way = "name the repository's own checkout with --root DIR in every call; --root " + quote(root) + " gives this worktree runs of its own"
	}
	e := fail(CodeAmbiguous, way,
		"%s lies in a linked git worktree of a repository without a main worktree (it is bare, or its git folder lies apart): each worktree has runs of its own, and would hand out the same work", root)
	e.Candidates = projects
	return e
}

// newULID is a fresh ULID; the time in it is the project's.
func (p *Project) newULID() ulid.ULID {
	return ulid.MustNew(ulid.Timestamp(p.now()), rand.Reader)
}

func (p *Project) tokens() cursor.Tokens { return cursor.Tokens{First: p.newULID()} }

// mission finds the mission that a handle names. One whose folder is gone is
// found by its run, which goes on without it.
func (p *Project) mission(ctx context.Context, handle string) (lanes.Mission, error) {
	m, err := lanes.Resolve(p.Config.SpecsDir(), handle)
	var gone *lanes.NotFoundError
	if errors.As(err, &gone) && mission.CheckName(handle) == nil {
		store, found := p.runs.Lookup(ctx, handle)
		if found == nil {
			store.Close()
		}
		if found == nil || errors.As(found, new(*commit.GoneError)) {
			return lanes.Mission{Slug: handle, Dir: filepath.Join(p.Config.SpecsDir(), handle)}, nil
		}
	}
	if err != nil {
		return m, err
	}
	return m, m.CheckTopology(p.Config.Root)
}

// rootFlag is what a printed command needs to find this project from where it
// was printed.
func (p *Project) rootFlag() string {
	if p.named == "" {
		return ""
	}
	return " --root " + quote(p.named)
}

// typeOf is the mission's type: what its meta.json says, else the only one
// defined.
func (p *Project) typeOf(m lanes.Mission) (string, error) {
	if m.Type != "" {
		return m.Type, nil
	}
	only, err := p.Config.OnlyType()
	var several *config.AmbiguousError
	if errors.As(err, &several) && m.Slug != "" {
		e := fail(CodeAmbiguous, "say which: `spec-kitty run start"+p.rootFlag()+" "+quote(m.Slug)+" --type T`", "%s", several.Error())
		e.Candidates, e.Err = several.Candidates, err
		return "", e
	}
	return only, err
}

// lookup opens the latest run of a mission; commit.ErrNoRun where there is
// none.
func (p *Project) lookup(ctx context.Context, m lanes.Mission) (*run, error) {
	store, err := p.runs.Lookup(ctx, m.Slug)
	if err != nil {
		return nil, err
	}
	return p.attach(store, m), nil
}
