package mission

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestBitsAgainstModel compares Bits with a map after every operation.
func TestBitsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set Bits
		model := map[int]bool{}
		for range rapid.IntRange(0, 40).Draw(t, "operations") {
			pos := rapid.IntRange(0, 200).Draw(t, "pos")
			before, kept := set, slices.Collect(set.All())
			if rapid.Bool().Draw(t, "add") {
				set, model[pos] = set.With(pos), true
			} else {
				set = set.Without(pos)
				delete(model, pos)
			}
			if !slices.Equal(slices.Collect(before.All()), kept) {
				t.Fatal("an operation changed the set it was called on")
			}
			compareBits(t, set, model)
		}
	})
}

func compareBits(t *rapid.T, set Bits, model map[int]bool) {
	if set.Count() != len(model) {
		t.Fatalf("Count is %d, want %d", set.Count(), len(model))
	}
	var want []int
	clear := -1
	for pos := range 300 {
		if set.Has(pos) != model[pos] {
			t.Fatalf("Has(%d) is %v", pos, set.Has(pos))
		}
		if model[pos] {
			want = append(want, pos)
		} else if clear < 0 {
			clear = pos
		}
	}
	if got := slices.Collect(set.All()); !slices.Equal(got, want) {
		t.Fatalf("All gives %v, want %v", got, want)
	}
	if got := set.FirstClear(0); got != clear {
		t.Fatalf("FirstClear(0) is %d, want %d", got, clear)
	}
	if n := set.Len(); (n == 0) != (len(want) == 0) || n > 0 && n-1 != want[len(want)-1] {
		t.Fatalf("Len is %d for %v", n, want)
	}
	var again Bits
	if text, err := json.Marshal(set); err != nil {
		t.Fatal(err)
	} else if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if again != set || !again.Equal(set) {
		t.Fatal("JSON gives another set back")
	}
}

func TestBitsFirstClearFrom(t *testing.T) {
	set := Bits{}
	for pos := range 20 {
		set = set.With(pos)
	}
	set = set.Without(9)
	for from, want := range map[int]int{-5: 9, 0: 9, 9: 9, 10: 20, 19: 20, 20: 20, 23: 23, 24: 24, 1000: 1000} {
		if got := set.FirstClear(from); got != want {
			t.Errorf("FirstClear(%d) is %d, want %d", from, got, want)
		}
	}
}

func TestBitsJSON(t *testing.T) {
	set := Bits{}.With(0).With(9)
	text, err := json.Marshal(set)
	if err != nil || string(text) != `"AQI"` {
		t.Errorf("JSON is %s, %v", text, err)
	}
	if text, _ := json.Marshal(struct {
		Done Bits `json:"done,omitzero"`
	}{}); string(text) != "{}" {
		t.Errorf("an empty set is not left out: %s", text)
	}
	var padded Bits
	if err := json.Unmarshal([]byte(`"AQIAAA"`), &padded); err != nil || padded != set {
		t.Errorf("zero bytes at the end make another set: %v, %v", padded, err)
	}
	for _, bad := range []string{`null`, `3`, `"A"`, `"AQI="`, `"A?"`, `{}`} {
		if err := json.Unmarshal([]byte(bad), new(Bits)); err == nil {
			t.Errorf("%s was taken for a set", bad)
		}
	}
}
