package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// The results of a check.
const (
	CheckPass = "pass"
	CheckFail = "fail"
	CheckSkip = "skip" // something before it failed
)

// PluginReport is what Check found.
type PluginReport struct {
	Schema int           `json:"schema"`
	Name   string        `json:"name"`
	File   string        `json:"file"` // absolute
	SHA256 string        `json:"sha256"`
	Sound  bool          `json:"sound"` // no check failed
	Checks []PluginCheck `json:"checks"`
}

// PluginCheck is one check of a module.
type PluginCheck struct {
	Check  string  `json:"check"`
	Verb   *string `json:"verb"` // null: of the module as a whole
	Result string  `json:"result"`
	Found  string  `json:"found"` // of a failed check: what the module did
	Fix    string  `json:"fix"`   // of a failed check: what to do
}

// Check runs the conformance checks of the ABI, for a module of any language: the
// calls that every plugin must get right, with no grants or with an empty mission
// folder. Whether its answers are right only its author can test.
func (k *Kit) Check(ctx context.Context, target string) (PluginReport, error) {
	m, err := k.find(target)
	if err != nil {
		return PluginReport{}, err
	}
	folder, err := os.MkdirTemp("", "spec-kitty-check-")
	if err != nil {
		return PluginReport{}, classify(err)
	}
	defer os.RemoveAll(folder)
	if err := os.MkdirAll(filepath.Join(folder, filepath.FromSlash(checkMission)), 0o755); err != nil {
		return PluginReport{}, classify(err)
	}
	c := &checker{kit: k, ctx: ctx, module: m, granted: sandbox.Call{
		Mounts: []sandbox.Mount{{Guest: abi.ProjectDir, Host: folder}},
		Reads:  []string{abi.ProjectDir + "/" + checkMission},
	}}
	if err := c.run(); err != nil {
		return PluginReport{}, err
	}
	out := PluginReport{Schema: Schema, Name: m.name, File: m.file, SHA256: m.sum(), Checks: c.done}
	out.Sound = !slices.ContainsFunc(c.done, func(p PluginCheck) bool { return p.Result == CheckFail })
	return out, nil
}

// checker runs the checks one after the other. The first error of the host's own
// ends it.
type checker struct {
	kit     *Kit
	ctx     context.Context
	module  module
	granted sandbox.Call // an empty mission folder
	done    []PluginCheck
	err     error
}

func (c *checker) run() error {
	if !c.moduleChecks() {
		c.skip("describe", "guard and execute")
		return c.err
	}
	verbs := c.describeChecks()
	if verbs == nil {
		c.skip("guard and execute")
		return c.err
	}
	for _, verb := range []string{abi.Guard, abi.Execute} {
		if slices.Contains(verbs, verb) {
			c.verbChecks(verb)
		} else {
			c.refused("other verb", verb, baseRequest(verb), "it does not describe this verb, and yet answered it",
				"end with an exit code other than 0 for verbs that describe does not list")
		}
	}
	c.refused("unknown verb", "no-such-verb", baseRequest("no-such-verb"), "it answered a verb that does not exist",
		"end with an exit code other than 0, and a message on stderr, for verbs you do not know")
	return c.err
}

// result notes a check; found "" is a pass.
func (c *checker) result(check, verb, found, fix string) bool {
	if c.err != nil {
		return false
	}
	one := PluginCheck{Check: check, Verb: text(verb), Result: CheckPass}
	if found != "" {
		one.Result, one.Found, one.Fix = CheckFail, found, fix
	}
	c.done = append(c.done, one)
	return found == ""
}

func (c *checker) skip(checks ...string) {
	for _, name := range checks {
		if c.err == nil {
			c.done = append(c.done, PluginCheck{Check: name, Result: CheckSkip})
		}
	}
}

func (c *checker) moduleChecks() bool {
	found := sandbox.Inspect(c.module.wasm).Problem
	if !c.result("module", "", found, "build a command for WASI preview 1 (wasip1) with a main function") {
		return false
	}
	found = ""
	if err := c.kit.host.Prepare(c.ctx, c.module.sandboxed()); err != nil {
		if c.ctx.Err() != nil {
			c.err = c.ctx.Err()
			return false
		}
		found = err.Error()
	}
	return c.result("compile", "", found, "build with WebAssembly 2.0 features at most, for release, without debug information")
}

// describeChecks gives the verbs that the plugin has; nil where it cannot say.
func (c *checker) describeChecks() []string {
	first := c.call(abi.Describe, nil, sandbox.Call{})
	if !c.result("describe", abi.Describe, unanswered(first),
		"answer describe with empty stdin and no files: print {\"abi\":1,\"name\":…,\"verbs\":[…]} and exit with 0") {
		return nil
	}
	c.same("describe twice", abi.Describe, first, c.call(abi.Describe, nil, sandbox.Call{}), fixRepeat)
	answer, err := sandbox.DescribeAnswer(c.module.name, first.Answer)
	if err != nil {
		return nil
	}
	return answer.Verbs
}

const (
	fixRepeat = "do not let the answer depend on anything but the request and the files: no addresses, no order of a hash table"
	fixEnds   = "answer (a guard may answer with the verdict error), or end with an exit code other than 0 and say why on stderr"
)

// verbChecks are the checks of guard or execute. Each is compared with how the
// plain request ended.
func (c *checker) verbChecks(verb string) {
	plain := baseRequest(verb)
	base := c.call(verb, plain, c.granted)
	if !c.result("an empty mission folder", verb, badEnd(base), fixEnds) {
		c.skip("further checks of " + verb)
		return
	}
	c.same("the same call twice", verb, base, c.call(verb, plain, c.granted), fixRepeat)
	c.result("no grants", verb, badEnd(c.call(verb, plain, sandbox.Call{})), fixEnds)
	c.same("a newline after the request", verb, base, c.call(verb, append(slices.Clone(plain), "\r\n "...), c.granted),
		"read all of stdin and allow white space after the document")
	c.same("unknown keys", verb, base, c.call(verb, withUnknown(plain), c.granted), "ignore keys that you do not know, everywhere in the request")
	c.same("nested 64 deep", verb, base, c.call(verb, withDepth(plain), c.granted), "let your JSON reader take 64 lists and objects inside each other")
	c.same("a request of 1 MiB", verb, base, c.call(verb, withSize(plain), c.granted), "read stdin to its end, up to 1 MiB, and have the memory for it")
	emoji := emojiRequest(verb)
	asIs := c.call(verb, emoji, c.granted)
	if c.result("emoji and other letters", verb, badEnd(asIs), "read and write UTF-8") {
		c.same("\\u escapes", verb, asIs, c.call(verb, escaped(emoji), c.granted),
			"decode \\uXXXX in texts, pairs of surrogates too: they mean the same letters")
	}
	const fix = "check that stdin is one JSON object, and end with an exit code other than 0 where it is not"
	c.refused("a request that is cut off", verb, plain[:len(plain)/2], "it answered", fix)
	c.refused("a request that is no JSON", verb, []byte("this is no JSON\n"), "it answered", fix)
}

func (c *checker) call(verb string, request []byte, grants sandbox.Call) ended {
	if c.err != nil {
		return ended{}
	}
	e, err := c.kit.call(c.ctx, c.module, grants, verb, request)
	c.err = err
	return e
}

// refused wants the call to end with an exit code other than 0.
func (c *checker) refused(check, verb string, request []byte, found, fix string) {
	e := c.call(verb, request, c.granted)
	switch e.code {
	case sandbox.Exited:
		found = ""
	case "":
		found += ": " + head(e.Stdout)
	default:
		found = e.saying()
	}
	c.result(check, verb, found, fix)
}

// same wants two calls to end alike, with the same bytes.
func (c *checker) same(check, verb string, want, got ended, fix string) {
	found := ""
	switch {
	case want.code != got.code:
		found = got.saying()
	case want.code == "" && !bytes.Equal(want.Stdout, got.Stdout):
		found = fmt.Sprintf("it answered %s, where %s was the answer before", head(got.Stdout), head(want.Stdout))
	case want.code == sandbox.Exited && want.Failure.Exit != got.Failure.Exit:
		found = fmt.Sprintf("it ended with exit code %d, where %d was it before", got.Failure.Exit, want.Failure.Exit)
	}
	c.result(check, verb, found, fix)
}
