package runner

import (
	"time"

	"github.com/spec-kitty/step-runner/host/sandbox"
)

// PluginGC is what was dropped from the compilation cache, or would be.
type PluginGC struct {
	Schema  int          `json:"schema"`
	Folder  *string      `json:"folder"` // of the cache; null: there is none yet
	Keep    int64        `json:"keep"`   // bytes that code which is not pinned here may have
	DryRun  bool         `json:"dry_run"`
	Dropped []PluginCode `json:"dropped"` // last used first
	Kept    []PluginCode `json:"kept"`    // the same
}

// PluginCode is the machine code of one module.
type PluginCode struct {
	SHA256 string `json:"sha256"` // of the module
	Build  string `json:"build"`  // the version of the program that made and can use it
	Bytes  int64  `json:"bytes"`
	Used   string `json:"used"` // the last call with it, within an hour
	Pinned bool   `json:"pinned"`
}

// Collect drops compiled code that was not used for longest, of all of this
// user's projects, until what is left has at most keep bytes. Code of this build
// that the project pins stays, whatever its size; outside of a project nothing is
// pinned. Runs are not looked at: a plugin that one has frozen is compiled again
// when it is called. With dry nothing is dropped.
func (k *Kit) Collect(keep int64, dry bool) (PluginGC, error) {
	pins, err := k.pins()
	if err != nil {
		return PluginGC{}, err
	}
	found, err := k.host.Collect(pins, keep, dry)
	if err != nil {
		return PluginGC{}, fail(CodeNotRecorded, "mend the folder, or remove it: it holds nothing that is not made again", "the cache of compiled plugins: %v", err)
	}
	return PluginGC{
		Schema: Schema, Folder: text(found.Dir), Keep: keep, DryRun: dry,
		Dropped: codesOf(found.Dropped, pins), Kept: codesOf(found.Kept, pins),
	}, nil
}

// pins are the digests that the project's configuration pins. A configuration
// that cannot be read is an error: what it pins would go.
func (k *Kit) pins() (map[string]bool, error) {
	pins := map[string]bool{}
	if k.root == "" {
		return pins, nil
	}
	cfg, err := k.config()
	if err != nil {
		return nil, err
	}
	for _, c := range cfg.Plugins {
		pins[c.SHA256] = true
	}
	return pins, nil
}

func codesOf(found []sandbox.Compiled, pins map[string]bool) []PluginCode {
	out := []PluginCode{}
	for _, c := range found {
		out = append(out, PluginCode{SHA256: c.SHA256, Build: c.Build, Bytes: c.Bytes, Used: c.Used.UTC().Format(time.RFC3339), Pinned: pins[c.SHA256]})
	}
	return out
}
