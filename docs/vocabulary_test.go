package docs_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/mission"
)

func TestPromptFieldsAreWhatTemplatesSee(t *testing.T) {
	var want []string
	fields(reflect.TypeFor[mission.PromptData](), "", &want)
	slices.Sort(want)
	if diff := cmp.Diff(want, column(tables(t, "missions.md")["fields"], 0)); diff != "" {
		t.Errorf("missions.md: prompt values, - as they are, + as listed:\n%s", diff)
	}
}

func fields(of reflect.Type, at string, all *[]string) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		*all = append(*all, at)
		return
	}
	for i := range of.NumField() {
		fields(of.Field(i).Type, at+"."+of.Field(i).Name, all)
	}
}

func TestLanesAndTheirMoves(t *testing.T) {
	var names []string
	rows := tables(t, "missions.md")["lanes"]
	for _, r := range rows {
		names = append(names, r.cells[0])
		var next []string
		for _, to := range mission.Lanes() {
			if mission.CanMove(mission.Lane(r.cells[0]), to) {
				next = append(next, string(to))
			}
		}
		listed := strings.FieldsFunc(r.cells[2], func(c rune) bool { return c == ',' || c == ' ' })
		slices.Sort(next)
		slices.Sort(listed)
		if !slices.Equal(next, listed) {
			t.Errorf("missions.md:%d: from %s moves lead to %v, listed are %v", r.line, r.cells[0], next, listed)
		}
	}
	var want []string
	for _, lane := range mission.Lanes() {
		want = append(want, string(lane))
	}
	if !slices.Equal(names, want) {
		t.Errorf("missions.md lists the lanes %v, there are %v", names, want)
	}
}
