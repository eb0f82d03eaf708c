package runner

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/host/tick"
	"github.com/spec-kitty/step-runner/host/trust"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// Loops are the project's loops, on what the project lends them: definitions,
// declared commands, plugins and the user's consent.
func (p *Project) Loops(o tick.Options) *tick.Loops {
	o.Commit.LockTimeout, o.Commit.Owner = p.Config.Runtime.LockTimeout, p.Config.StateOwner()
	if o.Now == nil {
		o.Now = p.now
	}
	return tick.New(tick.Ground{
		Root: p.Config.Root, State: p.Config.StateRoot(),
		Source: p.loopSource, Names: p.Config.LoopNames, Command: p.loopCommand, Guard: p.loopGuard, Trusted: p.loopTrusted,
	}, o)
}

// loopSource reads a loop's definition as it stands now, with the digests of its
// own scripts: they judge the work, so a change of one is a change of the
// definition.
func (p *Project) loopSource(name string) (tick.Source, error) {
	if p.unread != nil {
		return tick.Source{}, p.unread
	}
	def, err := config.LoadLoop(p.Config, name)
	if err != nil {
		return tick.Source{}, classify(err)
	}
	file, err := p.Config.LoopFile(name)
	if err != nil {
		return tick.Source{}, classify(err)
	}
	scripts, err := tick.ScriptDigests(def, file)
	if err != nil {
		return tick.Source{}, placed(fail(CodeDefinitionInvalid, "write the script, or mend its path: it is relative to the definition",
			"loop %s names a script that cannot be read: %v", name, err), file, 0)
	}
	for _, c := range def.Checks() {
		if err := p.addScript(scripts, c.Command); err != nil {
			return tick.Source{}, err
		}
	}
	text := def.Digest()
	for _, path := range sortedKeys(scripts) {
		text += "\n" + p.below(path) + " " + scripts[path]
	}
	return tick.Source{Definition: def, Digest: hexSum([]byte(text)), File: file, Scripts: scripts}, nil
}

// addScript adds the program of a declared command, where it is a file of the
// project: it judges the work as the loop's own scripts do.
func (p *Project) addScript(scripts map[string]string, name string) error {
	if name == "" {
		return nil
	}
	c, err := p.loopCommand(name)
	if err != nil || !filepath.IsAbs(c.Argv[0]) || c.Argv[0] == p.Config.Commands[name].Run[0] {
		return err
	}
	if scripts[c.Argv[0]], err = tick.ProgramDigest(c.Argv[0]); err != nil {
		return fail(CodeDefinitionInvalid, "write the program, or mend commands."+name+".run", "command %s: %v", name, err)
	}
	return nil
}

// loopCommand is a declared command as the configuration has it now. A program of
// the project is the one in the project's root, never the one in the worktree that
// it judges.
func (p *Project) loopCommand(name string) (tick.Declared, error) {
	c, ok := p.Config.Commands[name]
	if !ok {
		return tick.Declared{}, fail(CodeDefinitionInvalid, "declare it under [commands."+name+"]", "there is no command %q", name)
	}
	argv := slices.Clone(c.Run)
	if strings.ContainsRune(argv[0], '/') && !filepath.IsAbs(argv[0]) {
		argv[0] = filepath.Join(p.Config.Root, filepath.FromSlash(argv[0]))
	}
	return tick.Declared{Argv: argv, Timeout: c.Timeout, PassEnv: c.PassEnv}, nil
}

// loopGuard asks a plugin's guard verb on behalf of a loop. The request is that of
// a mission's guard: the loop stands where the mission does, the part of it where
// the step does, and the folder that it judges is both the workspace and the mission's
// folder, so that a guard written for missions judges what the loop made.
func (p *Project) loopGuard(ctx context.Context, name string, q tick.Question) (tick.Judgement, error) {
	kit := &Kit{root: p.Config.Root, host: p.plugins, config: func() (*config.Config, error) { return p.Config, nil }}
	conf, err := kit.configured(name) // a name that looks like a file's is a plugin's here, too
	if err != nil {
		return tick.Judgement{}, err
	}
	m, err := kit.read(conf)
	if err != nil {
		return tick.Judgement{}, err
	}
	if _, err := kit.grantsToRun(m, PluginCall{Verb: abi.Describe}); err != nil {
		return tick.Judgement{}, err
	}
	request, err := p.loopRequest(q).Encode()
	if err != nil {
		return tick.Judgement{}, err
	}
	call, err := p.loopFolders(m.conf.Read, q.Dir)
	if err != nil {
		return tick.Judgement{}, err
	}
	e, err := kit.call(ctx, m, call, abi.Guard, request)
	if err != nil {
		return tick.Judgement{}, err
	}
	if e.Failure != nil {
		return tick.Judgement{Verdict: command.Failed, Detail: "plugin " + name + ": " + string(e.code) + ": " + e.detail}, nil
	}
	answer, err := sandbox.GuardAnswer(name, e.Answer)
	if err != nil {
		return tick.Judgement{}, err
	}
	told := guardOf("plugin "+name, "", answer)
	return tick.Judgement{Verdict: command.Verdict(answer.Verdict), Detail: told.Guard + ": " + told.Examined, Digest: hexSum(e.Stdout)}, nil
}

// loopFolders are what a plugin sees on behalf of a loop: what its configuration
// grants, {workspace} and {mission} being the folder that it judges.
func (p *Project) loopFolders(read []string, dir string) (sandbox.Call, error) {
	judged := func(folder string) bool { return folder == "{workspace}" || folder == "{mission}" }
	others := slices.DeleteFunc(slices.Clone(read), judged)
	call := folders(p.Config, others, "", nil)
	if len(others) == len(read) {
		return call, nil
	}
	below, err := filepath.Rel(p.Config.Root, dir)
	if err != nil {
		return call, err
	}
	mount := sandbox.Mount{Guest: abi.WorkspaceDir, Host: p.Config.Root}
	if below = filepath.ToSlash(below); below != "." {
		mount.Below = below
	} else if state := guestPath(p.Config, p.Config.StateRoot()); strings.HasPrefix(state, abi.ProjectDir+"/") {
		call.Hide = append(call.Hide, abi.WorkspaceDir+strings.TrimPrefix(state, abi.ProjectDir))
	}
	call.Mounts, call.Reads = append(call.Mounts, mount), append(call.Reads, abi.WorkspaceDir)
	return call, nil
}

func (p *Project) loopRequest(q tick.Question) abi.Request {
	return abi.Request{
		Verb:    abi.Guard,
		Run:     abi.Run{ID: loopID(q.UID), Mission: q.Loop, Type: "loop", Revision: q.Token},
		Mission: abi.Mission{Dir: abi.WorkspaceDir}, Workspace: abi.WorkspaceDir,
		Step:   abi.Step{ID: q.Part, Title: fmt.Sprintf("%s of loop %s", q.Part, q.Loop), Attempt: 1},
		Result: "success", Now: p.now().UTC().Format(rfc3339Micro),
	}
}

// loopID is a loop's id as the ABI has ids.
func loopID(uid string) string {
	raw, err := hex.DecodeString(uid)
	var id ulid.ULID
	if err == nil {
		copy(id[:], raw)
	}
	return id.String()
}

// LoopCheck is a loop whose definition is valid.
type LoopCheck struct {
	Loop   string `json:"loop"`
	Path   string `json:"path"` // absolute; of the file that defines it
	Digest string `json:"digest"`
	Branch string `json:"branch"`
}

// CheckLoops reads one definition, or all, and gives all that is wrong at once.
func (p *Project) CheckLoops(name string) ([]LoopCheck, error) {
	names := p.Config.LoopNames()
	if name != "" {
		names = []string{name}
	}
	var rows []LoopCheck
	var failed error
	for i, one := range names {
		src, err := p.loopSource(one)
		if err == nil {
			rows = append(rows, LoopCheck{Loop: one, Path: src.File, Digest: src.Digest, Branch: src.Worktree.Branch})
			others := names[:i] // of a pair the second is told
			if name != "" {
				others = p.Config.LoopNames()
			}
			err = p.ownBranch(src, others)
		}
		failed = withMore(failed, err)
	}
	return rows, failed
}

// ownBranch refuses a loop whose branch is another's too.
func (p *Project) ownBranch(src tick.Source, others []string) error {
	for _, other := range others {
		if other == src.Name {
			continue
		}
		if its, err := p.loopSource(other); err == nil && its.Worktree.Branch == src.Worktree.Branch {
			return fail(CodeDefinitionInvalid, "give each loop a branch of its own: [worktree] branch",
				"loops %s and %s have the same branch %s: their ticks would halt each other", src.Name, other, src.Worktree.Branch)
		}
	}
	return nil
}

// withMore adds what is wrong with one more definition to an error; nil is nothing.
func withMore(all, more error) error {
	if all == nil || more == nil {
		return cmp.Or(all, more)
	}
	var a, b *Error
	if !errors.As(all, &a) || !errors.As(more, &b) || a.Code != CodeDefinitionInvalid {
		return all
	}
	a.Message += "\n" + b.Message
	a.Problems = append(a.Problems, b.Problems...)
	return a
}

// Classify gives an error of a loop's verb its code. What is said of a damaged run is
// no help for a loop.
func Classify(err error) error {
	all := classify(err)
	if known := new(Error); tick.Broken(err) && errors.As(all, &known) && known.Code != CodeNewerFormat {
		known.NextStep, known.Recover = "`spec-kitty help loops-recover` says what to do; the bytes were left as they are", nil
	}
	return all
}

// loopSet is all that a loop may run, as it stands now.
func (p *Project) loopSet(name string) (trust.Set, error) {
	src, err := p.loopSource(name)
	if err != nil {
		return trust.Set{}, err
	}
	return p.loopSetOf(src), nil
}

func (p *Project) loopSetOf(src tick.Source) trust.Set {
	d := src.Definition
	one := trust.Loop{Definition: src.Digest, Branch: d.Worktree.Branch, Prompt: d.Work.PromptFile, Programs: map[string][]string{"work": d.Work.Run}, PassEnv: d.Work.PassEnv, Scripts: map[string]string{}}
	set := trust.Set{Commands: map[string]trust.Command{}, Plugins: map[string]trust.Plugin{}, Loops: map[string]trust.Loop{d.Name: one}}
	all := consentSet(p.Config)
	for part, c := range d.Checks() {
		switch {
		case c.Command != "":
			set.Commands[c.Command] = all.Commands[c.Command]
		case c.Plugin != "":
			set.Plugins[c.Plugin] = all.Plugins[c.Plugin]
		default:
			one.Programs[part] = c.Run
		}
	}
	for part, run := range map[string][]string{"setup": d.Worktree.Setup, "notify": d.Notify.Run} {
		if len(run) > 0 {
			one.Programs[part] = run
		}
	}
	for path, sum := range src.Scripts {
		one.Scripts[p.below(path)] = sum
	}
	return set
}

// loopTrusted refuses to run what the user has not consented to: the programs of a
// loop are plain programs of this machine.
func (p *Project) loopTrusted(src tick.Source) error {
	digest := p.loopSetOf(src).Digest()
	trusted, err := p.trust.Trusts(digest)
	if trusted {
		return nil
	}
	e := fail(CodeNotTrusted, "a person reads `"+trustTopic+"`, looks at `spec-kitty trust --loop "+src.Name+"`, and consents or not",
		"nobody at this machine consented to what loop %s runs (digest %s)", src.Name, digest)
	e.Err = err
	return e
}

// below is a path as seen from the project's root, so that it is the same in every
// checkout.
func (p *Project) below(path string) string {
	rel, err := filepath.Rel(p.Config.Root, path)
	if err != nil {
		rel = path
	}
	return filepath.ToSlash(rel)
}
