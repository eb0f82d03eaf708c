package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/runner"
)

// agent holds every issue of the projects.
const agent = "claude:opus:implementer"

// project is a generated one, open in this process without syncs. Programs
// that are measured open it themselves.
type project struct {
	root string
	lib  *runner.Project
}

// missionType is a definition to generate: steps in a row.
type missionType struct {
	name  string
	steps int
	guard string // one more guard of each step, in TOML
}

// makeProject writes a project: its configuration, and each definition into a
// file of its own, dated long ago, so that its time alone tells that it did not
// change.
func (b *bed) makeProject(name, cfg string, types ...missionType) (*project, error) {
	root := b.path(name)
	if err := os.MkdirAll(filepath.Join(root, "kitty-specs"), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(root, config.FileName), []byte(cfg), 0o644); err != nil {
		return nil, err
	}
	old := time.Now().Add(-time.Hour)
	for _, t := range types {
		path := filepath.Join(root, t.name+".toml")
		if err := os.WriteFile(path, []byte(t.definition()), 0o644); err != nil {
			return nil, err
		}
		if err := os.Chtimes(path, old, old); err != nil {
			return nil, err
		}
	}
	lib, err := b.open(root)
	return &project{root: root, lib: lib}, err
}

func (t missionType) definition() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[mission]\nkey = %q\nname = \"Made by bench\"\nversion = \"1.0.0\"\n", t.name)
	guards := `{ artifact = "spec.md", min_bytes = 20 }`
	if t.guard != "" {
		guards += ", " + t.guard
	}
	for i := range t.steps {
		fmt.Fprintf(&b, `
[[steps]]
id = "step-%05d"
title = "Step %d"
description = "Read the specification and do part %d of it"
profile = "developer"
prompt = "Do part %d of {{.Mission.Slug}}, attempt {{.Step.Attempt}}. The specification is {{.Mission.Dir}}/spec.md."
guards = [%s]
`, i, i, i, i, guards)
	}
	return b.String()
}

// smallConfig is the configuration of a project with nothing but missions.
func smallConfig(types ...string) string {
	var b strings.Builder
	b.WriteString("schema = 1\n")
	for _, t := range types {
		fmt.Fprintf(&b, "\n[missions.%s]\nfile = \"%s.toml\"\n", t, t)
	}
	return b.String()
}

// spec is every mission's specification; the guards and spec-lint allow it.
const spec = `# Feature: greet a user

## User scenarios & testing

### User story 1 - Say hello (Priority: P1)

As a visitor, I want to be greeted by name, so that I feel welcome.

## Requirements

- **FR-001**: The program MUST print the name.

## Success criteria

- **SC-001**: A greeting takes less than a second.
`

// start is begin and a first report, which keeps what later ones read: the
// verdict on the definition's file. It is for runs that are measured.
func (p *project) start(ctx context.Context, slug, missionType string) error {
	if err := p.begin(ctx, slug, missionType); err != nil {
		return err
	}
	return p.report(ctx, slug)
}

// begin makes a mission with its specification and starts a run of it, whose
// first step is handed out.
func (p *project) begin(ctx context.Context, slug, missionType string) error {
	caller := runner.Caller{Agent: agent}
	if _, err := p.lib.Start(ctx, runner.StartRequest{Slug: slug, Type: missionType, Caller: caller}); err != nil {
		return err
	}
	path := filepath.Join(p.lib.Config.SpecsDir(), slug, "spec.md")
	return os.WriteFile(path, []byte(spec), 0o644)
}

// startMany starts n runs, of which the program that is measured will use those
// that it needs for all its calls, each so often.
func (b *bed) startMany(p *project, missionType string, slug func(int) string, n, each int) error {
	for i := range n {
		start := p.begin
		if i*each < b.nextCalls() {
			start = p.start
		}
		if err := start(b.ctx, slug(i), missionType); err != nil {
			return err
		}
	}
	return nil
}

// report completes the current step.
func (p *project) report(ctx context.Context, slug string) error {
	a, err := p.lib.Next(ctx, runner.Request{Mission: slug, Caller: runner.Caller{Agent: agent}, Result: cursor.Success})
	if err == nil && !a.Recorded {
		err = fmt.Errorf("%s: not recorded: %s: %v", slug, a.Kind, deref(a.Reason))
	}
	return err
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// runDir is the folder of a mission's run.
func (p *project) runDir(ctx context.Context, slug string) (string, error) {
	m, err := lanes.Resolve(p.lib.Config.SpecsDir(), slug)
	if err != nil {
		return "", err
	}
	store, err := p.runs(unsynced()).Lookup(ctx, m.Slug)
	if err != nil {
		return "", err
	}
	return filepath.Join(p.lib.Config.StateRoot(), "runs", store.ID()), nil
}

// sizes are a state file and the last record of a run.
func (p *project) sizes(ctx context.Context, slug string) (state, line []byte, err error) {
	if err := p.report(ctx, slug); err != nil {
		return nil, nil, err
	}
	dir, err := p.runDir(ctx, slug)
	if err != nil {
		return nil, nil, err
	}
	return sizes(dir)
}

// sizes reads the state file and the last record in a run's folder.
func sizes(dir string) (state, line []byte, err error) {
	state, err1 := os.ReadFile(filepath.Join(dir, "state.json"))
	journal, err2 := os.ReadFile(filepath.Join(dir, "run.events.jsonl"))
	lines := strings.SplitAfter(strings.TrimSpace(string(journal)), "\n")
	return state, []byte(lines[len(lines)-1] + "\n"), errors.Join(err1, err2)
}

func sha(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
