package cursor

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spec-kitty/step-runner/host/mission"
)

// FuzzDecodeEvent: no bytes make the decoder or Evolve panic, and an event that
// was read comes back as it was written.
func FuzzDecodeEvent(f *testing.F) {
	for _, e := range oneOfEach() {
		raw, err := EncodeEvent(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(raw))
	}
	f.Add([]byte(`{"completed":{"pos":-1}}`))
	f.Add([]byte(`{"completed":{"pos":9000000000000000000}}`))
	f.Add([]byte(`{"reopened":{"positions":[-1,9000000000000000000]}}`))
	f.Add([]byte(`{"teleported":{}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := DecodeEvent(raw)
		if err != nil {
			return
		}
		again, err := EncodeEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeEvent(again)
		if err != nil {
			t.Fatalf("%s was written as %s, which is not read: %v", raw, again, err)
		}
		if diff := cmp.Diff(e, back, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		Evolve(Evolve(State{}, Meta{Revision: 1}, e), Meta{Revision: 2}, e)
	})
}

// world is what FuzzDecide reads: a state, facts and a transition, however
// little they fit each other.
type world struct {
	State      State             `json:"state"`
	Source     Source            `json:"source"`
	Packages   []PackageFact     `json:"packages"`
	Digests    map[string]string `json:"digests"`
	Definition int               `json:"definition"`
	Kind       string            `json:"kind"`
	Transition json.RawMessage   `json:"transition"`
}

func (w world) facts() Facts {
	defs := []*mission.Definition{chain("a", "b"), dev(), walked(), allowNone()}
	f := facts(defs[uint(w.Definition)%uint(len(defs))], w.Packages...)
	f.Source, f.Digests = w.Source, w.Digests
	return f
}

func (w world) decode() (transition, error) {
	switch w.Kind {
	case "start":
		return decodeAs[startValues](w.Transition)
	case "ask":
		return decodeAs[Ask](w.Transition)
	case "answer":
		return decodeAs[Give](w.Transition)
	case "postpone":
		return decodeAs[Postpone](w.Transition)
	case "rewind":
		return decodeAs[Rewind](w.Transition)
	case "withdraw":
		return decodeAs[Withdraw](w.Transition)
	case "retry":
		return decodeAs[Retry](w.Transition)
	case "skip":
		return decodeAs[Skip](w.Transition)
	case "release":
		return decodeAs[Release](w.Transition)
	case "abort":
		return decodeAs[Abort](w.Transition)
	case "claim":
		return decodeAs[Claim](w.Transition)
	case "move":
		return decodeAs[Move](w.Transition)
	case "wp_release":
		return decodeAs[ReleasePackage](w.Transition)
	case "publish":
		return decodeAs[Publish](w.Transition)
	case "discard":
		return decodeAs[Discard](w.Transition)
	case "migrate":
		return decodeAs[migrateValues](w.Transition)
	}
	return decodeAs[Report](w.Transition)
}

func decodeAs[T transition](raw json.RawMessage) (transition, error) {
	var x T
	err := json.Unmarshal(raw, &x)
	return x, err
}

// startValues is a Start without its definition, which JSON has no form for.
type startValues struct {
	Run, Mission string
	Inputs       map[string]string
	By           Holder
	Tokens       Tokens
}

func (startValues) Kind() string  { return "start" }
func (startValues) Actor() string { return "fuzz" }

func (t startValues) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	return Start{Run: t.Run, Mission: t.Mission, Inputs: t.Inputs, By: t.By, Tokens: t.Tokens}.Decide(s, f, now)
}

// migrateValues is a Migrate to one of the definitions of a world.
type migrateValues struct {
	From, Definition, Index string
	Plugins                 map[string]string
	To                      int
	Tokens                  Tokens
}

func (migrateValues) Kind() string  { return "migrate" }
func (migrateValues) Actor() string { return "fuzz" }

func (t migrateValues) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	return Migrate{Who: "fuzz", From: t.From, Definition: t.Definition, Index: t.Index, Plugins: t.Plugins, Tokens: t.Tokens,
		Def: world{Definition: t.To}.facts().Def}.Decide(s, f, now)
}

// FuzzDecide: whatever a damaged view or an edited plan says, deciding and
// looking never panic, and what is decided can be written and folded.
func FuzzDecide(f *testing.F) {
	for _, seed := range decideSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw []byte) { decideOn(t, raw) })
}

// decideOn tells whether the bytes were a world; it fails the test where a
// decision on it does harm.
func decideOn(t fataler, raw []byte) bool {
	t.Helper()
	var w world
	if json.Unmarshal(raw, &w) != nil {
		return false
	}
	x, err := w.decode()
	if err != nil {
		return false
	}
	facts := w.facts()
	for _, name := range []string{"", "ann"} {
		if here, err := At(w.State, facts, who(name)); err == nil {
			_ = here.Refusal()
		}
	}
	decides(t, w.State, facts, x)
	if report, ok := x.(Report); ok { // and planned on this very state
		for _, issue := range append(w.State.Issues(), Issue{}) {
			report.Base, report.Token = BaseOf(w.State, facts, issue, true), issue.Token
			decides(t, w.State, facts, report)
		}
	}
	return true
}

func decides(t fataler, s State, facts Facts, x transition) {
	t.Helper()
	before := encoded(t, s)
	events, err := x.Decide(s, facts, clock(0))
	if err != nil && len(events) > 0 {
		t.Fatalf("refused with events: %v", err)
	}
	if after := encoded(t, s); after != before {
		t.Fatalf("Decide changed its state:\n%s\n%s", before, after)
	}
	for _, e := range events {
		line, err := EncodeEvent(e)
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		back, err := DecodeEvent(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		s = Evolve(s, Meta{Revision: s.Revision + 1}, back)
	}
	encoded(t, s)
}

// decideSeeds are the transitions of a run that meets most rules, each with the
// state that it met, and some that fit nothing.
func decideSeeds(f fataler) [][]byte {
	var seeds [][]byte
	r := begin(f, facts(dev(), packages("WP01", "WP02")...), nil)
	r.f.Packages[1].DependsOn = []string{"WP01"}
	seed := func(x transition) {
		w := world{State: r.s, Source: r.f.Source, Packages: r.f.Packages, Definition: 1, Kind: x.Kind(), Transition: json.RawMessage(encoded(f, x))}
		seeds = append(seeds, []byte(encoded(f, w)))
		r.must(x)
	}
	seed(r.asking("ann"))
	seed(r.own("ann", Success))
	seed(r.own("ann", Failed))
	seed(r.own("ann", Blocked))
	seed(Retry{Who: "ops", Tokens: r.tokens()})
	seed(Move{Who: "ops", Package: "WP01", To: mission.Blocked, Force: true, Reason: "r"})
	seed(ReleasePackage{Who: "ops", Package: "WP01", Reason: "r"})
	seed(Claim{Who: "ann", By: who("ann"), Package: "WP01", Tokens: r.tokens()})
	question := r.own("ann", Success)
	question.Outcome = &Outcome{Result: Question, Question: &Asking{ID: PluginID("q"), Question: "?"}}
	seed(question)
	seed(Postpone{Who: "ops", Decision: "plugin:q", Reason: "r"})
	seed(r.human("plugin:q", "yes"))
	seed(r.asking("ann"))
	seed(Release{Who: "ops"})
	seed(r.asking("ann"))
	seed(r.own("ann", Success))
	seed(r.asking("bob"))
	seed(r.own("bob", Failed))
	seed(Skip{Who: "ops", Step: "implement", Reason: "r", Tokens: r.tokens()})
	seed(Skip{Who: "ops", Step: "review", Reason: "r", Tokens: r.tokens()})
	seed(r.rewind(3, true))
	seed(Skip{Who: "ops", Step: "implement", Reason: "r", Tokens: r.tokens()})
	seed(Skip{Who: "ops", Step: "review", Reason: "r", Tokens: r.tokens()})
	seed(r.human("audit:release", reject))
	seed(Abort{Who: "ops", Reason: "r"})
	for _, odd := range []string{
		`{"kind":"advance","transition":{"by":{"agent":"a"},"result":"success","base":{"issue":"T","package":{"id":"WP01"}}},"state":{"phase":"running","packages":{"WP01":{"issue":{"token":"T","package":"WP01"}}}}}`,
		`{"kind":"advance","transition":{"by":{"agent":"a"},"result":"success","outcome":{"result":"question"}},"state":{"phase":"running"}}`,
		`{"kind":"answer","transition":{"Human":"a","Decision":"audit:a","Token":"T","Value":"reject"},"state":{"phase":"running","cursor":{"questions":[{"id":"audit:a","token":"T"}]}}}`,
		`{"kind":"answer","transition":{"Decision":"package:A","Value":"cancel"},"packages":[{"ID":"A","DependsOn":["A"]}],"state":{"phase":"running","cursor":{"questions":[{"id":"package:A"}]},"packages":{"A":{"lane":"nowhere"}}}}`,
		`{"kind":"migrate","definition":1,"transition":{"Definition":"d","Index":"i","To":2,"Tokens":{"Issue":"T2"}},"state":{"phase":"running","cursor":{"step":"implement"},"packages":{"WP01":{"issue":{"token":"T","package":"WP01"}}}}}`,
		`{"kind":"publish","transition":{"Who":"ops"},"state":{"phase":"running","unpublished":{"revision":3}}}`,
		`{"kind":"discard","transition":{"Who":"ops","Revision":3,"Reason":"r"},"state":{"phase":"running","unpublished":{"revision":3}}}`,
		`{"kind":"withdraw","transition":{"Decision":"plugin:q","Reason":"r"},"state":{"phase":"running","cursor":{"questions":[{"id":"plugin:q"}]}}}`,
		`{"kind":"rewind","transition":{"To":1,"Reason":"r","Then":{"phase":"running","cursor":{"pos":-7,"questions":[{"id":"x"}]}}},"state":{"phase":"running","revision":3}}`,
		`{"kind":"ask","transition":{"by":{"agent":"a"},"base":{}},"state":{"phase":"running","cursor":{"pos":-7}}}`,
		`{"kind":"retry","transition":{"By":{"agent":"a"}},"state":{"phase":"running","cursor":{"pos":99},"packages":{"A":{"stop":"failed"}}}}`,
		`{"kind":"start","transition":{"Inputs":{"mission_owner_id":"a"}}}`,
		`{"kind":"claim","definition":1,"transition":{"By":{"agent":"a"},"Package":"A"},"packages":[{"ID":"A"}],"state":{"phase":"running","cursor":{"pos":1,"stop":"failed"}}}`,
		`{"kind":"move","definition":1,"source":"journal","transition":{"Package":"A","To":"blocked","Force":true,"Reason":"r"},"packages":[{"ID":"A"}],"state":{"phase":"running","cursor":{"pos":-3},"packages":{"A":{"lane":"nowhere"}}}}`,
		`{"kind":"wp_release","source":"journal","transition":{"Package":"A"},"packages":[{"ID":"A"}],"state":{"phase":"running","packages":{"A":{"lane":"blocked","from":"blocked","issue":{"token":"T"}}}}}`,
	} {
		seeds = append(seeds, []byte(odd))
	}
	return seeds
}
