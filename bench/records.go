package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
)

// The commit core's types, over the cursor's.
type (
	catalog  = commit.Catalog[cursor.State, cursor.Facts, cursor.Event]
	outcome  = commit.Outcome[cursor.State, cursor.Event]
	snapshot = commit.Snapshot[cursor.State]

	transition = commit.Transition[cursor.State, cursor.Facts, cursor.Event]
)

// constant gives the same facts to every commit, so that the commit core is
// measured and not the reading of packages.
type constant cursor.Facts

// Facts implements the commit core's Outside.
func (c constant) Facts(context.Context, cursor.State, transition) (cursor.Facts, error) {
	return cursor.Facts(c), nil
}

func newCatalog(root string, facts cursor.Facts, o commit.Options) catalog {
	return commit.NewFiles[cursor.State, cursor.Facts, cursor.Event](root, runner.Machine(), constant(facts), o)
}

// runs are the project's, without the world around them.
func (p *project) runs(disk durable.Disk) catalog {
	return newCatalog(p.lib.Config.StateRoot(), cursor.Facts{}, commit.Options{Disk: disk})
}

// handAround takes a step from its holder and hands it out again.
func handAround(s cursor.State) transition {
	if held := s.Held(cursor.Holder{Agent: agent}); len(held) > 0 {
		return cursor.Release{Who: agent, Token: held[0].Token}
	}
	return cursor.Ask{Who: agent, By: cursor.Holder{Agent: agent}, Tokens: newTokens()}
}

// skip completes a step and hands out the next.
func skip(s cursor.State) transition {
	return cursor.Skip{Who: agent, Step: s.Cursor.Step, Reason: "made by bench", By: cursor.Holder{Agent: agent}, Tokens: newTokens()}
}

// lengthen adds n records to a run's journal. The state machine decides them
// and the journal's own package writes them; only the lock and the files
// between two records are left out. The next commit folds them, as after a lost
// view. Without a file for each it is quick, and leaves no trail of removed
// files on the disk: where ext4 has no journal of its own, they make the next
// ones slow for a minute.
func (p *project) lengthen(ctx context.Context, slug, missionType string, n int, by func(cursor.State) transition) error {
	def, _, err := config.LoadMission(p.lib.Config, missionType)
	if err != nil {
		return err
	}
	store, err := p.runs(unsynced()).Lookup(ctx, slug)
	if err != nil {
		return err
	}
	snap, err := store.Read(ctx)
	if err != nil {
		return err
	}
	path := filepath.Join(p.lib.Config.StateRoot(), "runs", store.ID(), "run.events.jsonl")
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	w := writer{file: file, snap: snap, def: def}
	for range n {
		if err := w.add(by(w.snap.State)); err != nil {
			file.Close()
			return err
		}
	}
	if err := w.flush(); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// writer makes records one after the other.
type writer struct {
	file *os.File
	snap snapshot
	def  mission.View
	buf  []byte
}

func (w *writer) add(t transition) error {
	state := w.snap.State
	now := time.Now().UTC().Round(0)
	events, err := t.Decide(state, cursor.Facts{Def: w.def}, now)
	if err != nil {
		return err
	}
	rec := journal.Record{Run: w.snap.ID, Revision: w.snap.Revision + 1, At: now, Actor: t.Actor(), Kind: t.Kind(), Prev: w.snap.Digest}
	meta := commit.Meta{Run: rec.Run, Revision: rec.Revision, At: rec.At, Actor: rec.Actor, Kind: rec.Kind}
	for _, e := range events {
		raw, err := cursor.EncodeEvent(e)
		if err != nil {
			return err
		}
		rec.Events = append(rec.Events, json.RawMessage(raw))
		state = runner.Machine().Evolve(state, meta, e)
	}
	line, digest, err := journal.Encode(rec)
	if err != nil {
		return err
	}
	w.snap.State, w.snap.Revision, w.snap.Digest = state, rec.Revision, digest
	if w.buf = append(w.buf, line...); len(w.buf) < 1<<20 {
		return nil
	}
	return w.flush()
}

func (w *writer) flush() error {
	_, err := w.file.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

func newTokens() cursor.Tokens { return cursor.Tokens{First: ulid.Make()} }
