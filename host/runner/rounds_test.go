package runner

import (
	"flag"
	"iter"
	"testing"
)

var (
	torture = flag.Bool("torture", false, "run the races, histories and kills for as many rounds as the requirements say")
	seed    = flag.Uint64("seed", 0, "of the histories and kills; 0: by the clock")
)

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
