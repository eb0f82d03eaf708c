package runner

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// P1, P5: an executor, which nobody consented to, takes no person's place by the
// inputs that it gives: it says not who approves, changes no answer, and chooses among
// what the mission offers. What is its own, or nobody said yet, it may set.
func TestExecutorSetsNoPersonsInput_P5(t *testing.T) {
	for name, c := range map[string]struct{ inputs, says string }{
		"who approves":              {`{"mission_owner_id":"a"}`, "who answers audits"},
		"another answer":            {`{"owner":"a"}`, `owner was answered with "kim"`},
		"none of the options":       {`{"db":"mysql"}`, "none of the options"},
		"nothing where one chooses": {`{"db":" "}`, "none of the options"},
		"one of several":            {`{"layout":"flat","mission_owner_id":"a"}`, "who answers audits"},
		"the same answer":           {`{"owner":"kim"}`, ""},
		"one of the options":        {`{"db":"sqlite"}`, ""},
		"what a later step asks":    {`{"later":"x"}`, ""},
		"a key of its own":          {`{"layout":"flat"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := makeProject(t, `
[[missions.t.steps]]
id = "A"
inputs = [{ key = "owner", question = "Who?" }, { key = "db", question = "Which?", options = ["postgres", "sqlite"], default = "postgres" }]
executor = { plugin = "says" }
[[missions.t.steps]]
id = "B"
depends_on = ["A"]
inputs = [{ key = "later", question = "What?", default = "y" }]
[[missions.t.audits]]
id = "release"
title = "Release"
question = "Ship it?"
enforcement = "blocking"
depends_on = ["B"]
`, nil, "says")
			file := filepath.Join(root, "spec-kitty.toml")
			write(t, file, strings.Replace(read(t, file), `timeout = "5s"`, "args = ['{\"outcome\":\"success\",\"inputs\":"+c.inputs+"}']", 1))
			p := open(t, root)
			must(t, p, report("a", cursor.Success))
			if _, err := p.Next(t.Context(), Request{Mission: "m", Caller: Caller{Human: "kim"}, Answer: text("kim"), Decision: "input:owner"}); err != nil {
				t.Fatal(err)
			}
			wantStep(t, must(t, p, report("a", cursor.Success)), "A")
			before := journal(t, root)
			a := must(t, p, report("a", cursor.Success))
			if c.says == "" {
				wantStep(t, a, "B")
				return
			}
			wantBlocked(t, a, string(PluginFailed))
			if !strings.Contains(value(a.Reason), "not_granted") || !strings.Contains(value(a.Reason), c.says) || journal(t, root) != before {
				t.Errorf("%s", value(a.Reason))
			}
		})
	}
}
