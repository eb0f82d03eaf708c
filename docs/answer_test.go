package docs_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/runner"
)

// The fields that are called the same and those that are called new are the
// answer's fields, each once.
func TestAnswerFieldsAreAllNamed(t *testing.T) {
	of := reflect.TypeFor[runner.Answer]()
	var want []string
	for i := range of.NumField() {
		want = append(want, of.Field(i).Tag.Get("json"))
	}
	named := tables(t, "differences.md")
	got := slices.Concat(column(named["fields: same"], 0), column(named["fields: added"], 0))
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences.md: fields, - as they are, + as listed:\n%s", diff)
	}
}
