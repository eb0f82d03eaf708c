package runner

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// The request that is printed is the one that a report sends: same bytes but for
// the time, and the same answer of the plugin.
func TestPluginRequestIsWhatIsSent(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [{ id = "A", guards = [{ plugin = "refuse", with = { x = 1 } }, { plugin = "refuse", with = { x = 2 } }], executor = { plugin = "success" } }]`, nil, "refuse", "success")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := open(t, root, func(o *Options) { o.Now = func() time.Time { return now } })
	a := must(t, p, report("a", cursor.Success))
	before := journal(t, root)
	ask := func(q PluginAsk) PluginQuestion {
		t.Helper()
		q.Mission = "m"
		got, err := p.PluginRequest(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	second := ask(PluginAsk{Guard: "refuse#2"})
	r, err := p.read(context.Background(), "m")
	if err != nil {
		t.Fatal(err)
	}
	issue, _ := r.state.Issue(*a.Token)
	def, err := r.facts.Def.Step(issue.Pos)
	if err != nil {
		t.Fatal(err)
	}
	s := r.reportOn(report("a", cursor.Success, *a.Token), issue, true)
	want, err := r.request(&s, def, abi.Guard, def.Guards[1].Plugin.With)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := want.Encode()
	if err != nil || string(raw) != string(second.Request) {
		t.Errorf("sent is %s, %v\nasked is %s", raw, err, second.Request)
	}
	if got := ask(PluginAsk{Executor: true}); got.Plugin != "success" || got.Verb != abi.Execute {
		t.Errorf("%+v", got)
	}
	k := OpenKit(Options{Root: root, CacheDir: cacheDir()})
	ran, err := k.Run(context.Background(), PluginCall{Target: "refuse", Asked: &second})
	if err != nil || ran.End != EndAnswer || !strings.Contains(string(ran.Answer), "refuse") {
		t.Errorf("%+v, %v", ran, err)
	}
	if journal(t, root) != before {
		t.Error("the journal changed")
	}
}

func TestPluginRequestOfPackages(t *testing.T) {
	root := makeProject(t, strings.Replace(packaged, "retry = 1", "retry = 1\nguards = [{ plugin = \"refuse\" }]", 1), packages(2), "refuse")
	p := open(t, root)
	for _, agent := range []string{"a", "b"} {
		must(t, p, report(agent, cursor.Success))
	}
	_, err := p.PluginRequest(context.Background(), PluginAsk{Mission: "m", Guard: "refuse"})
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeAmbiguous || !slices.Equal(e.Candidates, []string{"WP01", "WP02"}) {
		t.Errorf("%+v", err)
	}
	for _, q := range []PluginAsk{{Package: "WP02"}, {Caller: Caller{Agent: "b"}}} {
		q.Mission, q.Guard = "m", "refuse"
		got, err := p.PluginRequest(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		var r abi.Request
		if err := json.Unmarshal(got.Request, &r); err != nil || r.Package != "WP02" || r.Agent != "b" {
			t.Errorf("%s, %v", got.Request, err)
		}
	}
}
