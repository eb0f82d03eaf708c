package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// publishersFile, in the state folder, names the runs whose recorded artifacts may
// not lie in their places yet: the run that published last, and those whose files
// could not be made since. It is durable before the record that it is about, so:
//
//	b: is named, record, dies with some of its files made
//	a: finds b named, makes the rest of b's files, is named, looks, record, files
//
// Without it a would replace what b made, and b's files could never be made whole
// again. Who publishes alone writes it once, since its own name stays.
const publishersFile = "artifacts.json"

const (
	publishersFormat = 1
	publishersLimit  = 1 << 20 // bytes
)

type publishers struct {
	Format int      `json:"format"`
	Runs   []string `json:"runs"` // ids
}

// enroll names a run among the publishers, before it records what it will publish,
// and finishes what the others left. What cannot be finished keeps nobody from other
// paths. It is called under the artifacts' lock only; what it wrote is durable.
func (w *world) enroll(ctx context.Context, id string, t transition) error {
	named, err := w.publishers(ctx)
	if err != nil {
		return err
	}
	now := []string{id}
	for _, other := range named {
		if other == id {
			continue
		}
		left, err := w.finishFor(ctx, other, t)
		if err != nil {
			return err
		}
		if left {
			now = append(now, other)
		}
	}
	if slices.Equal(named, now) {
		return nil
	}
	return w.writePublishers(now)
}

// publishers reads who is named. Where the file is missing or cannot be used, all
// runs are looked at.
func (w *world) publishers(ctx context.Context) ([]string, error) {
	var p publishers
	data, err := durable.ReadFile(w.disk(), w.publishersPath(), publishersLimit)
	if err == nil && json.Unmarshal(data, &p) == nil && p.Format == publishersFormat {
		return p.Runs, nil
	}
	all, err := w.project.runs.List(ctx)
	if err != nil {
		return nil, err
	}
	var named []string
	for _, e := range all {
		if snap, err := w.seen(ctx, e.ID); err == nil && snap.State.Unpublished != nil {
			named = append(named, e.ID)
		}
	}
	return named, nil
}

func (w *world) publishersPath() string {
	return filepath.Join(w.project.Config.StateRoot(), publishersFile)
}

func (w *world) writePublishers(runs []string) error {
	data, err := json.Marshal(publishers{publishersFormat, runs})
	if err != nil {
		return err
	}
	_ = durable.RemoveTempsOf(w.disk(), w.publishersPath()) // of a holder of the lock who died
	if err := durable.Replace(w.disk(), w.publishersPath(), append(data, '\n'), 0o644); err != nil {
		return &commit.AppendError{Err: fmt.Errorf("write who publishes artifacts: %w", err)}
	}
	return nil
}

// seen reads a run.
func (w *world) seen(ctx context.Context, id string) (snapshot, error) {
	store, err := w.project.runs.Open(ctx, id)
	if err != nil {
		return snapshot{}, err
	}
	defer store.Close()
	return store.Read(ctx)
}

// finishFor makes the files that another run recorded, before t makes its own, and
// sees to it that the record of that is durable: else the power takes it, and the other
// run would want its files back where t's are. left tells that this could not be done.
// The error refuses t, which would take one of their places, or may.
func (w *world) finishFor(ctx context.Context, id string, t transition) (left bool, err error) {
	other, err := w.seen(ctx, id)
	switch {
	case errors.Is(err, commit.ErrNoRun):
		return false, nil
	case err != nil:
		return true, nil // damaged: its own next call says so
	}
	r, err := w.project.readNamed(ctx, other.Subject)
	if err == nil && (r.run == nil || r.run.store.ID() != id) {
		r, err = w.project.readNamed(ctx, id)
	}
	if err == nil {
		err = r.commit(ctx, cursor.Publish{Who: t.Actor()})
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return false, ctx.Err()
	case other.State.Unpublished != nil:
		return true, w.shutOut(other, t, err)
	case errors.As(err, new(*commit.LockTimeoutError)), errors.As(err, new(*commit.UncertainError)):
		return true, err
	}
	return true, nil // nothing can be written to it, so nobody goes on with it either
}

// shutOut refuses a transition that wants a place of the files that another run could
// not make.
func (w *world) shutOut(other snapshot, t transition, why error) error {
	before, own := other.State.Unpublished.Paths, artifactPaths(t)
	i, fault := abi.PathsFault(slices.Concat(before, own))
	if fault == "" || i < len(before) {
		return nil
	}
	return &cursor.Refusal{Code: cursor.ArtifactConflict, Message: fmt.Sprintf(
		"%s is for what mission %s recorded in revision %d and could not put into its place yet (%v): first `%s`",
		own[i-len(before)], other.Subject, other.State.Unpublished.Revision, why, w.project.publishLine(other.Subject))}
}

// artifactPaths are where a transition makes files.
func artifactPaths(t transition) []string {
	report, ok := t.(cursor.Report)
	if !ok || report.Outcome == nil {
		return nil
	}
	paths := make([]string, len(report.Outcome.Artifacts))
	for i, a := range report.Outcome.Artifacts {
		paths[i] = a.Path
	}
	return paths
}
