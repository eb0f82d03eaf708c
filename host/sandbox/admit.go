package sandbox

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/bundle"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// admit refuses what cannot be called at all, and sets defaults.
func (h *Host) admit(p Plugin) (Plugin, error) {
	refuse := func(code Code, detail string) (Plugin, error) {
		return p, &Failure{Plugin: p.Name, Code: code, Detail: detail}
	}
	if h.opts.Exe == "" && !registered.Load() {
		return refuse(ChildFailed, "this program does not call sandbox.ChildMain first thing in main, so it cannot be started as its own child")
	}
	if (p.Path == "") == (p.Wasm == nil) {
		return refuse(BadModule, "give either the module's bytes or its file")
	}
	if p.Path != "" { // the child has another working folder
		abs, err := filepath.Abs(p.Path)
		if err != nil {
			return refuse(BadModule, "its file cannot be found: "+firstLine(err.Error()))
		}
		p.Path = abs
	}
	p.SHA256 = strings.ToLower(p.SHA256)
	if !isHexSum(p.SHA256) {
		return refuse(WrongSHA256, "its sha256 is missing or not 64 hex digits: pin it")
	}
	var err error
	if p.Limits, err = p.Limits.filled(); err != nil {
		return refuse(ChildFailed, "its limits cannot be: "+err.Error())
	}
	return p, nil
}

func isHexSum(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// callJob is the job of a call, and what follows it on stdin.
func callJob(p Plugin, c Call) (job, [][]byte, error) {
	if strings.ContainsRune(c.Verb, 0) {
		return job{}, nil, errors.New("the verb holds a zero byte")
	}
	if len(c.Request) > maxRequest {
		return job{}, nil, fmt.Errorf("the request has %d bytes, at most %d MiB are allowed", len(c.Request), maxRequest>>20)
	}
	if err := c.checkPaths(); err != nil {
		return job{}, nil, err
	}
	if p.Bundle != nil {
		if _, err := bundle.Unpack(p.Bundle); err != nil {
			return job{}, nil, fmt.Errorf("its own folder cannot be shown: %w", err)
		}
	}
	for _, arg := range p.Args {
		if strings.ContainsRune(arg, 0) {
			return job{}, nil, errors.New("an argument holds a zero byte")
		}
	}
	for name, value := range p.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return job{}, nil, fmt.Errorf("the environment variable %q cannot be given", name)
		}
	}
	j := job{
		Name: p.Name, Path: p.Path, Wasm: int64(len(p.Wasm)), SHA256: p.SHA256, Limits: p.Limits,
		Verb: c.Verb, Args: p.Args, Env: p.Env, Request: int64(len(c.Request)), Bundle: int64(len(p.Bundle)),
		Mounts: c.Mounts, Reads: c.Reads, Hide: c.Hide, Now: c.Now, Seed: c.Seed[:],
	}
	return j, [][]byte{p.Wasm, c.Request, p.Bundle}, nil
}

func (c Call) checkPaths() error {
	var mounts []string
	for _, m := range c.Mounts {
		if !cleanAbs(m.Guest) || m.Guest == "/" || within(m.Guest, abi.PluginDir) {
			return fmt.Errorf("the mount %q is not a clean absolute path outside of %s", m.Guest, abi.PluginDir)
		}
		mounts = append(mounts, m.Guest)
	}
	for _, p := range c.Reads {
		if !cleanAbs(p) || !slices.ContainsFunc(mounts, func(m string) bool { return within(p, m) }) {
			return fmt.Errorf("the granted path %q is not a clean absolute path below a mount", p)
		}
	}
	for _, p := range c.Hide { // what lies below no mount is hidden anyway
		if !cleanAbs(p) {
			return fmt.Errorf("the hidden path %q is not a clean absolute path", p)
		}
	}
	return nil
}

func cleanAbs(p string) bool { return path.IsAbs(p) && path.Clean(p) == p }
