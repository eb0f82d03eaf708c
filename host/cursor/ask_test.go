package cursor

import "testing"

// A saved plan that asks for work hands it out on the ground that it was made
// on, and only once.
func TestSavedAsk(t *testing.T) {
	r := begin(t, facts(chain("a", "b")), nil)
	plan := r.asking("ann")
	base := BaseOf(r.s, r.f, Issue{}, true)
	plan.Base = &base
	r.must(plan)
	r.refused(plan, StalePlan)
	late := r.asking("bob")
	base = BaseOf(r.s, r.f, Issue{}, true)
	late.Base = &base
	r.must(r.own("ann", Success))
	r.refused(late, CursorMoved)
}

// Nobody is handed nothing.
func TestAskByNobody(t *testing.T) {
	r := begin(t, facts(chain("a")), nil)
	r.nothing(Ask{Who: "query", Tokens: r.tokens()})
	r.ask("ann")
	here, err := At(r.s, r.f, Holder{})
	if err != nil || here.Standing != AtWork || here.Issue.Holder != who("ann") {
		t.Fatalf("nobody is told of the only open issue: %+v, %v", here, err)
	}
}
