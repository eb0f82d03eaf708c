package runner

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// runReader is what is needed of a run to look through it.
type runReader = commit.Reader[cursor.State, cursor.Event]

// frozenFiles are the files that a run froze, at its start and at each
// migration, by name, each with the SHA-256 that its records say. With an error
// they are those of the records in front of what cannot be read.
func frozenFiles(ctx context.Context, store runReader) (map[string]string, error) {
	files := map[string]string{}
	err := store.Records(ctx, 1, func(rec commit.Record[cursor.Event]) error {
		for _, e := range rec.Events {
			switch e := e.Event.(type) {
			case cursor.Started:
				addFrozen(store, files, firstNames(), e.Definition, e.Index, e.Grants, e.Plugins)
				addCommands(files, e.Commands)
			case cursor.Migrated:
				addFrozen(store, files, migratedNames(e.Definition, e.Grants), e.Definition, e.Index, e.Grants, e.Plugins)
				addCommands(files, e.Commands)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return files, errors.New("the records cannot be read: " + err.Error())
	case len(files) == 0:
		return nil, errors.New("the first record starts no run")
	}
	return files, nil
}

func addFrozen(store runReader, files map[string]string, names frozenNames, definition, index, grants string, plugins map[string]string) {
	files[names.definition], files[names.index], files[names.plugins] = definition, index, grants
	for _, sum := range plugins {
		files[blobWasm+sum+".wasm"] = sum
	}
	addBundles(store, names.plugins, grants, files)
}

// addCommands adds what may be run and written, where something asks for consent.
func addCommands(files map[string]string, digest string) {
	if digest != "" {
		files[commandsBlob(digest)] = digest
	}
}

// addBundles adds the plugins' own folders, whose digests stand among the grants.
// Grants that are not what the run froze name none: they are damage by themselves.
func addBundles(store runReader, name, grants string, files map[string]string) {
	raw, err := blobOf(store, name)
	if err != nil || hexSum(raw) != grants {
		return
	}
	var all map[string]frozenPlugin
	if json.Unmarshal(raw, &all) != nil {
		return
	}
	for _, one := range all {
		if one.DirSum != "" {
			files[one.bundleBlob()] = one.DirSum
		}
	}
}

// frozenProblem is what is wrong with a frozen file; file is "" where the records do not
// say which there are.
type frozenProblem struct{ file, why string }

// frozenProblems holds the frozen files against what the records say of them. told:
// that the records cannot be read to their end is known.
func frozenProblems(ctx context.Context, store runReader, told bool) []frozenProblem {
	wanted, err := frozenFiles(ctx, store)
	var problems []frozenProblem
	if err != nil && !told {
		problems = append(problems, frozenProblem{why: err.Error()})
	}
	for name, sum := range wanted {
		raw, err := blobOf(store, name)
		switch {
		case err != nil:
			problems = append(problems, frozenProblem{name, name + " cannot be read: " + err.Error()})
		case hexSum(raw) != sum:
			problems = append(problems, frozenProblem{name, name + " is not what the run froze"})
		}
	}
	slices.SortFunc(problems, func(a, b frozenProblem) int { return strings.Compare(a.why, b.why) })
	return problems
}
