package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The project that `next` is measured on.
const (
	largeSteps  = 60
	largeRuns   = 400
	configLines = 60
)

// Its mission types: without a plugin, and with one at each step.
const (
	plainType  = "plain"
	linted     = "linted"
	specLint   = "spec-lint"
	lintedRuns = 20 // of largeRuns
)

func plainSlug(n int) string  { return fmt.Sprintf("%03d-plain", n) }
func lintedSlug(n int) string { return fmt.Sprintf("%03d-linted", n) }

// makeLarge makes it and starts its runs.
func (b *bed) makeLarge() (*project, error) {
	wasm, err := os.ReadFile(filepath.Join(b.src, "examples", "plugins", specLint, specLint+".wasm"))
	if err != nil {
		return nil, err
	}
	p, err := b.makeProject("large", largeConfig(sha(wasm)),
		missionType{name: plainType, steps: largeSteps},
		missionType{name: linted, steps: largeSteps, guard: fmt.Sprintf("{ plugin = %q, with = { min_stories = 1 } }", specLint)})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(p.root, specLint+".wasm"), wasm, 0o644); err != nil {
		return nil, err
	}
	if err := b.startMany(p, plainType, plainSlug, largeRuns-lintedRuns, perMission); err != nil {
		return nil, err
	}
	if err := b.startMany(p, linted, lintedSlug, lintedRuns, perMission); err != nil {
		return nil, err
	}
	flush()
	return p, nil
}

// largeConfig is a configuration of configLines lines, as a project with some
// plugins has it. The digest is that of the one that is used.
func largeConfig(digest string) string {
	lines := []string{
		"# Made by bench.", "schema = 1", "",
		"[project]", `name = "large"`, "",
		"[runtime]", `dir = ".kittify/step-runner"`, `specs_dir = "kitty-specs"`, `lock_timeout = "10s"`, "require_token = false", `holder = "holder"`, "",
		"[work_packages]", `source = "auto"`, "",
		"[missions." + plainType + "]", `file = "` + plainType + `.toml"`, "",
		"[missions." + linted + "]", `file = "` + linted + `.toml"`,
	}
	for i := 0; len(lines)+8 <= configLines; i++ {
		name := specLint
		if i > 0 {
			name = fmt.Sprintf("%s-%d", specLint, i)
		}
		lines = append(lines, "", "[plugins."+name+"]", `wasm = "`+specLint+`.wasm"`, `sha256 = "`+digest+`"`,
			`read = ["{mission}"]`, `memory = "64MiB"`, `timeout = "10s"`, `output = "1MiB"`)
	}
	for len(lines) < configLines {
		lines = append(lines, fmt.Sprintf("# Line %d.", len(lines)+1))
	}
	return strings.Join(lines, "\n") + "\n"
}
