package runner

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// call calls a plugin that the run froze, in a process of its own. What the
// guest saw of the files, and the call itself, go into seen.
func (r *reading) call(ctx context.Context, t *step, def mission.Step, verb, name string, with map[string]any, seen *witness) (sandbox.Answer, error) {
	called, frozen, err := r.run.plugin(name, r.state)
	if err != nil {
		return sandbox.Answer{}, err
	}
	if err := r.p.mayCall(r.run, r.state, name, frozen); err != nil {
		return sandbox.Answer{}, err
	}
	req, err := r.request(t, def, verb, with)
	if err != nil {
		return sandbox.Answer{}, err
	}
	raw, err := req.Encode()
	if err != nil {
		return sandbox.Answer{}, err
	}
	call := r.p.grants(r.mission, frozen, t.issue.Package)
	if verb == abi.Guard {
		call.Mounts = r.p.overlaid(call.Mounts, t.report.Outcome)
	}
	call.Verb, call.Request, call.Now, call.Seed = verb, raw, r.clock(), r.seed(t, name, verb)
	answer, err := r.p.plugins.Call(ctx, called, call)
	if err != nil {
		return answer, err
	}
	if answer.Incomplete {
		return answer, errors.New("it looked at more files than can be watched for changes: let it read less")
	}
	for _, fact := range answer.Read {
		seen.facts[pluginFactName(name, t.issue.Package, fact)] = unchanged
	}
	return answer, seen.pluginCall(name, frozen, verb, max(t.round, 1), raw, answer)
}

func (f frozenPlugin) sandboxed(name string, wasm, own []byte) sandbox.Plugin {
	return sandbox.Plugin{
		Name: name, Wasm: wasm, SHA256: f.SHA256, Args: f.Args, Env: f.Env, Bundle: own,
		Limits: sandbox.Limits{Memory: f.Memory, Timeout: time.Duration(f.Timeout), Output: f.Output, Log: f.Log},
	}
}

// seed makes a plugin's randomness a function of the run and of what is asked,
// so that the same call gives the same answer.
func (r *reading) seed(t *step, name, verb string) [32]byte {
	return callSeed(r.state.Seed, name, verb, t.issue.Step, t.issue.Package, t.issue.Attempt)
}

func callSeed(run, plugin, verb, step, pkg string, attempt int) [32]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%s\x00%d", run, plugin, verb, step, pkg, attempt))
}

// grants is what a plugin can see: the project and, for a package, its worktree
// as mounts, and below them the folders that it was granted. The state of the
// runs is hidden from all.
func (p *Project) grants(m lanes.Mission, frozen frozenPlugin, pkg string) sandbox.Call {
	return folders(p.Config, frozen.Read, p.guestPath(m.Dir), func() string { return p.within(p.worktree(m, pkg)) })
}

// folders are the mounts and grants of a call; missionDir is the mission's folder
// as a guest names it, "" where there is none, and worktree the package's below the
// project's root, with slashes, "" where there is none.
func folders(cfg *config.Config, read []string, missionDir string, worktree func() string) sandbox.Call {
	call := sandbox.Call{
		Mounts: []sandbox.Mount{{Guest: abi.ProjectDir, Host: cfg.Root}},
		Hide:   []string{guestPath(cfg, cfg.StateRoot())},
	}
	for _, folder := range read {
		switch folder {
		case "{mission}":
			if missionDir != "" {
				call.Reads = append(call.Reads, missionDir)
			}
		case "{workspace}":
			if tree := worktree(); tree != "" {
				call.Mounts = append(call.Mounts, sandbox.Mount{Guest: abi.WorkspaceDir, Host: cfg.Root, Below: tree})
				call.Reads = append(call.Reads, abi.WorkspaceDir)
			}
		default:
			call.Reads = append(call.Reads, path.Join(abi.ProjectDir, folder))
		}
	}
	return call
}

// worktree is the folder that a package is worked on in; "" where there is none
// yet, or none that may be used.
func (p *Project) worktree(m lanes.Mission, pkg string) string {
	dir, err := p.usableWorktree(m, pkg)
	if err != nil {
		return "" // the answer warns of it
	}
	return dir
}

// usableWorktree is worktree, with why there is none that may be used.
func (p *Project) usableWorktree(m lanes.Mission, pkg string) (string, error) {
	if pkg == "" {
		return "", nil
	}
	all, err := lanes.Workspaces(p.Config.Root, m)
	if err != nil {
		return "", err
	}
	there, err := lanes.CheckWorkspace(p.Config.Root, all[pkg])
	if err != nil || !there {
		return "", err
	}
	return all[pkg], nil
}

func (p *Project) guestPath(host string) string { return guestPath(p.Config, host) }

// guestPath is a folder of the project as a guest names it.
func guestPath(cfg *config.Config, host string) string {
	rel, err := filepath.Rel(cfg.Root, host)
	if err != nil || strings.HasPrefix(rel, "..") {
		return "/outside"
	}
	return path.Join(abi.ProjectDir, filepath.ToSlash(rel))
}

// unchanged is the digest of what a plugin saw: its name holds the content.
const unchanged = "unchanged"

// pluginFactName names what a plugin saw: the plugin and the package, by whose
// grants it is looked at again, the kind, the content and the path.
func pluginFactName(plugin, pkg string, seen sandbox.Fact) string {
	return pluginFact + strings.Join([]string{plugin, pkg, string(seen.Kind), seen.SHA256, seen.Path}, " ")
}

// seenByPlugin looks again at what a plugin saw.
func (p *Project) seenByPlugin(r *run, s cursor.State, name string) (string, error) {
	parts := strings.SplitN(name, " ", 5)
	if len(parts) != 5 {
		return "", fmt.Errorf("no such fact: %s", name)
	}
	frozen, err := r.grantOf(parts[0], s)
	if err != nil {
		return "", err
	}
	seen := sandbox.Fact{Kind: sandbox.FactKind(parts[2]), SHA256: parts[3], Path: parts[4]}
	changed, err := p.grants(r.mission, frozen, parts[1]).Changed([]sandbox.Fact{seen})
	if len(changed) > 0 {
		return "changed", err
	}
	return unchanged, err
}

// pluginFailure is the block of an executor that gave no answer. The sub-code
// stands behind the code in the reason.
func pluginFailure(name string, err error) *cursor.Refusal {
	return &cursor.Refusal{Code: PluginFailed, Message: cause(err) + " (plugin " + name + ")"}
}

// failedPlugin is a plugin's failure, the damage of what the run froze of it, or
// the want of consent to call it.
func failedPlugin(name string, err error) error {
	if damage := damageIn(err); damage != nil {
		return damage
	}
	if isNotTrusted(err) {
		return unmet(name, err)
	}
	return pluginFailure(name, err)
}

func damageIn(err error) error {
	var damaged *commit.DamagedError
	if errors.As(err, &damaged) {
		return damaged
	}
	return nil
}

// cause is why a plugin gave no answer: the sub-code, what happened, and the
// end of its log.
func cause(err error) string {
	var failure *sandbox.Failure
	if !errors.As(err, &failure) {
		return err.Error()
	}
	text := string(failure.Code) + ": " + failure.Detail
	if failure.Log != "" {
		text += " (its log ends: " + failure.Log + ")"
	}
	return text
}

func asksAgain(key, answer string) error {
	return fmt.Errorf("%s: it asks for %s again, which was answered with %q", sandbox.BadAnswer, key, answer)
}
