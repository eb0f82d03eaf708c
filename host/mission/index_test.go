package mission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func openIndex(t testing.TB, data []byte) *Index {
	t.Helper()
	x, err := OpenIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestIndexEqualsDefinition reads random definitions back by position and id.
func TestIndexEqualsDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := randomGraph(rt)
		for pos := range d.Steps {
			decorate(rt, &d.Steps[pos])
		}
		compareViews(t, d, openIndex(t, EncodeIndex(d)))
	})
}

func decorate(t *rapid.T, s *Step) {
	text := rapid.StringN(0, 20, -1)
	s.Title, s.Description, s.Retry = text.Draw(t, "title"), text.Draw(t, "description"), rapid.IntRange(0, 100).Draw(t, "retry")
	if rapid.Bool().Draw(t, "prompt") {
		s.Prompt = &Prompt{Text: text.Draw(t, "text"), Literal: rapid.Bool().Draw(t, "literal")}
	}
	if rapid.Bool().Draw(t, "executor") {
		s.Executor = &Executor{Plugin: "p", With: map[string]any{
			"n": json.Number("12345678901234567890"), "deep": []any{true, "x", map[string]any{"y": json.Number("1.5e300")}},
		}}
	}
	if rapid.Bool().Draw(t, "packages") {
		s.Packages = &PackageRule{Take: []Lane{Planned}, Claim: InProgress, Success: ForReview, Failed: Planned, Until: []Lane{ForReview}}
	}
	if rapid.Bool().Draw(t, "input") {
		value := text.Draw(t, "default")
		s.Inputs = []Input{{Key: "k", Default: &value}}
	}
}

func compareViews(t *testing.T, d *Definition, x *Index) {
	t.Helper()
	if x.Len() != d.Len() || x.HasPackages() != d.HasPackages() || x.Digest() != d.Digest() {
		t.Fatalf("the index has %d steps, packages %v, digest %s", x.Len(), x.HasPackages(), x.Digest())
	}
	for pos := range d.Len() {
		want, _ := d.Step(pos)
		got, err := x.Step(pos)
		if err != nil || cmp.Diff(want, got) != "" {
			t.Fatalf("step %d: %v\n%s", pos, err, cmp.Diff(want, got))
		}
		wantDeps, _ := d.Deps(pos)
		deps, err := x.Deps(pos)
		if err != nil || cmp.Diff(wantDeps, deps, cmpopts.EquateEmpty()) != "" {
			t.Fatalf("dependencies of %d: %v, %v; want %v", pos, deps, err, wantDeps)
		}
		if at, ok, err := x.Position(want.ID); err != nil || !ok || at != pos {
			t.Fatalf("%q is at %d, %v, %v", want.ID, at, ok, err)
		}
	}
	if _, ok, err := x.Position("no-such"); ok || err != nil {
		t.Fatalf("a step that is not there was found: %v, %v", ok, err)
	}
	for _, pos := range []int{-1, d.Len()} {
		var outside *PositionError
		if _, err := x.Step(pos); !errors.As(err, &outside) {
			t.Fatalf("position %d: %v", pos, err)
		}
	}
}

// TestIndexDamage changes each byte of an index in turn. What is read then is
// either an error or what it was; only a damaged slot may hide a step, which is
// why the whole file's digest is kept too.
func TestIndexDamage(t *testing.T) {
	d := steps("a", "bb: a", "ccc: a bb")
	d.Steps[1].Description = "some text"
	good := EncodeIndex(d)
	slotsEnd := int(openIndex(t, good).h.entries)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x41
		x, err := OpenIndex(bytes.NewReader(bad), int64(len(bad)))
		if err != nil {
			wantIndexError(t, i, err)
			continue
		}
		for pos := range d.Len() {
			readDamaged(t, d, x, i, pos, i >= headerSize && i < slotsEnd)
		}
	}
	for n := range good {
		if _, err := OpenIndex(bytes.NewReader(good[:n]), int64(n)); err == nil {
			t.Errorf("the first %d bytes were taken for an index", n)
		}
	}
}

func readDamaged(t *testing.T, d *Definition, x *Index, i, pos int, inSlots bool) {
	t.Helper()
	if step, err := x.Step(pos); err != nil {
		wantIndexError(t, i, err)
	} else if diff := cmp.Diff(d.Steps[pos], step); diff != "" {
		t.Errorf("byte %d: another step %d:\n%s", i, pos, diff)
	}
	want, _ := d.Deps(pos)
	if deps, err := x.Deps(pos); err != nil {
		wantIndexError(t, i, err)
	} else if cmp.Diff(want, deps, cmpopts.EquateEmpty()) != "" {
		t.Errorf("byte %d: step %d depends on %v", i, pos, deps)
	}
	if at, ok, err := x.Position(d.Steps[pos].ID); err != nil {
		wantIndexError(t, i, err)
	} else if ok && at != pos || !ok && !inSlots {
		t.Errorf("byte %d: step %d is at %d, %v", i, pos, at, ok)
	}
}

func wantIndexError(t *testing.T, i int, err error) {
	t.Helper()
	var bad *IndexError
	if !errors.As(err, &bad) {
		t.Errorf("byte %d: %v is no *IndexError", i, err)
	}
}

// TestIndexFormat pins the bytes: an index lies in run folders.
func TestIndexFormat(t *testing.T) {
	const want = "ea2b"
	if got := fmt.Sprintf("%x", headSum(0, nil, EncodeIndex(steps("a", "b"))))[:4]; got != want {
		t.Errorf("the index has changed (%s, want %s): raise indexFormat", got, want)
	}
}

func FuzzOpenIndex(f *testing.F) {
	f.Add(EncodeIndex(steps("a", "b: a")))
	f.Add(EncodeIndex(&Definition{Key: "empty"}))
	f.Add([]byte(indexMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= headerSize { // let the fuzzer past the header's checksum
			var h header
			_ = h.decode(data[:headerSize])
			copy(data, h.encode())
		}
		x, err := OpenIndex(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		_, _, _ = x.Position("a")
		for pos := range min(x.Len(), 10) {
			_, _ = x.Step(pos)
			_, _ = x.Deps(pos)
		}
	})
}

func BenchmarkIndex(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		data := EncodeIndex(chain(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var done Bits
			for pos := range n / 2 {
				done = done.With(pos)
			}
			for b.Loop() {
				x := openIndex(b, data)
				pos, _, err := FirstOpen(x, done)
				if err != nil {
					b.Fatal(err)
				}
				for _, at := range []int{pos - 1, pos} {
					if _, err := x.Step(at); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
