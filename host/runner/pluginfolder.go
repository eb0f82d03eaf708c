package runner

import (
	"github.com/spec-kitty/step-runner/host/bundle"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/sandbox"
)

// PluginFolder is a plugin's own folder, which it is shown at /plugin.
type PluginFolder struct {
	Folder  string  `json:"folder"` // absolute
	Pinned  *string `json:"sha256_pinned"`
	Found   *string `json:"sha256_found"` // of its files, packed
	Files   *int    `json:"files"`
	Size    *int    `json:"size"`    // bytes, packed
	Problem *string `json:"problem"` // why it cannot be shown
}

// packOwn packs a plugin's own folder as it is now; nil where it has none.
func packOwn(cfg *config.Config, c config.Plugin) ([]byte, error) {
	dir := cfg.OwnDir(c)
	if dir == "" {
		return nil, nil
	}
	own, err := cfg.PackOwn(c)
	if err != nil {
		return nil, placed(fail(CodeDefinitionInvalid, "mend the folder, or plugins."+c.Name+".dir in "+config.FileName,
			"the folder of plugin %s cannot be shown to it: %v", c.Name, err), dir, 0)
	}
	return own, nil
}

// ownFolder is packOwn for bytes that are to be run: they must fit the pin.
func ownFolder(cfg *config.Config, c config.Plugin) ([]byte, error) {
	own, err := packOwn(cfg, c)
	if err != nil || own == nil {
		return nil, err
	}
	if sum := bundle.Sum(own); sum != c.DirSum {
		return nil, placed(fail(CodeDefinitionInvalid, "if you trust these files: `spec-kitty plugin pin "+c.Name+"`",
			"plugin %s: %s: the files of its folder have %s, the configuration pins %s", c.Name, sandbox.WrongSHA256, sum, c.DirSum), cfg.OwnDir(c), 0)
	}
	return own, nil
}

// folderOf tells how a plugin's own folder stands; nil where it has none.
func folderOf(cfg *config.Config, c config.Plugin) *PluginFolder {
	dir := cfg.OwnDir(c)
	if dir == "" {
		return nil
	}
	f := &PluginFolder{Folder: dir, Pinned: text(c.DirSum)}
	own, err := cfg.PackOwn(c)
	if err != nil {
		f.Problem = text(err.Error())
		return f
	}
	f.see(own)
	return f
}

// see fills in what a packed folder tells.
func (f *PluginFolder) see(own []byte) {
	files, err := bundle.Unpack(own)
	if err != nil {
		f.Problem = text(err.Error())
		return
	}
	sum, count, size := bundle.Sum(own), len(files), len(own)
	f.Found, f.Files, f.Size = &sum, &count, &size
}

// fits tells whether the folder is the one that was pinned; no folder always is.
func (f *PluginFolder) fits() bool {
	return f == nil || f.Found != nil && f.Pinned != nil && *f.Found == *f.Pinned
}
