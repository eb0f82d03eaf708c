package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spec-kitty/step-runner/host/runner"
)

// versionDocument is what --version prints with --json.
type versionDocument struct {
	Schema   int    `json:"schema"`
	Version  string `json:"version"`
	Revision string `json:"revision"` // of the source; "" where it is not known
	Go       string `json:"go"`
}

func (a *app) printVersion() error {
	v := versionDocument{Schema: runner.Schema, Version: version, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v.Version == "" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	if v.Version == "" {
		v.Version = "(devel)"
	}
	return a.print(v, func() string { return "spec-kitty " + v.Version + "\n" })
}
