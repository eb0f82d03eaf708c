package runner

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/mission"
)

// vouched are the frozen files that a run's records name, with their SHA-256:
// those of its start, and those of each migration.
func vouched(ctx context.Context, store Store) (map[string]string, error) {
	files := map[string]string{}
	err := store.Records(ctx, 1, func(rec commit.Record[cursor.Event]) error {
		for _, e := range rec.Events {
			switch e := e.Event.(type) {
			case cursor.Started:
				names := frozenFiles{blobDefinition, blobIndex, blobPlugins}
				vouch(files, names, e.Definition, e.Index, e.Grants, e.Plugins)
			case cursor.Migrated:
				vouch(files, migratedFiles(e.Definition, e.Grants), e.Definition, e.Index, e.Grants, e.Plugins)
			}
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = errors.New("the first record starts no run")
	}
	return files, err
}

func vouch(files map[string]string, names frozenFiles, definition, index, grants string, plugins map[string]string) {
	files[names.definition], files[names.index], files[names.plugins] = definition, index, grants
	for _, sum := range plugins {
		files[blobWasm+sum+".wasm"] = sum
	}
}

// frozenProblems holds the frozen files against what the records say of them.
func frozenProblems(ctx context.Context, store Store) []string {
	wanted, err := vouched(ctx, store)
	if err != nil {
		return []string{"the records cannot be read: " + err.Error()}
	}
	r := &run{store: store}
	var problems []string
	for name, sum := range wanted {
		raw, err := r.blob(name)
		switch {
		case err != nil:
			problems = append(problems, name+" cannot be read: "+err.Error())
		case hexSum(raw) != sum:
			problems = append(problems, name+" is not what the run froze")
		}
	}
	slices.Sort(problems)
	return problems
}

// isIndex tells whether a frozen file is an index of a definition: a view, which
// is made anew.
func isIndex(name string) bool { return strings.HasSuffix(name, blobIndex) }

// mendIndexes makes the indexes anew that are not what the records say, and
// names them.
func mendIndexes(ctx context.Context, store Store) ([]string, error) {
	wanted, err := vouched(ctx, store)
	if err != nil {
		return nil, err
	}
	r := &run{store: store}
	var made []string
	for name, sum := range wanted {
		if !isIndex(name) {
			continue
		}
		raw, err := r.blob(name)
		if err == nil && hexSum(raw) == sum {
			continue
		}
		def, err := r.definition(frozenFiles{definition: strings.TrimSuffix(name, blobIndex) + blobDefinition})
		if err != nil {
			return made, err
		}
		if err := store.PutBlob(name, mission.EncodeIndex(def)); err != nil {
			return made, err
		}
		made = append(made, name)
	}
	slices.Sort(made)
	return made, nil
}
