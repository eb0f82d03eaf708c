package docs_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/config"
)

const (
	loopWork   = "[work]\nrun = [\"true\"]\ntimeout = \"1m\"\n"
	loopLimits = "[limits]\nmax_runs = 1\n"
)

// withLoops adds the tables that loops.md lists.
func withLoops(all map[string]place) map[string]place {
	line := func(key, text string) map[string]string { return map[string]string{key: text} }
	work := map[string]string{"run": `run = ["true"]`, "timeout": `timeout = "1m"`}
	maps.Copy(all, map[string]place{
		"loop": {before: "schema = 1\n[loops.deps]\n", base: map[string]string{
			"work": `work = { run = ["true"], timeout = "1m" }`, "limits": "limits = { max_runs = 1 }"}},
		"loop-file": {inLoop: true, base: map[string]string{
			"schema": "schema = 1", "work": `work = { run = ["true"], timeout = "1m" }`, "limits": "limits = { max_runs = 1 }"}},
		"loop-work": {inLoop: true, before: "schema = 1\n" + loopLimits + "[work]\n", base: work},
	})
	for name, base := range map[string]map[string]string{
		"gate": line("run", `run = ["true"]`), "verify": line("run", `run = ["true"]`), "goal": line("run", `run = ["true"]`),
		"approval": nil, "worktree": nil, "schedule": line("every", `every = "30m"`), "lease": nil, "notify": line("run", `run = ["true"]`),
	} {
		all["loop-"+name] = place{inLoop: true, before: "schema = 1\n" + loopWork + loopLimits + "[" + name + "]\n", base: base}
	}
	all["loop-limits"] = place{inLoop: true, before: "schema = 1\n" + loopWork + "[limits]\n", base: line("max_runs", "max_runs = 1")}
	return all
}

// loadLoop reads a text as the file that a loop stands in.
func (p place) loadLoop(t *testing.T, root, text string) (*config.Config, config.Frozen, error) {
	t.Helper()
	files := map[string]string{config.FileName: text}
	if p.inLoop {
		files = map[string]string{config.FileName: "schema = 1\n[loops.deps]\nfile = \"l.toml\"\n", "l.toml": text}
	}
	write(t, root, files)
	cfg, err := config.Load(root)
	if err != nil {
		return cfg, config.Frozen{}, err
	}
	def, err := config.LoadLoop(cfg, "deps")
	if err != nil {
		return cfg, config.Frozen{}, err
	}
	return cfg, config.Frozen{Digest: def.Digest()}, nil
}

// loopSchemas are the places of loops.md as the schemas have them.
func loopSchemas(t *testing.T, c node) map[string]node {
	all := map[string]node{"loop": c.at("definitions").at("loop"), "loop-file": loadSchema(t, loopSchema)}
	for name := range withLoops(map[string]place{}) {
		if all[name] == nil {
			all[name] = c.at("definitions").at(strings.Replace(name, "-", "_", 1))
		}
	}
	return all
}

// The two schemas that know loops stand alone, and are the same where both do.
func TestLoopSchemasAgree(t *testing.T) {
	c, l := loadSchema(t, configSchema), loadSchema(t, loopSchema)
	for name, want := range l.at("definitions") {
		if diff := cmp.Diff(want, c.at("definitions")[name]); diff != "" {
			t.Errorf("definition %s differs (-loop +spec-kitty):\n%s", name, diff)
		}
	}
	inline := c.at("definitions").at("loop").at("properties")
	for name, want := range l.at("properties") {
		if diff := cmp.Diff(want, inline[name]); diff != "" {
			t.Errorf("key %s of a loop differs (-loop +spec-kitty):\n%s", name, diff)
		}
	}
}

// A loop without an end is one that the schemas refuse too, and each way to end
// it is enough for both.
func TestLoopNeedsAnEnd(t *testing.T) {
	root := t.TempDir()
	p := withLoops(map[string]place{})["loop-file"]
	for text, ends := range map[string]bool{
		"": false, "[limits]\nmax_failures = 1\n": false,
		"[goal]\nrun = [\"true\"]\n": true, "[limits]\nmax_runs = 1\n": true, "[limits]\nmax_cost_per_day = 1\n": true,
		"[limits]\nmax_tokens_per_run = 1\n": true, "[limits]\nmax_time_per_day = \"1h\"\n": true,
	} {
		text = "schema = 1\n" + loopWork + text
		_, _, loaded := p.loadLoop(t, root, text)
		if seen := fitsTOML(t, loopSchema, text); (loaded == nil) != ends || (seen == nil) != ends {
			t.Errorf("%s\ndecoder: %v\nschema: %v", text, loaded, seen)
		}
	}
}
