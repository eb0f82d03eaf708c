package runner

import (
	"encoding/json"
	"maps"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

// callFolder holds the bytes behind the digests of calls: requests, and lists of
// files seen. They are views like prompts: published after the commit, not
// synced, told by their names.
const callFolder = "calls/"

// witness is what an evaluation saw and called.
type witness struct {
	facts map[string]string // digests of what was read outside of the run
	calls []cursor.Call
	views map[string][]byte // by digest
}

func newWitness() *witness {
	return &witness{facts: map[string]string{}, views: map[string][]byte{}}
}

// add takes over what another one saw, after its own.
func (w *witness) add(other *witness) {
	maps.Copy(w.facts, other.facts)
	maps.Copy(w.views, other.views)
	w.calls = append(w.calls, other.calls...)
}

// view keeps bytes by their digest.
func (w *witness) view(raw []byte) string {
	sum := hexSum(raw)
	w.views[sum] = raw
	return sum
}

// pluginCall puts down one answered call of a plugin.
func (w *witness) pluginCall(name string, frozen frozenPlugin, verb string, round int, request []byte, a sandbox.Answer) error {
	c := cursor.Call{
		Kind: cursor.CallPlugin, Name: name, SHA256: frozen.SHA256, Dir: frozen.DirSum, Verb: verb, Round: round,
		Request: w.view(request), Answer: hexSum(a.Stdout),
	}
	if len(a.Read) > 0 {
		files, err := json.Marshal(a.Read)
		if err != nil {
			return err
		}
		c.Files = w.view(files)
	}
	w.calls = append(w.calls, c)
	return nil
}

// publishCalls writes the bytes behind the calls of a report that was just
// committed.
func (r *reading) publishCalls(t step) {
	for sum, raw := range t.views {
		name := callFolder + sum + ".json"
		if _, there := r.run.store.Locate(name); there {
			continue
		}
		if _, err := r.run.store.Publish(name, raw); err != nil {
			r.warn(commit.WarnViewNotWritten, "what a plugin was asked could not be kept: "+err.Error())
			return
		}
	}
}
