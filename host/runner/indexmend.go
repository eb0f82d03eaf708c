package runner

import (
	"context"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// indexWrong is an index of a definition that is missing, or not its.
const indexWrong = "definition_index"

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
		index, err := r.indexAnew(name, wanted)
		if err != nil {
			return made, err
		}
		if err := store.PutBlob(name, index); err != nil {
			return made, err
		}
		made = append(made, name)
	}
	slices.Sort(made)
	return made, nil
}

// indexAnew is an index made of the definition that was frozen with it.
func (r *run) indexAnew(name string, wanted map[string]string) ([]byte, error) {
	of := strings.TrimSuffix(name, blobIndex) + blobDefinition
	def, err := r.definition(frozenNames{definition: of}, wanted[of])
	if err != nil {
		return nil, err
	}
	return mission.EncodeIndex(def), nil
}
