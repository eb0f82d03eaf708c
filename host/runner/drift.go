package runner

import (
	"encoding/json"
	"os"
	"strconv"
	"time"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// blobDrift keeps the verdict on the definition's file as it was seen last.
const blobDrift = "drift.json"

// driftVerdict says whether the definition as it stands in the project is the
// one that the run froze. It is kept by sizes and times of the files seen, the
// prompts' too, so that a changed comment is not decoded at every call.
type driftVerdict struct {
	Files  []config.File `json:"files"` // that were read; none: look again
	ReadAt time.Time     `json:"read_at"`
	Digest string        `json:"digest"` // "": the files hold no valid definition
	Shown  string        `json:"shown"`  // the change that a committed call's answer warned of
}

// driftCode is the warning of a changed definition.
const driftCode = "definition_drift"

// drift warns where the project's definition is not the run's any more. The run
// goes on with what it froze. Once an answer that committed something had the
// warning, it does not come again for the same change. It writes nothing;
// rememberDrift does.
func (r *reading) drift() {
	path, err := r.p.Config.DefinitionFile(r.state.Type)
	if err != nil {
		r.warnDrift(driftVerdict{Digest: "no type"}, "the configuration has no mission type "+strconv.Quote(r.state.Type)+" any more; the run goes on with what it froze")
		return
	}
	kept, ok := r.keptVerdict()
	if !ok || !r.p.Config.Unchanged(kept.Files, kept.ReadAt) {
		if _, err := os.Stat(path); err != nil {
			r.warnDrift(driftVerdict{Digest: "no file"}, "the definition cannot be read ("+err.Error()+"); the run goes on with what it froze")
			return
		}
		shown := kept.Shown
		if kept, ok = r.judgeDrift(); ok {
			kept.Shown = shown
			r.verdict = &kept
		}
	}
	if kept.Digest != r.state.Definition {
		r.warnDrift(kept, path+", or a prompt that it names, was changed after this run began; the run goes on with what it froze. "+r.takenOver())
	}
}

// judgeDrift reads the definition. ok is false for a verdict that says nothing of the
// next call: the files were changed a moment ago, or hold no valid definition.
func (r *reading) judgeDrift() (v driftVerdict, ok bool) {
	_, frozen, err := config.LoadMission(r.p.Config, r.state.Type)
	if err != nil {
		return driftVerdict{}, false
	}
	return r.verdictOf(frozen)
}

// verdictOf is the verdict on a definition that was just read. ok is false where the
// files were changed a moment before, so that their times say nothing.
func (r *reading) verdictOf(frozen config.Frozen) (v driftVerdict, ok bool) {
	return driftVerdict{Files: frozen.Files, ReadAt: frozen.ReadAt, Digest: frozen.Digest}, r.p.Config.Unchanged(frozen.Files, frozen.ReadAt)
}

// drifts warns of all that the project has otherwise than the run froze it. A run that
// is over has nothing to go on with.
func (r *reading) drifts() {
	if r.state.Phase != cursor.Running {
		return
	}
	r.drift()
	r.commandsDrift()
	r.pluginsDrift()
}

// isDrift tells the warnings that a migration makes untrue.
func isDrift(w Warning) bool {
	return w.Code == driftCode || w.Code == commandsDriftCode || w.Code == pluginDriftCode
}

// migrateLine lists what going over to the project's present state would change.
func (r *reading) migrateLine() string {
	return "spec-kitty run migrate" + r.p.rootFlag() + " " + quote(r.mission.Slug) + " --dry-run"
}

// takenOver says how a change is taken over.
func (r *reading) takenOver() string {
	return "`" + r.migrateLine() + "` lists what going over to it would change"
}

// warnDrift warns of a change that was not shown yet. The next write keeps that
// it was.
func (r *reading) warnDrift(v driftVerdict, message string) {
	change := "change " + v.Digest
	if kept, ok := r.keptVerdict(); ok && kept.Shown == change && !r.whole {
		return
	}
	r.warn(driftCode, message)
	v.Shown = change
	r.verdict = &v
}

// settleDrift keeps the verdict of a run that was just started, so that its
// first calls need not decode the definition again.
func (r *reading) settleDrift(frozen config.Frozen) {
	if v, ok := r.verdictOf(frozen); ok {
		r.verdict = &v
		r.rememberDrift()
	}
}

func (r *reading) keptVerdict() (driftVerdict, bool) {
	var v driftVerdict
	raw, err := r.run.blob(blobDrift)
	return v, err == nil && json.Unmarshal(raw, &v) == nil
}

// rememberDrift keeps a new verdict. Only writers call it, and a verdict that
// cannot be kept is made again by the next call.
func (r *reading) rememberDrift() {
	if r.verdict == nil {
		return
	}
	if raw, err := json.Marshal(r.verdict); err == nil {
		if _, err := r.run.store.Publish(blobDrift, raw); err == nil {
			r.verdict = nil
		}
	}
}
