package runner

import (
	"context"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// isIndex tells whether a frozen file is an index of a definition: a view, which
// is made anew.
func isIndex(name string) bool { return strings.HasSuffix(name, blobIndex) }

// mendIndexes makes the indexes anew that are not what the records say, and
// names them.
func mendIndexes(ctx context.Context, store Store) ([]string, error) {
	wanted, err := frozenFiles(ctx, store)
	if err != nil {
		return nil, err
	}
	r := &run{store: store}
	var made []string
	for name, sum := range wanted {
		if !isIndex(name) {
			continue
		}
		if _, err := r.frozenBlob(name, sum); err == nil {
			continue
		}
		of := strings.TrimSuffix(name, blobIndex) + blobDefinition
		def, err := r.definition(frozenNames{definition: of}, wanted[of])
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
