package runner

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
)

// readNamed is read of the latest run of the mission that a name means, or, where it
// means none, of the run that it is the id of: one that its mission has left behind
// can be looked at and ended.
func (p *Project) readNamed(ctx context.Context, name string) (*reading, error) {
	r, err := p.read(ctx, name)
	if !errors.As(err, new(*lanes.NotFoundError)) {
		return r, err
	}
	store, found := p.openNamed(ctx, name)
	switch {
	case errors.Is(found, commit.ErrNoRun):
		return nil, err
	case found != nil:
		return nil, found
	}
	return p.readStore(ctx, store)
}

// readStore reads an open run, which the project closes.
func (p *Project) readStore(ctx context.Context, store Store) (*reading, error) {
	snap, err := store.Read(ctx)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	m, err := p.mission(ctx, snap.Subject)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	r := &reading{p: p, mission: m, run: p.attach(store, m)}
	if err := r.see(snap); err != nil {
		return nil, err
	}
	r.drifts()
	return r, nil
}

// lookupNamed opens the latest run of the mission that a name means, or the run
// that it is the id of. The caller closes it.
func (p *Project) lookupNamed(ctx context.Context, name string) (Store, error) {
	m, err := p.missionOrSlug(ctx, name)
	if err == nil {
		return p.runs.Lookup(ctx, m.Slug)
	}
	if errors.As(err, new(*lanes.NotFoundError)) || fromSystem(err) {
		if store, found := p.openNamed(ctx, name); !errors.Is(found, commit.ErrNoRun) {
			return store, found
		}
	}
	return nil, err
}

// missionOrSlug is mission for who only looks at a run, and needs nothing of the
// mission's own files: a meta.json or a folder that cannot be read does not stand in
// the way of a run of that very slug.
func (p *Project) missionOrSlug(ctx context.Context, name string) (lanes.Mission, error) {
	m, err := p.mission(ctx, name)
	if !errors.As(err, new(*lanes.FileError)) && (!fromSystem(err) || errors.As(err, new(*lanes.NotFoundError))) {
		return m, err
	}
	store, found := p.runs.Lookup(ctx, name)
	if found != nil {
		return m, err
	}
	return lanes.Mission{Slug: name, Dir: filepath.Join(p.Config.SpecsDir(), name)}, store.Close()
}

// openNamed opens the run of an id, which may be in small letters; commit.ErrNoRun
// where a name is that of no run.
func (p *Project) openNamed(ctx context.Context, name string) (Store, error) {
	id := strings.ToUpper(name)
	if !isRunID(id) {
		return nil, commit.ErrNoRun
	}
	return p.runs.Open(ctx, id)
}

// isRunID tells whether a text has the form of a run's id, a ULID.
func isRunID(text string) bool {
	_, err := ulid.ParseStrict(text)
	return err == nil
}

// warnTwoLive is the code of two runs of one mission that are not over.
const warnTwoLive = "two_live_runs"

// hidden tells of a token that is open in another run of the mission, which the
// latest one hides; to be asked where the latest does not know the token.
func (r *reading) hidden(ctx context.Context, token string) []Warning {
	keeper, ok := r.p.runs.(commit.Keeper)
	if !ok {
		return nil
	}
	ids, err := keeper.RunsOf(ctx, r.mission.Slug)
	if err != nil {
		return nil // the refusal stands, and says what it knows
	}
	for _, id := range ids {
		if id != r.state.Run && r.p.openIn(ctx, id, token) {
			return []Warning{{warnTwoLive, "token " + token + " is open in run " + id + ", an older run of this mission that is not over and is hidden by this one: `spec-kitty doctor" + r.p.rootFlag() + "` says what to do"}}
		}
	}
	return nil
}

// openIn tells whether a token is open in the run of an id.
func (p *Project) openIn(ctx context.Context, id, token string) bool {
	store, err := p.runs.Open(ctx, id)
	if err != nil {
		return false
	}
	defer store.Close()
	snap, err := store.Read(ctx)
	if err != nil || snap.State.Phase != cursor.Running {
		return false
	}
	_, open := snap.State.Issue(token)
	return open
}
