package mission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompare(t *testing.T) {
	older := &Definition{Steps: []Step{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}}}
	newer := &Definition{Steps: []Step{{ID: "a", Retry: 1}, {ID: "new"}, {ID: "c"}, {ID: "b", Title: "B", Guards: []Guard{{Input: "x"}}}}}
	got, err := Compare(older, newer)
	if err != nil {
		t.Fatal(err)
	}
	want := Difference{
		Added: []string{"new"}, Removed: []string{"d"}, Moved: []string{"c", "b"},
		Changed: []StepChange{
			{"a", []string{"retry"}}, {"c", []string{"depends_on"}}, {"b", []string{"guards", "title", "depends_on"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if none, err := Compare(older, older); err != nil || !cmp.Equal(none, Difference{}) {
		t.Fatalf("a definition differs from itself: %+v, %v", none, err)
	}
}
