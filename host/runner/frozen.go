package runner

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// runReader is what is needed of a run to look through it.
type runReader = commit.Reader[cursor.State, cursor.Event]

// frozenFiles are the files that a run froze, by name, each with the SHA-256
// that its records say.
func frozenFiles(ctx context.Context, store runReader) (map[string]string, error) {
	var started *cursor.Started
	stop := errors.New("found")
	err := store.Records(ctx, 1, func(rec commit.Record[cursor.Event]) error {
		for _, e := range rec.Events {
			if s, ok := e.Event.(cursor.Started); ok {
				started = &s
			}
		}
		return stop
	})
	if started == nil {
		if err != nil && !errors.Is(err, stop) {
			return nil, errors.New("the first record cannot be read: " + err.Error())
		}
		return nil, errors.New("the first record starts no run")
	}
	files := map[string]string{blobDefinition: started.Definition, blobIndex: started.Index, blobPlugins: started.Grants}
	for _, sum := range started.Plugins {
		files[blobWasm+sum+".wasm"] = sum
	}
	addBundles(store, started.Grants, files)
	return files, nil
}

// addBundles adds the plugins' own folders, whose digests stand among the grants.
// Grants that are not what the run froze name none: they are damage by themselves.
func addBundles(store runReader, grants string, files map[string]string) {
	raw, err := blobOf(store, blobPlugins)
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

// frozenProblems holds the frozen files against what the records say of them.
func frozenProblems(ctx context.Context, store runReader) []string {
	wanted, err := frozenFiles(ctx, store)
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	for name, sum := range wanted {
		raw, err := blobOf(store, name)
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
