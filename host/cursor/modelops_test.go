package cursor

import (
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/spec-kitty/step-runner/host/mission"
)

func (m *model) question(t *rapid.T) Asking {
	if len(m.r.s.Cursor.Questions) == 0 {
		t.Skip("no question is open")
	}
	return rapid.SampledFrom(m.r.s.Cursor.Questions).Draw(t, "question")
}

func (m *model) answer(t *rapid.T) {
	q := m.question(t)
	value := "x"
	if len(q.Options) > 0 {
		value = rapid.SampledFrom(q.Options).Draw(t, "value")
	}
	m.do(Give{Who: "human:a", Human: "a", Decision: q.ID, Token: q.Token, Value: value, Tokens: m.r.tokens()})
}

func (m *model) answerWrong(t *rapid.T) {
	ids := append([]string{"", "nope", "audit:s0", "input:free"}, slices.Collect(keys(m.r.s.Cursor.Answers))...)
	slices.Sort(ids)
	m.do(Give{
		Who: "b", Agent: "b", Decision: rapid.SampledFrom(ids).Draw(t, "decision"),
		Token: rapid.SampledFrom(append([]string{"", "01MADEUP"}, m.tokens...)).Draw(t, "token"),
		Value: rapid.SampledFrom([]string{"", "x", "approve", "cancel"}).Draw(t, "value"), Tokens: m.r.tokens(),
	})
}

func (m *model) postpone(t *rapid.T) {
	q := m.question(t)
	m.do(Postpone{Who: m.holder(), Decision: q.ID, Reason: rapid.SampledFrom([]string{"", "r"}).Draw(t, "reason")})
}

func (m *model) withdraw(t *rapid.T) {
	q := m.question(t)
	m.do(Withdraw{Who: m.holder(), Decision: q.ID, Token: q.Token, Reason: "r"})
}

// replace replaces an answer, and wants that nothing was completed with the old
// one and that no token of the work that saw it is open any more.
func (m *model) replace(t *rapid.T) {
	ids := slices.Sorted(keys(m.r.s.Cursor.Answers))
	if len(ids) == 0 {
		t.Skip("nothing was answered")
	}
	id := rapid.SampledFrom(ids).Draw(t, "decision")
	before := m.r.s
	events, err := m.do(Give{
		Who: "b", Agent: "b", Decision: id, Value: rapid.SampledFrom([]string{"x", "y", "go_on", "cancel"}).Draw(t, "value"),
		Reason: "r", Replace: true, Tokens: m.r.tokens(),
	})
	if err != nil || len(events) == 0 {
		return
	}
	if used := before.Cursor.Answers[id].Used; used != "" {
		t.Fatalf("the answer to %s was replaced, with which %s was completed", id, used)
	}
	if strings.HasPrefix(id, "package:") {
		return
	}
	for _, i := range before.Issues() {
		if _, open := m.r.s.Issue(i.Token); open {
			t.Fatalf("token %s was handed out under the old answer to %s and is open", i.Token, id)
		}
	}
	if len(m.r.s.Issues()) != len(before.Issues()) {
		t.Fatalf("replacing an answer took work away: %+v, then %+v", before.Issues(), m.r.s.Issues())
	}
}

func keys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

func (m *model) packageID(t *rapid.T) string {
	ids := []string{""}
	for _, p := range m.r.f.Packages {
		ids = append(ids, p.ID)
	}
	return rapid.SampledFrom(ids).Draw(t, "package")
}

func (m *model) retry(t *rapid.T) {
	retry := Retry{Who: "ops", Package: m.packageID(t), Reason: "r", Tokens: m.r.tokens()}
	if rapid.Bool().Draw(t, "for somebody") {
		retry.By = who(m.holder())
	}
	m.do(retry)
}

func (m *model) release(t *rapid.T) {
	m.do(Release{Who: "ops", Package: m.packageID(t), Reason: "r"})
}

func (m *model) claim(t *rapid.T) {
	name := m.holder()
	m.do(Claim{Who: name, By: who(name), Package: m.packageID(t), Tokens: m.r.tokens()})
}

// move moves a package anywhere, by anybody, with or without force or a token.
func (m *model) move(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "really") != 0 {
		t.Skip("not now")
	}
	move := Move{
		Who: "ops", Package: m.packageID(t), To: rapid.SampledFrom(mission.Lanes()).Draw(t, "lane"),
		Token: rapid.SampledFrom(append([]string{"", "", ""}, m.tokens...)).Draw(t, "token"),
		Force: rapid.Bool().Draw(t, "force"), Reason: rapid.SampledFrom([]string{"", "r", "r"}).Draw(t, "reason"),
	}
	if rapid.Bool().Draw(t, "by somebody") {
		move.Who = m.holder()
		move.By = who(move.Who)
	}
	if issue := m.r.s.Packages[move.Package].Issue; issue != nil && rapid.Bool().Draw(t, "its token") {
		move.Token = issue.Token
	}
	m.do(move)
}

func (m *model) releasePackage(t *rapid.T) {
	m.do(ReleasePackage{Who: "ops", Package: m.packageID(t), Reason: "r"})
}

func (m *model) skip(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "really") != 0 {
		t.Skip("not now")
	}
	step, err := m.r.f.Def.Step(rapid.IntRange(0, m.r.f.Def.Len()-1).Draw(t, "step"))
	if err != nil {
		t.Fatal(err)
	}
	m.do(Skip{Who: "ops", Step: step.ID, Reason: "r", Tokens: m.r.tokens()})
}

func (m *model) abort(t *rapid.T) {
	if rapid.IntRange(0, 30).Draw(t, "really") != 0 {
		t.Skip("not now")
	}
	m.do(Abort{Who: "ops", Reason: "r"})
}

// tool moves a package as the tool that keeps the lane log does.
func (m *model) tool(t *rapid.T) {
	if len(m.r.f.Packages) == 0 {
		t.Skip("no packages")
	}
	all := slices.Clone(m.r.f.Packages)
	i := rapid.IntRange(0, len(all)-1).Draw(t, "package")
	lane := rapid.SampledFrom(mission.Lanes()).Draw(t, "lane")
	if !mission.CanMove(all[i].Lane, lane) {
		t.Skip("no such edge")
	}
	all[i].Lane = lane
	all[i].Holder = Holder{Agent: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "holder")}
	if lane == mission.ForReview {
		all[i].Author = all[i].Holder
	}
	m.r.f.Packages = all
}

// file adds a package or takes one away.
func (m *model) file(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "really") != 0 {
		t.Skip("not now")
	}
	all := slices.Clone(m.r.f.Packages)
	if len(all) > 0 && rapid.Bool().Draw(t, "remove") {
		i := rapid.IntRange(0, len(all)-1).Draw(t, "package")
		m.r.f.Packages = slices.Delete(all, i, i+1)
		return
	}
	for _, id := range []string{"WP01", "WP02", "WP03", "WP04", "WP05"} {
		if _, there := m.r.f.find(id); there {
			continue
		}
		fact := PackageFact{ID: id}
		if m.r.f.Source == KittySpecs {
			fact.Lane = mission.Planned
		}
		if len(all) > 0 && rapid.Bool().Draw(t, "depends") {
			fact.DependsOn = []string{all[0].ID}
		}
		m.r.f.Packages = append(all, fact)
		return
	}
}
