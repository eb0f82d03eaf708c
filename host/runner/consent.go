package runner

import (
	"errors"
	"fmt"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/guard"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/trust"
)

// notTrusted is the cause of a guard that could not be evaluated because nobody
// consented to what it would run. It is part of the answer's contract.
const notTrusted = "not_trusted"

// consentSet is what the configuration may run and write, as it stands now.
func consentSet(cfg *config.Config) trust.Set {
	set := trust.Set{Commands: map[string]trust.Command{}, Plugins: map[string]trust.Plugin{}}
	for name, c := range cfg.Commands {
		set.Commands[name] = trust.Command{Run: c.Run, Timeout: int64(c.Timeout), Cwd: string(c.Cwd), PassEnv: c.PassEnv, Output: c.Output}
	}
	for name, p := range cfg.Plugins {
		set.Plugins[name] = freezePlugin(p).pin()
	}
	return set
}

// freezeCommands adds what the run may run and write to what it freezes, and
// gives its digest; "" where nothing in the definition could ask for it. Plugins
// may need any command, so all are frozen, not only those that guards name.
func (p *Project) freezeCommands(def *mission.Definition, blobs map[string][]byte) string {
	set := consentSet(p.Config)
	if !set.Asks() || len(def.CommandReferences()) == 0 && len(def.Plugins()) == 0 {
		return ""
	}
	digest := set.Digest()
	blobs[commandsBlob(digest)] = set.Encode()
	return digest
}

// commandsBlob is the file of a frozen set. It is named by its content, as a
// migration freezes another one beside it.
func commandsBlob(digest string) string { return blobCommands + digest + ".json" }

// commands is the set that the run froze: whoever edits it declares nothing.
func (r *run) commands(digest string) (trust.Set, error) {
	file := commandsBlob(digest)
	raw, err := r.frozenBlob(file, digest)
	if err != nil {
		return trust.Set{}, err
	}
	set, err := trust.Decode(raw)
	if err != nil {
		return set, r.damaged(file, err)
	}
	return set, nil
}

// consented gives the set that the run froze once the user has consented to it.
// The error is a *notTrustedError, or the damage of what was frozen.
func (r *reading) consented() (trust.Set, error) {
	return r.p.consented(r.run, r.state)
}

func (p *Project) consented(r *run, s cursor.State) (trust.Set, error) {
	if s.Commands == "" {
		return trust.Set{}, &notTrustedError{}
	}
	set, err := r.commands(s.Commands)
	if err != nil {
		return set, err
	}
	trusted, err := p.trust.Trusts(s.Commands)
	if !trusted {
		return set, &notTrustedError{Digest: s.Commands, Err: err}
	}
	return set, nil
}

// pin is what of a plugin is consented to.
func (f frozenPlugin) pin() trust.Plugin {
	return trust.Plugin{SHA256: f.SHA256, Dir: f.DirSum, Write: f.Write, Args: f.Args, Read: f.Read, Env: f.Env}
}

// mayCall wants consent to a plugin that may write before it is called: what it says
// is recorded, and steers the run, whether or not it leaves a file. One that only
// reads needs none.
func (p *Project) mayCall(r *run, s cursor.State, name string, frozen frozenPlugin) error {
	if len(frozen.Write) == 0 {
		return nil
	}
	return p.consentedPlugin(r, s, name, frozen)
}

// consentedPlugin wants the plugin that the run calls to be the one of the set
// that was consented to. The two are frozen side by side, and only our own start
// and migration make them agree: a run that came from elsewhere may hold a set
// that is trusted here beside a plugin that nobody looked at.
func (p *Project) consentedPlugin(r *run, s cursor.State, name string, frozen frozenPlugin) error {
	set, err := p.consented(r, s)
	if err != nil {
		return err
	}
	if pin, ok := set.Plugins[name]; !ok || !pin.Equal(frozen.pin()) {
		return &notTrustedError{Digest: s.Commands, Why: "plugin " + name + " of this run is not the one that was consented to: its bytes, folder, arguments, environment, read or write grants are others; `spec-kitty run migrate` lets the run go on with what the configuration has"}
	}
	return nil
}

// notTrustedError says that nobody here consented to a set, or that what is to be
// used is not in it.
type notTrustedError struct {
	Digest string
	Why    string // what is not in the set; "": nobody consented to it
	Err    error  // why the records could not be looked at; nil: there is none
}

func (e *notTrustedError) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("%s: %s (digest %s)", notTrusted, e.Why, e.Digest)
	}
	text := fmt.Sprintf("%s: nobody at this machine consented to the commands, pins and write grants of this run (digest %s)", notTrusted, e.Digest)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *notTrustedError) Unwrap() error { return e.Err }

func isNotTrusted(err error) bool { return errors.As(err, new(*notTrustedError)) }

// untrustedGuard is a guard that was not asked, as nobody consented to what it runs.
func untrustedGuard(g Guard, err error) Guard {
	g.Verdict, g.Examined, g.Fix = string(guard.Failed), err.Error(), "a person consents: `"+trustTopic+"`"
	return g
}

// trustTopic is where a person reads how to consent. It is no command: agents
// paste what they read, and consent is not theirs to give.
const trustTopic = "spec-kitty help trust"

const commandsDriftCode = "commands_drift"

// commandsDrift warns where the configuration's commands, pins and write grants
// are not those that the run froze.
func (r *reading) commandsDrift() {
	if r.state.Commands != "" && consentSet(r.p.Config).Digest() != r.state.Commands {
		r.warn(commandsDriftCode, "commands, pins or write grants in "+config.FileName+" were changed after this run began; the run goes on with what it froze. "+r.takenOver())
	}
}
