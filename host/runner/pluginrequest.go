package runner

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// PluginAsk says which of a step's plugins is meant: the executor, or a guard by
// its plugin's name, as NAME#2 where a step names it more than once.
type PluginAsk struct {
	Mission  string
	Caller   Caller // whose report it would be; nobody is whoever holds the work
	Guard    string
	Executor bool
	Package  string // at a step with packages; "" is the only one handed out
}

// PluginQuestion is what the host would ask a plugin now.
type PluginQuestion struct {
	Plugin  string
	Verb    string
	Request []byte // one line of JSON, as the plugin gets it on stdin

	seed [32]byte
	call func(frozenPlugin) sandbox.Call
}

// PluginRequest is the request that a report of success on the current step would
// send, if it came now. It runs nothing, takes no lock and writes nothing. Guards
// see inputs of the executor only in a real report.
func (p *Project) PluginRequest(ctx context.Context, q PluginAsk) (PluginQuestion, error) {
	if err := q.Caller.check(); err != nil {
		return PluginQuestion{}, err
	}
	if q.Executor == (q.Guard != "") {
		return PluginQuestion{}, fail(CodeUsage, "name the guard's plugin, or choose the executor", "one plugin is asked at a time")
	}
	r, err := p.read(ctx, q.Mission)
	if err != nil {
		return PluginQuestion{}, classify(err)
	}
	if r.run == nil {
		return PluginQuestion{}, classify(fmt.Errorf("mission %s: %w", r.mission.Slug, commit.ErrNoRun))
	}
	out, err := r.question(q)
	return out, classify(err)
}

func (r *reading) question(q PluginAsk) (PluginQuestion, error) {
	issue, err := r.issueToAsk(q)
	if err != nil {
		return PluginQuestion{}, err
	}
	def, err := r.facts.Def.Step(issue.Pos)
	if err != nil {
		return PluginQuestion{}, err
	}
	name, verb, with, err := pluginOf(def, q)
	if err != nil {
		return PluginQuestion{}, err
	}
	t := &step{issue: issue, report: &cursor.Report{By: issue.Holder, Result: cursor.Success}}
	req, err := r.request(t, def, verb, with)
	if err != nil {
		return PluginQuestion{}, err
	}
	raw, err := req.Encode()
	return PluginQuestion{
		Plugin: name, Verb: verb, Request: raw, seed: r.seed(t, name, verb),
		call: func(f frozenPlugin) sandbox.Call { return r.p.grants(r.mission, f, issue.Package) },
	}, err
}

// issueToAsk is the work that would be reported: what is handed out to the
// caller, or to anybody where nobody is named, else the step itself.
func (r *reading) issueToAsk(q PluginAsk) (cursor.Issue, error) {
	s, by := r.state, q.Caller.Holder()
	if s.Phase != cursor.Running {
		return cursor.Issue{}, fail(CodeNothingIssued, "name a mission that goes on", "the run of mission %s is over: nothing is asked any more", r.mission.Slug)
	}
	open := slices.DeleteFunc(s.Issues(), func(i cursor.Issue) bool {
		return q.Package != "" && i.Package != q.Package || by != (cursor.Holder{}) && i.Holder != by
	})
	switch {
	case len(open) == 1:
		return open[0], nil
	case len(open) > 1:
		e := fail(CodeAmbiguous, "name one with --package", "several packages are handed out")
		for _, i := range open {
			e.Candidates = append(e.Candidates, i.Package)
		}
		return cursor.Issue{}, e
	case q.Package != "":
		e := fail(CodeNotFound, "name a package that is handed out", "package %q is not handed out", q.Package)
		for _, i := range s.Issues() {
			if i.Package != "" {
				e.Candidates = append(e.Candidates, i.Package)
			}
		}
		return cursor.Issue{}, e
	}
	return cursor.Issue{Pos: s.Cursor.Pos, Step: s.Cursor.Step, Attempt: max(s.Cursor.Attempt, 1), Holder: by}, nil
}

// pluginOf finds the plugin in a step, and its settings there.
func pluginOf(def mission.Step, q PluginAsk) (name, verb string, with map[string]any, err error) {
	if q.Executor {
		if def.Executor == nil {
			return "", "", nil, fail(CodeNotFound, "name a guard of it with --guard", "step %s has no executor", def.ID)
		}
		return def.Executor.Plugin, abi.Execute, def.Executor.With, nil
	}
	wanted, nth, err := cutNumber(q.Guard)
	if err != nil {
		return "", "", nil, err
	}
	var names []string
	for _, g := range def.Guards {
		if g.Plugin == nil {
			continue
		}
		names = append(names, g.Plugin.Plugin)
		if g.Plugin.Plugin != wanted {
			continue
		}
		if nth--; nth == 0 {
			return wanted, abi.Guard, g.Plugin.With, nil
		}
	}
	e := fail(CodeNotFound, "name a guard plugin of the current step", "step %s has no guard by plugin %q", def.ID, q.Guard)
	e.Candidates = names
	return "", "", nil, e
}

// cutNumber takes NAME#2 apart; a name alone is the first.
func cutNumber(guard string) (name string, nth int, err error) {
	name, number, numbered := strings.Cut(guard, "#")
	if !numbered {
		return name, 1, nil
	}
	if nth, err = strconv.Atoi(number); err != nil || nth < 1 {
		return "", 0, fail(CodeUsage, "write NAME, or NAME#2 for the second of that name", "%q names no guard", guard)
	}
	return name, nth, nil
}
