package runner

import (
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
)

// The model is no rubber stamp: small histories with one fault each are
// rejected, and without it accepted.
func TestHistoryModelRejects(t *testing.T) {
	closed := func(agent int, revision uint64, state string) porcupine.Operation {
		return porcupine.Operation{ClientId: agent, Input: asked{op: "next", agent: agent},
			Output: heard{kind: KindQuery, recorded: true, revision: revision, state: state}}
	}
	query := func(agent int, revision uint64, state string) porcupine.Operation {
		return porcupine.Operation{ClientId: agent, Input: asked{op: "query", agent: agent},
			Output: heard{kind: KindQuery, revision: revision, state: state}}
	}
	apply := func(agent int, at string, revision uint64, state string) porcupine.Operation {
		return porcupine.Operation{ClientId: agent, Input: asked{op: "apply", agent: agent, planAt: at},
			Output: heard{kind: KindQuery, recorded: true, revision: revision, state: state}}
	}
	// The road to the packages: gates closed, both answers given.
	pack := []porcupine.Operation{closed(0, 2, "g2"), closed(0, 3, "g3"),
		{ClientId: 0, Input: asked{op: "next"}, Output: heard{kind: KindDecision, recorded: true, revision: 4, state: modelAsk, open: 2}}}
	for i, value := range []string{"yes", "no"} {
		pack = append(pack, porcupine.Operation{Input: asked{op: "answer", input: i, value: value}, Output: heard{recorded: true, revision: uint64(5 + i)}})
	}
	pack = append(pack,
		porcupine.Operation{Input: asked{op: "next"}, Output: heard{kind: KindStep, recorded: true, revision: 7, state: modelAsk, step: modelAsk, token: "T1"}},
		porcupine.Operation{Input: asked{op: "next", token: "T1"}, Output: heard{kind: KindStep, recorded: true, revision: 8, state: modelPack, step: modelPack, pkg: "WP01", token: "T2"}})
	claim := func(agent int, pkg, got, token string, revision uint64) porcupine.Operation {
		return porcupine.Operation{ClientId: agent, Input: asked{op: "claim", agent: agent, value: pkg},
			Output: heard{kind: KindStep, recorded: true, revision: revision, state: modelPack, step: modelPack, pkg: got, token: token}}
	}
	held := porcupine.Operation{ClientId: 2, Input: asked{op: "claim", agent: 2, value: "WP02"}, Output: heard{kind: KindBlocked, code: "package_held"}}
	for name, c := range map[string]struct {
		ops  []porcupine.Operation // each one after the other
		want bool
	}{
		"two reports":                       {[]porcupine.Operation{closed(0, 2, "g2"), closed(1, 3, "g3"), query(2, 3, "g3")}, true},
		"a lost commit":                     {[]porcupine.Operation{closed(0, 2, "g2"), closed(1, 2, "g2")}, false},
		"a commit applied twice":            {[]porcupine.Operation{closed(0, 2, "g2"), query(1, 3, "g3")}, false},
		"a query of the past":               {[]porcupine.Operation{closed(0, 2, "g2"), query(1, 1, "g1")}, false},
		"a plan for another step":           {[]porcupine.Operation{closed(0, 2, "g2"), apply(1, "g1", 3, "g3")}, false},
		"a plan for its step":               {[]porcupine.Operation{closed(0, 2, "g2"), apply(1, "g2", 3, "g3")}, true},
		"a fault of the program":            {[]porcupine.Operation{{Input: asked{op: "query"}, Output: heard{err: CodeInternal}}}, false},
		"a claim by name, and one too late": {slices.Concat(pack, []porcupine.Operation{claim(1, "WP02", "WP02", "T3", 9), held}), true},
		"a claim that was refused first":    {slices.Concat(pack, []porcupine.Operation{held, claim(1, "WP02", "WP02", "T3", 9)}), false},
		"one package claimed by two":        {slices.Concat(pack, []porcupine.Operation{claim(1, "WP02", "WP02", "T3", 9), claim(2, "WP02", "WP02", "T4", 10)}), false},
		"a claim of what is handed out":     {slices.Concat(pack, []porcupine.Operation{claim(1, "", "WP01", "T3", 9)}), false},
		"a token that was given before":     {slices.Concat(pack, []porcupine.Operation{claim(1, "", "WP02", "T2", 9)}), false},
		"a report of what nobody was given": {[]porcupine.Operation{{Input: asked{op: "next", token: "T"}, Output: heard{kind: KindQuery, recorded: true, revision: 2, state: "g2"}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.ops {
				c.ops[i].Call, c.ops[i].Return = int64(2*i), int64(2*i+1)
			}
			if got := porcupine.CheckOperations(runModel(), c.ops); got != c.want {
				t.Errorf("accepted %v, want %v", got, c.want)
			}
		})
	}
}
