package main

import (
	"encoding/json"
	"fmt"
)

// perMission is how often a mission of largeSteps steps is advanced before the
// next one's turn comes.
const perMission = largeSteps - 10

// productProgram is the program that all this is about.
const productProgram = "./cmd/spec-kitty"

// nextProgram is one `next` that completes a step of the mission that slug
// names for the n-th call.
func (b *bed) nextProgram(name string, p *project, slug func(n int) string) (*program, error) {
	path, err := b.build(productProgram)
	if err != nil {
		return nil, err
	}
	out := &program{name: name, path: path}
	out.args = func(n int) []string { return nextArgs(p, slug(n), agent) }
	out.env = func(int) []string { return b.cacheEnv("cache") }
	out.settle = func(int) error { return out.advanced() }
	return out, nil
}

func nextArgs(p *project, slug, agent string) []string {
	return []string{"next", "--root", p.root, "--mission", slug, "--agent", agent, "--result", "success", "--json"}
}

// advanced wants the last answer to be the next step.
func (p *program) advanced() error {
	printed, err := p.printed()
	if err != nil {
		return err
	}
	var a struct {
		Kind     string            `json:"kind"`
		Recorded bool              `json:"recorded"`
		Warnings []json.RawMessage `json:"warnings"`
	}
	if err := json.Unmarshal(printed, &a); err != nil {
		return err
	}
	if a.Kind != "step" || !a.Recorded || len(a.Warnings) > 0 {
		return fmt.Errorf("%s: no clean advance: %s", p.name, printed)
	}
	return nil
}

func versionRows(b *bed) ([]row, error) {
	path, err := b.build(productProgram)
	if err != nil {
		return nil, err
	}
	version := &program{name: "--version", path: path, args: func(int) []string { return []string{"--version"} }}
	empty, err := b.emptyProgram()
	if err != nil {
		return nil, err
	}
	if err := b.rounds(b.opts.rounds, version, empty); err != nil {
		return nil, err
	}
	return []row{{Group: "version", What: "spec-kitty --version", Value: version.in(empty), Unit: "E", Bar: 2.5, Kind: atMost,
		Detail: fmt.Sprintf("E = %.2f ms", empty.median())}}, nil
}

func (b *bed) emptyProgram() (*program, error) {
	path, err := b.build("./bench/empty")
	return &program{name: "empty", path: path, args: func(int) []string { return nil }}, err
}

func nextRows(b *bed) ([]row, error) {
	floor, next, err := b.base()
	if err != nil {
		return nil, err
	}
	empty, err := b.emptyProgram()
	if err != nil {
		return nil, err
	}
	if err := b.rounds(b.opts.rounds, floor, empty, next); err != nil {
		return nil, err
	}
	what := fmt.Sprintf("next, no plugin (configuration of %d lines, %d steps, %d runs)", configLines, largeSteps, largeRuns)
	return []row{
		{Group: "next", What: what, Value: next.in(floor), Unit: "F", Bar: 2.5, Kind: atMost,
			Detail: fmt.Sprintf("F = %.2f ms, E = %.2f F", floor.median(), empty.in(floor))},
	}, nil
}

// base is the floor and `next` without a plugin on the large project.
func (b *bed) base() (floor, next *program, err error) {
	p, err := b.measured()
	if err != nil {
		return nil, nil, err
	}
	if floor, err = b.floorProgram(); err != nil {
		return nil, nil, err
	}
	if b.next == nil {
		b.next, err = b.nextProgram("next", p, func(n int) string { return plainSlug(n / perMission) })
	}
	return floor, b.next, err
}

func pluginRows(b *bed) ([]row, error) {
	floor, next, err := b.base()
	if err != nil {
		return nil, err
	}
	plugin, err := b.nextProgram("next with "+specLint, b.large, func(n int) string { return lintedSlug(n / perMission) })
	if err != nil {
		return nil, err
	}
	if err := b.rounds(b.opts.rounds, floor, next, plugin); err != nil {
		return nil, err
	}
	return []row{{Group: "plugin", What: "small plugin (" + specLint + ", C, 77 KB) from the cache, child included",
		Value: plugin.more(next, floor), Unit: "F", Bar: 4, Kind: atMost, Detail: fmt.Sprintf("next %.2f F, with it %.2f F", next.in(floor), plugin.in(floor))}}, nil
}
