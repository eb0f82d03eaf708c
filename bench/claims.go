package main

import (
	"fmt"
	"path/filepath"

	"github.com/oklog/ulid/v2"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/mission"
)

// claimed is a run whose one step works on packages: claims take them and give
// them back.
type claimed struct {
	root, slug string
	state      []byte // its state.json once all agents hold something
	line       []byte // a record
}

const agents = 8

// claimFacts are what claims rely on: two packages for each agent.
func claimFacts() cursor.Facts {
	step := mission.Step{ID: "implement", Action: "implement", Packages: &mission.PackageRule{
		Take: []mission.Lane{mission.Planned}, Claim: mission.InProgress, Success: mission.ForReview,
		Failed: mission.Planned, Until: []mission.Lane{mission.ForReview},
	}}
	f := cursor.Facts{Def: &mission.Definition{Key: "claims", Name: "claims", Version: "1.0.0", Steps: []mission.Step{step}}, Source: cursor.Journal}
	for i := range 2 * agents {
		f.Packages = append(f.Packages, cursor.PackageFact{ID: fmt.Sprintf("WP%02d", i+1), Title: fmt.Sprintf("Package %d", i+1)})
	}
	return f
}

// makeClaimed starts the run and lets every agent claim once.
func (b *bed) makeClaimed(slug string) (c claimed, err error) {
	c = claimed{root: b.path("claims"), slug: slug}
	facts := claimFacts()
	runs := newCatalog(c.root, facts, commit.Options{Disk: unsynced()})
	id := ulid.Make().String()
	store, _, err := runs.Start(b.ctx, slug, commit.New[cursor.State, cursor.Facts, cursor.Event]{
		ID: id, First: cursor.Start{Who: "bench", Run: id, Mission: slug, Type: "claims", Def: facts.Def, Tokens: newTokens()},
	})
	if err != nil {
		return c, err
	}
	var held []outcome
	for i := range agents {
		out, err := store.Commit(b.ctx, claim(agentName(i)))
		if err != nil {
			return c, err
		}
		held = append(held, out)
	}
	if c.state, c.line, err = sizes(filepath.Join(c.root, "runs", id)); err != nil {
		return c, err
	}
	for i := range agents {
		if _, err := store.Commit(b.ctx, giveBack(agentName(i), held[i].State)); err != nil {
			return c, err
		}
	}
	return c, store.Close()
}

func agentName(i int) string { return fmt.Sprintf("agent-%d", i) }

func claim(name string) cursor.Ask {
	return cursor.Ask{Who: name, By: cursor.Holder{Agent: name}, Tokens: newTokens()}
}

func giveBack(name string, s cursor.State) cursor.Release {
	return cursor.Release{Who: name, Token: s.Held(cursor.Holder{Agent: name})[0].Token}
}
