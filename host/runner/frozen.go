package runner

import (
	"context"
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
	return files, nil
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
