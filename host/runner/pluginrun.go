package runner

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/spec-kitty/step-runner/host/bundle"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// EndAnswer is how a call ends well; every other end is a sub-code.
const EndAnswer = "answer"

// PluginCall asks for one call of a plugin.
type PluginCall struct {
	Target  string
	Verb    string
	Request []byte          // not for describe
	Asked   *PluginQuestion // or what a mission's run would ask
}

// PluginRun is how one call came out.
type PluginRun struct {
	Schema      int             `json:"schema"`
	Plugin      string          `json:"plugin"`
	File        string          `json:"file"` // absolute
	SHA256      string          `json:"sha256"`
	Verb        string          `json:"verb"`
	End         string          `json:"end"`    // answer, or the sub-code
	Answer      json.RawMessage `json:"answer"` // null where there is none that the host takes
	Failure     *PluginFailure  `json:"failure"`
	Stdout      string          `json:"stdout"` // as it came
	Log         string          `json:"log"`    // stderr, as it came
	Facts       []PluginFact    `json:"facts"`  // what it saw of the files
	Complete    bool            `json:"facts_complete"`
	ElapsedMS   float64         `json:"elapsed_ms"`
	Interpreted bool            `json:"interpreted"` // its machine code was not in the cache yet
}

// PluginFact is one thing that a plugin saw.
type PluginFact struct {
	Path   string `json:"path"` // as the plugin named it
	Kind   string `json:"kind"` // file, dir, link, stat or absent
	SHA256 string `json:"sha256"`
}

// Run calls a plugin once and tells all of it. A configured plugin has its grants
// and runs only with the bytes that are pinned; a file has none. With a mission's
// question it sees the facts of now; nothing is committed.
func (k *Kit) Run(ctx context.Context, q PluginCall) (PluginRun, error) {
	if q.Asked != nil {
		q.Verb, q.Request = q.Asked.Verb, q.Asked.Request
	}
	switch {
	case !slices.Contains([]string{abi.Describe, abi.Guard, abi.Execute}, q.Verb):
		return PluginRun{}, fail(CodeUsage, "use --verb guard, execute or describe", "there is no verb %q", q.Verb)
	case len(q.Request) > maxRequest:
		return PluginRun{}, fail(CodeUsage, "send less", "the request is longer than 1 MiB")
	}
	m, err := k.find(q.Target)
	if err != nil {
		return PluginRun{}, err
	}
	grants, err := k.grantsToRun(m, q)
	if err != nil {
		return PluginRun{}, err
	}
	e, err := k.call(ctx, m, grants, q.Verb, q.Request)
	if err != nil {
		return PluginRun{}, err
	}
	return m.ran(q.Verb, e), nil
}

// grantsToRun are the folders that the call sees. Describing sees none.
func (k *Kit) grantsToRun(m module, q PluginCall) (sandbox.Call, error) {
	if m.conf == nil {
		return sandbox.Call{}, nil
	}
	if sum := m.sum(); sum != m.conf.SHA256 {
		return sandbox.Call{}, placed(fail(CodeDefinitionInvalid, "if you trust these bytes: `spec-kitty plugin pin "+m.name+"`; without grants: `spec-kitty plugin run FILE`",
			"plugin %s: %s: the file has %s, the configuration pins %q", m.name, sandbox.WrongSHA256, sum, m.conf.SHA256), m.file, 0)
	}
	if m.own != nil && bundle.Sum(m.own) != m.conf.DirSum {
		return sandbox.Call{}, fail(CodeDefinitionInvalid, "if you trust these files: `spec-kitty plugin pin "+m.name+"`; without grants: `spec-kitty plugin run FILE --dir DIR`",
			"plugin %s: %s: the files of its folder have %s, the configuration pins %q", m.name, sandbox.WrongSHA256, bundle.Sum(m.own), m.conf.DirSum)
	}
	if q.Verb == abi.Describe {
		return sandbox.Call{}, nil
	}
	if q.Asked != nil {
		grants := q.Asked.call(freezePlugin(*m.conf))
		grants.Seed = q.Asked.seed
		return grants, nil
	}
	cfg, err := k.config()
	if err != nil {
		return sandbox.Call{}, err
	}
	return folders(cfg, m.conf.Read, missionDirOf(q.Request), func() string { return "" }), nil
}

func (m module) ran(verb string, e ended) PluginRun {
	out := PluginRun{
		Schema: Schema, Plugin: m.name, File: m.file, SHA256: m.sum(), Verb: verb, End: EndAnswer,
		Answer: json.RawMessage("null"), Failure: e.failure(), Stdout: shownText(e.Stdout), Log: shownText(e.Log),
		Facts: []PluginFact{}, Complete: !e.Incomplete, Interpreted: e.Interpreted,
		ElapsedMS: float64(e.Elapsed.Microseconds()) / 1000,
	}
	if e.code != "" {
		out.End = string(e.code)
	}
	if e.answer != nil {
		out.Answer = e.answer
	}
	for _, f := range e.Read {
		out.Facts = append(out.Facts, PluginFact{Path: f.Path, Kind: string(f.Kind), SHA256: f.SHA256})
	}
	return out
}
