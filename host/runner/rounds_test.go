package runner

import (
	"flag"
	"iter"
	"testing"
)

var torture = flag.Bool("torture", false, "run the races for as many rounds as the requirements say")

// rounds counts to n, or to a twentieth of it in a default run.
func rounds(t testing.TB, n int) iter.Seq[int] {
	if !*torture {
		n = max(n/20, 3)
	}
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}
