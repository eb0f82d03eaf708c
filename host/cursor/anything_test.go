package cursor

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestDecideOnAnything mixes states, facts and transitions of different
// moments and changes values in them: what bytes alone rarely reach, since most
// changes of bytes are no JSON.
func TestDecideOnAnything(t *testing.T) {
	seeds := decideSeeds(t)
	rapid.Check(t, func(t *rapid.T) {
		mixed := draw(t, seeds)
		other := draw(t, seeds)
		mixed["state"] = other["state"]
		for range rapid.IntRange(0, 6).Draw(t, "changes") {
			spoil(t, mixed)
		}
		decideOn(t, []byte(encoded(t, mixed)))
	})
}

func draw(t *rapid.T, seeds [][]byte) map[string]any {
	var w map[string]any
	if err := json.Unmarshal(rapid.SampledFrom(seeds).Draw(t, "seed"), &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// spoil changes one value somewhere in a tree.
func spoil(t *rapid.T, tree map[string]any) {
	node := tree
	for {
		key := rapid.SampledFrom(slices.Sorted(maps.Keys(node))).Draw(t, "key")
		child, inner := node[key].(map[string]any)
		if inner && len(child) > 0 && rapid.IntRange(0, 9).Draw(t, "deeper") > 0 {
			node = child
			continue
		}
		node[key] = other(t, node[key])
		return
	}
}

// other is another value of the same JSON type, or none.
func other(t *rapid.T, value any) any {
	if rapid.IntRange(0, 5).Draw(t, "none") == 0 {
		return nil
	}
	switch value.(type) {
	case string:
		return rapid.SampledFrom([]string{
			"", "WP01", "WP02", "WP99", "specify", "implement", "review", "release", "audit:release", "package:WP01",
			"success", "failed", "blocked", "question", "running", "done", "canceled", "aborted", "planned", "in_review",
			"nowhere", "journal", "kitty-specs", "approve", "cancel", "ann", "00000005000000000000000000",
		}).Draw(t, "text")
	case float64:
		return rapid.SampledFrom([]any{-1, 0, 1, 2, 3, 4, 99, 1 << 40}).Draw(t, "number")
	case bool:
		return rapid.Bool().Draw(t, "bool")
	}
	return value
}
