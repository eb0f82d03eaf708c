package runner

import (
	"encoding/json"

	"github.com/spec-kitty/step-runner/host/config"
)

// pluginDriftCode is the warning of a plugin that is configured otherwise now.
const pluginDriftCode = "plugin_drift"

// pluginsDrift warns where the configuration has another pin, other grants or
// limits for a plugin than the run froze. That the frozen grants cannot be read is
// told by what needs them.
func (r *reading) pluginsDrift() {
	if r.state.Grants == noGrants() {
		return
	}
	frozen, err := r.run.frozenGrants(r.state)
	if err != nil {
		return
	}
	for _, name := range sortedKeys(frozen) {
		now, ok := r.p.Config.Plugins[name]
		if what := frozen[name].changed(now, ok); what != "" {
			r.warn(pluginDriftCode, "plugin "+name+": "+what+" after this run began; the run goes on with what it froze. "+r.takenOver())
		}
	}
}

// noGrants is the digest of what a run without plugins freezes of them: most runs
// read no file for this.
func noGrants() string { return hexSum([]byte("{}")) }

// changed says what the configuration has otherwise; "" where nothing.
func (f frozenPlugin) changed(c config.Plugin, configured bool) string {
	now := freezePlugin(c)
	switch {
	case !configured:
		return "its table was taken out of " + config.FileName
	case now.SHA256 != f.SHA256:
		return "its sha256 in " + config.FileName + " was changed"
	case now.DirSum != f.DirSum:
		return "its dir_sha256 in " + config.FileName + " was changed"
	case !alike(now, f):
		return "its grants or limits in " + config.FileName + " were changed"
	}
	return ""
}

// alike compares as records do, in which an empty list is none.
func alike(a, b frozenPlugin) bool {
	one, err := json.Marshal(a)
	other, failed := json.Marshal(b)
	return err == nil && failed == nil && string(one) == string(other)
}
