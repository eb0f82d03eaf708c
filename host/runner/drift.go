package runner

import (
	"os"
	"strconv"
	"time"

	"encoding/json"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// blobDrift keeps the verdict on the definition's file as it was seen last.
const blobDrift = "drift.json"

// driftVerdict says whether the definition as it stands in the project is the
// one that the run froze. It is kept by size and time of the file seen, so that
// a changed comment is not decoded at every call.
type driftVerdict struct {
	Size    int64  `json:"size"`
	ModTime string `json:"mod_time"`
	Digest  string `json:"digest"` // "": the file holds no valid definition
	Shown   string `json:"shown"`  // the change that a committed call's answer warned of
}

// driftCode is the warning of a changed definition.
const driftCode = "definition_drift"

// unsettled is how young a file may be before its time says nothing: a second
// change within the clock's grain leaves the time as it was.
const unsettled = 2 * time.Second

// drift warns where the project's definition is not the run's any more. The run
// goes on with what it froze. Once an answer that committed something had the
// warning, it does not come again for the same change. It writes nothing;
// rememberDrift does.
func (r *reading) drift() {
	if r.state.Phase != cursor.Running {
		return // it keeps what it went by
	}
	path, err := r.p.Config.DefinitionFile(r.state.Type)
	if err != nil {
		r.warnDrift(driftVerdict{Size: -1, Digest: "no type"}, "the configuration has no mission type "+strconv.Quote(r.state.Type)+" any more; the run goes on with what it froze")
		return
	}
	info, err := os.Stat(path)
	if err != nil {
		r.warnDrift(driftVerdict{Size: -1, Digest: "no file"}, "the definition cannot be read ("+err.Error()+"); the run goes on with what it froze")
		return
	}
	seen := driftVerdict{Size: info.Size(), ModTime: info.ModTime().UTC().Format(time.RFC3339Nano)}
	kept, ok := r.keptVerdict()
	if !ok || kept.Size != seen.Size || kept.ModTime != seen.ModTime {
		seen.Shown, kept = kept.Shown, seen
		if _, frozen, err := config.LoadMission(r.p.Config, r.state.Type); err == nil {
			kept.Digest = frozen.Digest
		}
		if r.p.now().Sub(info.ModTime()) > unsettled {
			r.verdict = &kept
		} else {
			kept.Size = -1 // its time says nothing yet: look again
		}
	}
	if kept.Digest != r.state.Definition {
		r.warnDrift(kept, path+" was changed after this run began; the run goes on with what it froze. "+r.takenOver())
	}
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
	file := frozen.Files[0]
	if frozen.ReadAt.Sub(file.ModTime) > unsettled {
		r.verdict = &driftVerdict{Size: file.Size, ModTime: file.ModTime.UTC().Format(time.RFC3339Nano), Digest: frozen.Digest}
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
