package runner

import (
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/mission"
)

// The files that a run freezes at its start, beside its journal.
const (
	blobDefinition = "definition.json"  // mission.Definition.Canonical
	blobIndex      = "definition.index" // a view of it, read by position
	blobPlugins    = "plugins.json"     // what the configuration granted them
	blobWasm       = "plugins/"         // + SHA-256 + ".wasm"
	blobBundle     = "plugins/"         // + SHA-256 + ".bundle", a plugin's own folder (host/bundle)
	blobCommands   = "commands/"        // + SHA-256 + ".json": trust.Set.Encode; only where something asks for consent
	blobMigrated   = "frozen/"          // + SHA-256 + "." + one of the first three
)

// frozenNames names what a run goes by. The state says which, never a fixed
// name: a migration freezes other files beside the first ones, which stay for
// the history, under names that are made of their content.
type frozenNames struct{ definition, index, plugins string }

func firstNames() frozenNames { return frozenNames{blobDefinition, blobIndex, blobPlugins} }

func namesOf(s cursor.State) frozenNames {
	if s.Migrated == 0 {
		return firstNames()
	}
	return migratedNames(s.Definition, s.Grants)
}

func migratedNames(definition, grants string) frozenNames {
	return frozenNames{
		definition: blobMigrated + definition + "." + blobDefinition,
		index:      blobMigrated + definition + "." + blobIndex,
		plugins:    blobMigrated + grants + "." + blobPlugins,
	}
}

// view is the definition that the run goes by in a state. It reads the index of
// the frozen definition; where that is missing or wrong the definition itself is
// decoded.
func (r *run) view(s cursor.State) (mission.View, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.views[s.Definition]; ok {
		return v, nil
	}
	v, err := r.openView(s)
	if err != nil {
		return nil, err
	}
	if r.views == nil {
		r.views = map[string]mission.View{}
	}
	r.views[s.Definition] = v
	return v, nil
}

func (r *run) openView(s cursor.State) (mission.View, error) {
	files := namesOf(s)
	blob, err := r.store.Blob(files.index)
	if err == nil {
		index, err := mission.OpenIndex(blob, blob.Size())
		if err == nil && index.Digest() == s.Definition {
			r.indexes = append(r.indexes, blob)
			heal := func() (mission.View, error) { return r.heal(s) }
			return remembered(&healing{View: index, definition: heal}), nil
		}
		blob.Close()
	}
	def, err := r.definition(files, s.Definition)
	if err != nil {
		return nil, err
	}
	r.mend(s)
	return def, nil
}

// heal gives the definition in place of an index that is damaged, which the
// next writer makes anew.
func (r *run) heal(s cursor.State) (mission.View, error) {
	def, err := r.definition(namesOf(s), s.Definition)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mend(s)
	return def, nil
}

// mend notes an index to be made anew. The lock is held.
func (r *run) mend(s cursor.State) {
	if r.stale == nil {
		r.stale = map[string]frozenNames{}
	}
	r.stale[s.Definition] = namesOf(s)
}

// definition decodes a whole frozen definition, which must have this digest: what
// would be steered by other bytes is no run of ours any more.
func (r *run) definition(files frozenNames, digest string) (*mission.Definition, error) {
	raw, err := r.frozenBlob(files.definition, digest)
	if err != nil {
		return nil, err
	}
	def, err := mission.Decode(raw)
	if err != nil {
		return nil, r.damaged(files.definition, err)
	}
	return def, nil
}

// mendIndex makes missing or wrong indexes anew. Only writers call it.
func (r *run) mendIndex() error {
	r.mu.Lock()
	stale := r.stale
	r.stale = nil
	r.mu.Unlock()
	for digest, files := range stale {
		def, err := r.definition(files, digest)
		if err != nil {
			return err
		}
		if err := r.store.PutBlob(files.index, mission.EncodeIndex(def)); err != nil {
			return err
		}
	}
	return nil
}
