package mutations

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const written = `package p

type T[S any] struct{ s S }

func (t *T[S]) get(int, ...string) (S, error) { return t.s, nil }

func (T[S]) put(_ S, b bool) { println(b) }

func make[S any](s S) *T[S] { return &T[S]{s} }
`

func TestWeave(t *testing.T) {
	got, err := weave("p.go", written, map[string]string{
		"00": strings.Replace(written, "return t.s, nil", "return fallen(t.s)", 1) + "\nfunc fallen[S any](s S) (S, error) { return s, nil }\n",
		"01": strings.NewReplacer("println(b)", "println(!b)", "&T[S]{s}", "new(T[S])").Replace(written),
		"02": strings.Replace(written, "return t.s, nil", "panic(0)", 1),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`func (t *T[S]) get(unnamed0 int, unnamed1 ...string) (S, error) {` +
			` if mutationChosen == "00" { return t.getMutated00(unnamed0, unnamed1...) };` +
			` if mutationChosen == "02" { return t.getMutated02(unnamed0, unnamed1...) }; return t.s, nil }`,
		`func (unnamed0 T[S]) put(blank0_ S, b bool) { if mutationChosen == "01" { unnamed0.putMutated01(blank0_, b); return }; println(b) }`,
		`func make[S any](s S) *T[S] { if mutationChosen == "01" { return makeMutated01[S](s) }; return &T[S]{s} }`,
		`func (t *T[S]) getMutated00(int, ...string) (S, error) { return fallen(t.s) }`,
		`func fallen[S any](s S) (S, error) { return s, nil }`,
		`func (T[S]) putMutated01(_ S, b bool) { println(!b) }`,
		`func makeMutated01[S any](s S) *T[S] { return new(T[S]) }`,
		`func (t *T[S]) getMutated02(int, ...string) (S, error) { panic(0) }`,
	} {
		if !strings.Contains("\n"+got, "\n"+want+"\n") {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	plain, err := weave("p.go", written, nil)
	if diff := cmp.Diff(written, plain); diff != "" || err != nil {
		t.Errorf("without mutations it is another text: %v\n%s", err, diff)
	}
}

// What cannot be woven would not be tried: it is refused.
func TestWeaveRefuses(t *testing.T) {
	for name, mutated := range map[string]string{
		"parameters":    strings.Replace(written, "b bool", "b int", 1),
		"a type":        strings.Replace(written, "s S }", "s, r S }", 1),
		"nothing":       written,
		"only an extra": written + "\nfunc extra() {}\n",
		"no Go":         written + "}",
	} {
		if got, err := weave("p.go", written, map[string]string{"00": mutated}); err == nil {
			t.Errorf("%s: it was woven:\n%s", name, got)
		}
	}
}
