// Package guest is what a plugin in Go needs of ABI version 1: the request as a
// struct, the answers, and JSON without reflection, which keeps a plugin a fifth
// smaller than with encoding/json. It imports the standard
// library alone, neither fmt nor encoding/json. Nothing in it is for concurrent
// use: a plugin lives for one call.
package guest

import (
	"errors"
	"io"
	"os"
)

// Version is the major version of the ABI that this package speaks.
const Version = 1

// MaxRequest is how many bytes of a request are read.
const MaxRequest = 8 << 20

// Plugin is what the plugin is and does. Guard and Execute are called once for a
// request; a verb whose function is nil is one that the plugin does not have. An
// error is no answer: it goes to stderr, the call ends with exit code 1, and the
// step stays where it was.
type Plugin struct {
	Name        string // as in the project's configuration
	Version     string
	Description string
	With        string // JSON Schema of the settings, or ""
	Guard       func(Request) (GuardAnswer, error)
	Execute     func(Request) (ExecuteAnswer, error)
}

// Main is the whole of a plugin's main: it reads the request, calls the verb's
// function and writes the answer. From then on os.Stdout is stderr, so that what
// the plugin prints is a log and cannot spoil the answer. It does not return
// where there is no answer: the message is on stderr, the exit code is 2 for a
// call that is not understood and 1 for an error of the plugin's own.
func (p Plugin) Main() {
	out := os.Stdout
	os.Stdout = os.Stderr
	verb := os.Args[len(os.Args)-1]
	answer, err := p.answer(verb, os.Stdin)
	if err == nil {
		_, err = out.Write(append(answer, '\n'))
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(exitCode(err))
	}
}

// callError is a call that is not understood.
type callError string

func (e callError) Error() string { return string(e) }

func exitCode(err error) int {
	if errors.As(err, new(callError)) {
		return 2
	}
	return 1
}

func (p Plugin) answer(verb string, in io.Reader) ([]byte, error) {
	if verb == "describe" {
		return p.describe(), nil
	}
	if !(verb == "guard" && p.Guard != nil || verb == "execute" && p.Execute != nil) {
		return nil, callError("there is no verb " + verb)
	}
	raw, err := io.ReadAll(io.LimitReader(in, MaxRequest+1))
	if err != nil {
		return nil, callError("the request cannot be read: " + err.Error())
	}
	r, err := ParseRequest(raw)
	if err != nil {
		return nil, err
	}
	if verb == "guard" {
		a, err := p.Guard(r)
		return a.Encode(), err
	}
	a, err := p.Execute(r)
	return a.Encode(), err
}

func (p Plugin) describe() []byte {
	var w writer
	w.open('{')
	w.key("abi")
	w.raw("1")
	w.member("name", p.Name)
	w.optional("version", p.Version)
	w.optional("description", p.Description)
	w.key("verbs")
	w.open('[')
	if p.Guard != nil {
		w.text("guard")
	}
	if p.Execute != nil {
		w.text("execute")
	}
	w.close(']')
	if p.With != "" {
		w.key("with")
		w.raw(p.With)
	}
	w.close('}')
	return w.b
}
