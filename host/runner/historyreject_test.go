package runner

import (
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
