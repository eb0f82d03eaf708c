package runner

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// PluginInspection is what can be told of a module.
type PluginInspection struct {
	Schema   int             `json:"schema"`
	Name     string          `json:"name"`
	File     string          `json:"file"` // absolute
	Size     int             `json:"size"` // bytes
	SHA256   string          `json:"sha256"`
	Pinned   *string         `json:"sha256_pinned"` // null for a file
	Dir      *PluginFolder   `json:"dir"`           // null: it has no folder of its own
	Problem  *string         `json:"problem"`       // why it is no plugin of ABI v1
	Imports  []ModuleItem    `json:"imports"`
	Exports  []ModuleItem    `json:"exports"`
	Memory   int64           `json:"memory"`   // bytes at the start
	Describe json.RawMessage `json:"describe"` // its answer; null where it gave none
	Failure  *PluginFailure  `json:"failure"`  // of describe
	Log      string          `json:"log"`      // what it wrote to stderr when it described itself
}

// ModuleItem is one import or export; Module is "" of an export.
type ModuleItem struct {
	Module string `json:"module"`
	Name   string `json:"name"`
	Kind   string `json:"kind"`
}

// PluginFailure is how a call ended that gave no answer.
type PluginFailure struct {
	Code   string  `json:"code"` // the sub-code
	Detail string  `json:"detail"`
	Exit   *uint32 `json:"exit"` // with exited
}

func (e ended) failure() *PluginFailure {
	if e.code == "" {
		return nil
	}
	f := &PluginFailure{Code: string(e.code), Detail: e.detail}
	if e.code == sandbox.Exited {
		f.Exit = &e.Failure.Exit
	}
	return f
}

// Inspect tells what a module has and asks it to describe itself, with no files.
func (k *Kit) Inspect(ctx context.Context, target string) (PluginInspection, error) {
	m, err := k.find(target)
	if err != nil {
		return PluginInspection{}, err
	}
	found := sandbox.Inspect(m.wasm)
	out := PluginInspection{
		Schema: Schema, Name: m.name, File: m.file, Size: len(m.wasm), SHA256: m.sum(), Problem: text(found.Problem),
		Imports: items(found.Imports), Exports: items(found.Exports), Memory: found.Memory, Describe: json.RawMessage("null"),
	}
	if m.conf != nil {
		out.Pinned = text(m.conf.SHA256)
	}
	out.Dir = k.folder(m)
	if found.Problem != "" {
		return out, nil
	}
	e, err := k.call(ctx, m, sandbox.Call{}, abi.Describe, nil)
	if err != nil {
		return out, err
	}
	out.Log = shownText(e.Log)
	if out.Failure = e.failure(); out.Failure == nil {
		out.Describe = e.answer
	}
	return out, nil
}

// folder tells the folder that a module was read with.
func (k *Kit) folder(m module) *PluginFolder {
	if m.own == nil {
		return nil
	}
	f := &PluginFolder{Folder: k.beside.Dir}
	if m.conf != nil {
		cfg, err := k.config()
		if err != nil {
			return nil
		}
		f.Folder, f.Pinned = cfg.OwnDir(*m.conf), text(m.conf.DirSum)
	} else if abs, err := filepath.Abs(f.Folder); err == nil {
		f.Folder = abs
	}
	f.see(m.own)
	return f
}

func items(found []sandbox.Item) []ModuleItem {
	all := make([]ModuleItem, 0, len(found))
	for _, i := range found {
		all = append(all, ModuleItem(i))
	}
	return all
}
