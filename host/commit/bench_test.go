package commit_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
)

// BenchmarkCommit is one commit in process; its bar is in bench/.
func BenchmarkCommit(b *testing.B) {
	cat := commit.NewFiles(filepath.Join(b.TempDir(), "root"), committest.Counter{}, &committest.Outside{}, commit.Options{})
	s := committest.Start(b, cat, "a", 1)
	n := 0
	for b.Loop() {
		n++
		committest.MustCommit(b, s, committest.Add{Who: "me", By: 1, Token: fmt.Sprint(n)})
	}
}

// BenchmarkRead is one query of a run with an intact view.
func BenchmarkRead(b *testing.B) {
	cat := commit.NewFiles(filepath.Join(b.TempDir(), "root"), committest.Counter{}, &committest.Outside{}, commit.Options{})
	s := committest.Start(b, cat, "a", 1)
	for b.Loop() {
		committest.MustRead(b, s)
	}
}

// BenchmarkLookup is the index's part of a query.
func BenchmarkLookup(b *testing.B) {
	cat := commit.NewFiles(filepath.Join(b.TempDir(), "root"), committest.Counter{}, &committest.Outside{}, commit.Options{})
	for i := range 100 {
		committest.Start(b, cat, fmt.Sprint("s", i), i)
	}
	for b.Loop() {
		if _, err := cat.Lookup(b.Context(), "s50"); err != nil {
			b.Fatal(err)
		}
	}
}
