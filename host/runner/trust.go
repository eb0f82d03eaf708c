package runner

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/trust"
)

// Consent is a set of commands, pins and write grants, and whether the user
// consented to it.
type Consent struct {
	Schema    int              `json:"schema"`
	Of        string           `json:"of"` // configuration, run: what the mission's run froze, or loop
	RunID     *string          `json:"run_id"`
	Digest    string           `json:"digest"`
	Needed    bool             `json:"needed"` // something in it asks for consent
	Consented bool             `json:"consented"`
	Recorded  bool             `json:"recorded"` // by this call
	Commands  []ConsentCommand `json:"commands"`
	Plugins   []ConsentPlugin  `json:"pins"`
	Loops     []ConsentLoop    `json:"loops"`
	Apart     []LoopConsent    `json:"apart"` // of the configuration: its loops, each consented to by itself

	set []byte
}

// LoopConsent is whether the user consented to what a loop runs, as it stands now.
type LoopConsent struct {
	Loop      string `json:"loop"`
	Digest    string `json:"digest"` // "": what it runs cannot be told
	Consented bool   `json:"consented"`
	Error     string `json:"error"` // why it cannot
}

// ConsentTo names what is consented to: with neither, what the configuration lets
// missions run and write.
type ConsentTo struct {
	Mission string // what its run froze
	Loop    string // what the loop runs
}

// ConsentLoop is what a loop runs.
type ConsentLoop struct {
	Name       string              `json:"name"`
	Definition string              `json:"definition"` // digest of all that it says
	Branch     string              `json:"branch"`     // that it moves
	Prompt     string              `json:"prompt"`     // file; "" for none
	Programs   map[string][]string `json:"programs"`   // by part
	PassEnv    []string            `json:"pass_env"`
	Scripts    map[string]string   `json:"scripts"` // path to SHA-256
}

// ConsentCommand is one declared command.
type ConsentCommand struct {
	Name      string   `json:"name"`
	Run       []string `json:"run"`
	Cwd       string   `json:"cwd"`
	TimeoutMS int64    `json:"timeout_ms"`
	PassEnv   []string `json:"pass_env"`
	Output    int64    `json:"output"`
}

// ConsentPlugin is the pin of one plugin, what it may write, and what it is called
// with.
type ConsentPlugin struct {
	Name   string            `json:"name"`
	SHA256 string            `json:"sha256"`
	Dir    *string           `json:"dir_sha256"` // of its own folder; null where it has none
	Write  []string          `json:"write"`
	Args   []string          `json:"args"`
	Read   []string          `json:"read"`
	Env    map[string]string `json:"env"`
}

// Consents are the records of this user for the project, the latest first.
type Consents struct {
	Schema  int             `json:"schema"`
	Folder  string          `json:"folder"`
	Records []ConsentRecord `json:"consents"`
}

// ConsentRecord is one of them.
type ConsentRecord struct {
	Digest   string   `json:"digest"`
	At       string   `json:"at"`
	Commands []string `json:"commands"` // names
	Writers  []string `json:"writers"`  // plugins that may write
	Current  bool     `json:"current"`  // it is to the configuration as it stands
}

// Revocation says what RevokeConsent did.
type Revocation struct {
	Schema  int    `json:"schema"`
	Digest  string `json:"digest"`
	Revoked bool   `json:"revoked"` // false: there was no such consent
}

// Consent shows what the configuration may run and write, or, with a mission,
// what its run froze of that. It writes nothing and runs nothing.
func (p *Project) Consent(ctx context.Context, to ConsentTo) (Consent, error) {
	c, set, err := p.consentOf(ctx, to)
	if err != nil {
		return c, classify(err)
	}
	c.Commands, c.Plugins, c.Loops = listSet(set)
	if to == (ConsentTo{}) {
		c.Apart = p.loopConsents()
	}
	if c.Consented, err = p.trust.Trusts(c.Digest); err != nil {
		return c, fail(CodeNotRecorded, "make the folder yours alone, then look again", "%v", err)
	}
	return c, nil
}

// loopConsents are the consents to the loops of the configuration.
func (p *Project) loopConsents() []LoopConsent {
	all := []LoopConsent{}
	for _, name := range p.Config.LoopNames() {
		one := LoopConsent{Loop: name}
		set, err := p.loopSet(name)
		if err == nil {
			one.Digest = set.Digest()
			one.Consented, err = p.trust.Trusts(one.Digest)
		}
		if err != nil {
			one.Error = err.Error()
		}
		all = append(all, one)
	}
	return all
}

func (p *Project) consentOf(ctx context.Context, to ConsentTo) (Consent, trust.Set, error) {
	c := Consent{Schema: Schema, Of: "configuration", Apart: []LoopConsent{}}
	if to.Mission == "" {
		set, err := consentSet(p.Config), error(nil)
		if to.Loop != "" {
			c.Of = "loop"
			set, err = p.loopSet(to.Loop)
		}
		c.set, c.Digest, c.Needed = set.Encode(), set.Digest(), set.Asks()
		return c, set, err
	}
	r, err := p.read(ctx, to.Mission)
	switch {
	case err != nil:
		return c, trust.Set{}, err
	case r.run == nil:
		return c, trust.Set{}, fmt.Errorf("mission %s: %w", r.mission.Slug, commit.ErrNoRun)
	case r.state.Commands == "":
		return c, trust.Set{}, fail(CodeNotFound, "nothing in it needs consent", "the run of mission %s froze no commands and no write grants", r.mission.Slug)
	}
	set, err := r.run.commands(r.state.Commands)
	c.Of, c.RunID, c.set, c.Digest, c.Needed = "run", text(r.state.Run), set.Encode(), r.state.Commands, set.Asks()
	return c, set, err
}

func listSet(set trust.Set) (commands []ConsentCommand, plugins []ConsentPlugin, loops []ConsentLoop) {
	commands, plugins, loops = []ConsentCommand{}, []ConsentPlugin{}, []ConsentLoop{}
	for _, name := range sortedKeys(set.Loops) {
		l := set.Loops[name]
		loops = append(loops, ConsentLoop{Name: name, Definition: l.Definition, Branch: l.Branch, Prompt: l.Prompt, Programs: l.Programs, PassEnv: listed(l.PassEnv), Scripts: l.Scripts})
	}
	for _, name := range sortedKeys(set.Commands) {
		c := set.Commands[name]
		commands = append(commands, ConsentCommand{
			Name: name, Run: c.Run, Cwd: c.Cwd, TimeoutMS: time.Duration(c.Timeout).Milliseconds(), PassEnv: listed(c.PassEnv), Output: c.Output,
		})
	}
	for _, name := range sortedKeys(set.Plugins) {
		plugins = append(plugins, listPlugin(name, set.Plugins[name]))
	}
	return commands, plugins, loops
}

func listPlugin(name string, p trust.Plugin) ConsentPlugin {
	env := map[string]string{}
	maps.Copy(env, p.Env)
	return ConsentPlugin{Name: name, SHA256: p.SHA256, Dir: text(p.Dir), Write: listed(p.Write), Args: listed(p.Args), Read: listed(p.Read), Env: env}
}

// GiveConsent records the user's consent to the set of this digest, which must be
// the one that Consent shows: what was looked at is what is consented to. It is
// durable on return.
func (p *Project) GiveConsent(ctx context.Context, to ConsentTo, digest string) (Consent, error) {
	c, err := p.Consent(ctx, to)
	switch {
	case err != nil:
		return c, err
	case digest != c.Digest:
		return c, fail(CodeUsage, "look at what `spec-kitty trust` lists now, and use the digest that it prints", "the digest of the %s is %s, not %q", c.Of, c.Digest, digest)
	case !c.Needed:
		return c, nil
	}
	if _, err := p.trust.Grant(c.set, p.now()); err != nil {
		return c, fail(CodeNotRecorded, "mend the folder, then consent again", "%v", err)
	}
	c.Consented, c.Recorded = true, true
	return c, nil
}

// Consents lists what this user consented to in the project.
func (p *Project) Consents() (Consents, error) {
	all := Consents{Schema: Schema, Folder: p.trust.Folder(), Records: []ConsentRecord{}}
	records, err := p.trust.List()
	if err != nil {
		return all, fail(CodeNotRecorded, "make the folder yours alone, then look again", "%v", err)
	}
	current := consentSet(p.Config).Digest()
	for _, r := range records {
		row := ConsentRecord{Digest: r.Digest, At: r.At.UTC().Format(time.RFC3339), Commands: []string{}, Writers: []string{}, Current: r.Digest == current}
		if set, err := trust.Decode(r.Set); err == nil {
			row.Commands = sortedKeys(set.Commands)
			for _, name := range sortedKeys(set.Plugins) {
				if len(set.Plugins[name].Write) > 0 {
					row.Writers = append(row.Writers, name)
				}
			}
		}
		all.Records = append(all.Records, row)
	}
	return all, nil
}

// RevokeConsent takes a consent to this project back. Runs that are under way
// ask for it anew at their next report.
func (p *Project) RevokeConsent(digest string) (Revocation, error) {
	r := Revocation{Schema: Schema, Digest: digest}
	if !trust.ProperDigest(digest) {
		return r, fail(CodeUsage, "`spec-kitty trust --list` has the digests", "%q is no digest: 64 hexadecimal digits were expected", digest)
	}
	var err error
	if r.Revoked, err = p.trust.Revoke(digest); err != nil {
		return r, fail(CodeNotRecorded, "mend the folder, then try again", "%v", err)
	}
	return r, nil
}
