package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// situation is a state, and a call in it that is refused.
type situation struct {
	code, variant string
	foreign       bool // it calls a plugin
	config        string
	meet          func(s site) map[string]any // the refusal
}

func (w situation) name() string { return strings.TrimSuffix(w.code+", "+w.variant, ", ") }

// The configurations of the situations, each of a mission type t.
const (
	wayLine  = "[missions.t]\nsteps = [{ id = \"a\" }, { id = \"b\" }, { id = \"c\" }]\n"
	wayGuard = "[missions.t]\nsteps = [{ id = \"a\", guards = [{ artifact = \"a.md\" }] }, { id = \"b\" }]\n"
	wayAudit = "[missions.t]\nsteps = [{ id = \"a\" }]\naudits = [{ id = \"ok\", question = \"Ship it?\", enforcement = \"blocking\" }]\n"
	wayPacks = `[[missions.t.steps]]
id = "implement"
work_packages = { take = ["planned"], claim = "in_progress", success = "for_review", failed = "planned", until = ["for_review", "approved", "done", "canceled"] }
[[missions.t.steps]]
id = "ship"
`
)

func situations() []situation {
	// next gives a call of next by somebody.
	next := func(agent, result string, more ...string) []string {
		return append([]string{"next", "--mission", "m", "--agent", agent, "--result", result}, more...)
	}
	after := func(last []string, before ...[]string) func(s site) map[string]any {
		return func(s site) map[string]any {
			for _, args := range before {
				s.json(args...)
			}
			return s.json(last...)
		}
	}
	// meanwhile is a report while which another call is made.
	meanwhile := func(point string, other ...string) func(s site) map[string]any {
		return func(s site) map[string]any {
			token := s.json(next("a", "success")...)["token"].(string)
			s.tune = atPoint(point, func() { site{t: s.t, dir: s.dir}.json(other...) })
			return s.json(next("a", "success", "--token", token)...)
		}
	}
	return []situation{
		{code: "cursor_moved", config: wayLine, meet: meanwhile(runner.PointPlanned, "run", "skip", "m", "a", "--reason", "r")},
		{code: "stale_plan", config: wayGuard, meet: func(s site) map[string]any {
			s.write("kitty-specs/m/a.md", "one")
			s.json(next("a", "success")...)
			s.tune = atPoint(runner.PointPlanned, func() { s.write("kitty-specs/m/a.md", "two") })
			return s.json(next("a", "success")...)
		}},
		{code: "stale_token", config: wayLine, meet: after(next("a", "success", "--token", "01JZZZZZZZ0000000000000009"), next("a", "success"))},
		{code: "already_reported", config: wayLine, meet: func(s site) map[string]any {
			token := s.json(next("a", "success")...)["token"].(string)
			s.json(next("a", "success", "--token", token)...)
			return s.json(next("a", "failed", "--token", token)...)
		}},
		{code: "token_required", config: "[runtime]\nrequire_token = true\n" + wayLine, meet: after(next("a", "success"), next("a", "success"))},
		{code: "not_holder", config: wayLine, meet: after(next("b", "success"), next("a", "success"))},
		{code: "not_holder", variant: "a person", config: wayLine, meet: after(
			[]string{"next", "--mission", "m", "--as", "human:Kim Lee", "--result", "success"}, next("a", "success"))},
		{code: "lock_timeout", config: "[runtime]\nlock_timeout = \"1ms\"\n" + wayLine, meet: func(s site) map[string]any {
			s.json(next("a", "success")...)
			var late map[string]any
			holder := s
			holder.tune = func(o *runner.Options) {
				o.Commit.Hook = hookAt(commit.PointLockAcquired, func() { late = s.json(next("a", "success")...) })
			}
			holder.call("run", "release", "m", "--reason", "r")
			return late
		}},
		{code: "guard_refused", config: wayGuard, meet: after(next("a", "success"), next("a", "success"))},
		{code: "guard_refused", variant: "put back", config: wayPacks, meet: func(s site) map[string]any {
			held := s.logPutBack()
			return s.json(next("a", "success", "--token", held)...)
		}},
		{code: "guard_error", config: "[commands.c]\nrun = [\"true\"]\n[missions.t]\nsteps = [{ id = \"a\", guards = [{ command = \"c\" }] }]\n",
			meet: after(next("a", "success"), next("a", "success"))},
		{code: "guard_error", variant: "unpublished", foreign: true, config: wayPlugin("artifact", `write = ["docs"]`), meet: func(s site) map[string]any {
			s.leftOver()
			return s.json(next("a", "success")...)
		}},
		{code: "plugin_failed", foreign: true, config: wayPlugin("trap", ""), meet: func(s site) map[string]any {
			s.plugin("trap")
			return after(next("a", "success"), next("a", "success"))(s)
		}},
		{code: "artifact_conflict", foreign: true, config: wayPlugin("artifact", `write = ["docs"]`), meet: func(s site) map[string]any {
			s.plugin("artifact")
			s.json(next("a", "success")...)
			s.tune = s.trusting()
			s.write("docs", "no folder")
			return s.json(next("a", "success")...)
		}},
		{code: "artifact_conflict", variant: "left over", foreign: true, config: wayPlugin("artifact", `write = ["docs"]`), meet: func(s site) map[string]any {
			s.leftOver()
			s.tune = s.trusting()
			return s.json(next("a", "success")...)
		}},
		{code: "step_failed", config: wayLine, meet: after(next("a", "failed"), next("a", "success"))},
		{code: "step_failed", variant: "package", config: wayPacks, meet: after(next("a", "failed"), []string{"wp", "move", "WP02", "--to", "canceled", "--mission", "m", "--as", "human:kim"}, next("a", "success"))},
		{code: "step_blocked", config: wayLine, meet: after(next("a", "blocked", "--reason", "no key"), next("a", "success"))},
		{code: "audit_rejected", config: wayAudit, meet: func(s site) map[string]any {
			s.json(next("a", "success")...)
			token := s.json(next("a", "success")...)["decision_token"].(string)
			return s.json("next", "--mission", "m", "--as", "human:kim", "--answer", "reject", "--decision-token", token, "--result", "success")
		}},
		{code: "waiting_for_work_packages", config: wayPacks, meet: after(next("b", "success"), next("a", "success"))},
		{code: "waiting_for_work_packages", variant: "genesis", config: wayPacks, meet: func(s site) map[string]any {
			s.log("WP01")
			return after(next("b", "success"), next("a", "success"))(s)
		}},
		{code: "waiting_for_work_packages", variant: "put back", config: wayPacks, meet: func(s site) map[string]any {
			s.logPutBack()
			return s.json(next("b", "success")...)
		}},
		{code: "waiting_for_work_packages", variant: "none", config: wayPacks, meet: func(s site) map[string]any {
			if err := os.RemoveAll(filepath.Join(s.dir, "kitty-specs/m/tasks")); err != nil {
				s.t.Fatal(err)
			}
			return s.json(next("a", "success")...)
		}},
		{code: "waiting_for_work_packages", variant: "stranded", config: strandedImplement + strandedReview, meet: after(
			next("a", "success"), []string{"run", "start", "m"}, []string{"run", "skip", "m", "implement", "--reason", "r"})},
		{code: "package_held", config: wayPacks, meet: after([]string{"wp", "claim", "WP01", "--mission", "m", "--agent", "b"}, next("a", "success"))},
		{code: "prompt_failed", config: "[missions.t]\nsteps = [{ id = \"a\" }, { id = \"b\", prompt = \"{{slice .Mission.Slug 5}}\" }]\n",
			meet: after(next("a", "success"), next("a", "success"))},
		{code: "run_aborted", config: wayLine, meet: after(next("a", "success"), next("a", "success"), []string{"run", "abort", "m", "--reason", "r"})},
		{code: "commit_uncertain", config: wayLine, meet: func(s site) map[string]any {
			s.json(next("a", "success")...)
			s.tune = func(o *runner.Options) {
				o.Commit.Disk = &durable.Faulty{Disk: durable.OS(), Fail: func(_ int, op durable.Op) error {
					if op.Kind == "sync" {
						return durable.ErrInjected
					}
					return nil
				}}
			}
			return s.json(next("a", "success")...)
		}},
		{code: "run_exists", config: wayLine, meet: after([]string{"run", "start", "m"}, next("a", "success"))},
		{code: "run_exists", variant: "over", config: wayLine, meet: after([]string{"run", "start", "m"}, next("a", "success"), []string{"run", "abort", "m", "--reason", "r"})},
		{code: "definition_invalid", variant: "lane log gone", config: wayPacks, meet: func(s site) map[string]any {
			s.log("WP01")
			for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "log"}} {
				s.git(args...)
			}
			s.json(next("a", "success")...)
			if err := os.Remove(filepath.Join(s.dir, "kitty-specs/m/status.events.jsonl")); err != nil {
				s.t.Fatal(err)
			}
			return s.json(next("a", "success")...)
		}},
		{variant: "asked in a prompt", config: "[missions.t]\nsteps = [{ id = \"a\", inputs = [{ key = \"k\", question = \"Which?\" }] }]\n", meet: func(s site) map[string]any {
			prompt, err := os.ReadFile(s.json(next("a", "success")...)["prompt_file"].(string))
			_, line, found := strings.Cut(string(prompt), "\n    spec-kitty ")
			if err != nil || !found {
				s.t.Fatalf("%v: %s", err, prompt)
			}
			line = strings.Replace("spec-kitty "+strings.TrimSpace(line), `"$ANSWER"`, "one", 1)
			return map[string]any{"recover": []any{line}}
		}},
		{variant: "asked", config: wayAudit, meet: after([]string{"next", "--mission", "m"}, next("a", "success"), next("a", "success"))},
		{variant: "offered", config: wayLine, meet: after([]string{"next", "--mission", "m", "--agent", "a", "--worker", "7"}, []string{"run", "start", "m"})},
		{variant: "offered to nobody", config: wayLine, meet: after([]string{"next", "--mission", "m"}, []string{"run", "start", "m"})},
		{variant: "decision", config: wayAudit, meet: after([]string{"decision", "show", "audit:ok", "--mission", "m"}, next("a", "success"), next("a", "success"))},
		{variant: "doctor", config: wayLine, meet: func(s site) map[string]any {
			s.json(next("a", "success")...)
			views, err := filepath.Glob(filepath.Join(s.dir, ".kittify/step-runner/runs/*/state.json"))
			if err != nil || len(views) != 1 || os.Remove(views[0]) != nil {
				s.t.Fatal(views, err)
			}
			found := s.json("doctor")["findings"].([]any)
			return map[string]any{"recover": []any{found[0].(map[string]any)["fix"]}}
		}},
	}
}

// atPoint has a call do something else once, when it comes to a named point.
func atPoint(point string, do func()) func(*runner.Options) {
	return func(o *runner.Options) { o.Hook = hookAt(point, do) }
}

func hookAt(point string, do func()) func(string) {
	return func(at string) {
		if at == point {
			point = ""
			do()
		}
	}
}

// wayPlugin is a mission whose first step has a guest of the sandbox's tests as
// its executor.
func wayPlugin(guest, grant string) string {
	return "[plugins." + guest + "]\nwasm = \"" + guest + ".wasm\"\nsha256 = \"" + strings.Repeat("0", 64) + "\"\n" + grant +
		"\n[missions.t]\nsteps = [{ id = \"a\", executor = { plugin = \"" + guest + "\" } }, { id = \"b\" }]\n"
}

// plugin puts the guest's module into the project and pins it.
func (s site) plugin(guest string) {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.repo, "host", "sandbox", "testdata", guest+".wasm"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(guest+".wasm", string(raw))
	s.json("plugin", "pin", guest)
}

// trusting consents to all that the project may run and write.
func (s site) trusting() func(*runner.Options) {
	digest := s.json("trust")["digest"].(string)
	return func(o *runner.Options) { o.Trust = digest }
}

// leftOver is a run whose artifact was recorded and could not be put into its
// place: somebody made a folder there meanwhile.
func (s site) leftOver() {
	s.t.Helper()
	s.plugin("artifact")
	s.json("next", "--mission", "m", "--agent", "a", "--result", "success")
	trust, block := s.trusting(), atPoint(runner.PointPublishing, func() { s.write("docs/a.md/in-the-way", "") })
	s.tune = func(o *runner.Options) { trust(o); block(o) }
	s.json("next", "--mission", "m", "--agent", "a", "--result", "success")
}

// log gives the mission a lane log in which these packages are planned.
func (s site) log(ids ...string) {
	lines := ""
	for i, id := range ids {
		lines += fmt.Sprintf(`{"actor":"finalize-tasks","at":"2026-01-01T00:00:00Z","event_id":"01KMB0MJYY10DBJNG3ZD7Q85%02d","from_lane":"genesis","to_lane":"planned","wp_id":%q}`+"\n", i, id)
	}
	s.write("kitty-specs/m/status.events.jsonl", lines)
}

// logPutBack is a run of which a holds WP01, after an older lane log was put back.
func (s site) logPutBack() (token string) {
	s.log("WP01")
	token = s.json("next", "--mission", "m", "--agent", "a", "--result", "success")["token"].(string)
	s.log("WP01")
	return token
}

func (s site) git(args ...string) {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}
