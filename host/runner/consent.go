package runner

import (
	"errors"
	"fmt"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
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
		set.Plugins[name] = trust.Plugin{SHA256: p.SHA256, Dir: p.DirSum, Write: p.Write}
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

// commands is the set that the run froze. The records vouch for its bytes:
// whoever edits them declares nothing.
func (r *run) commands(digest string) (trust.Set, error) {
	raw, err := r.blob(commandsBlob(digest))
	if err == nil && trust.Digest(raw) != digest {
		err = errors.New("it is not what the run froze")
	}
	var set trust.Set
	if err == nil {
		set, err = trust.Decode(raw)
	}
	if err != nil {
		return set, &commit.DamagedError{File: commandsBlob(digest) + " of run " + r.store.ID(), Why: err.Error()}
	}
	return set, nil
}

// consented gives the set that the run froze once the user has consented to it.
// The error is a *notTrustedError, or the damage of what was frozen.
func (r *reading) consented() (trust.Set, error) {
	if r.state.Commands == "" {
		return trust.Set{}, &notTrustedError{}
	}
	set, err := r.run.commands(r.state.Commands)
	if err != nil {
		return set, err
	}
	trusted, err := r.p.trust.Trusts(r.state.Commands)
	if !trusted {
		return set, &notTrustedError{Digest: r.state.Commands, Err: err}
	}
	return set, nil
}

// notTrustedError says that nobody here consented to a set.
type notTrustedError struct {
	Digest string
	Err    error // why the records could not be looked at; nil: there is none
}

func (e *notTrustedError) Error() string {
	text := fmt.Sprintf("%s: nobody at this machine consented to the commands, pins and write grants of this run (digest %s)", notTrusted, e.Digest)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *notTrustedError) Unwrap() error { return e.Err }

// trustTopic is where a person reads how to consent. It is no command: agents
// paste what they read, and consent is not theirs to give.
const trustTopic = "spec-kitty help trust"

// commandsDrift warns where the configuration's commands, pins and write grants
// are not those that the run froze.
func (r *reading) commandsDrift() {
	if r.state.Commands != "" && consentSet(r.p.Config).Digest() != r.state.Commands {
		r.warn("commands_drift", "commands, pins or write grants in "+config.FileName+" were changed after this run began; the run goes on with what it froze")
	}
}
