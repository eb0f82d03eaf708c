package journal_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/spec-kitty/step-runner/kernel/journal"
)

// TestNewlineGone: the newline between two records goes bad, so they read as one
// bad line. Taken for the torn tail, both would be cut off: it is damage.
func TestNewlineGone(t *testing.T) {
	for _, instead := range []byte{0, 'x', ' '} {
		file, recs := chain(t, 4)
		file[recs[1].End-1] = instead
		got, _, err := readAll(file, journal.Position{}, 0)
		var damage *journal.DamageError
		if !errors.As(err, &damage) || len(got) != 1 || damage.Line != 2 {
			t.Errorf("%q: %d records, then %v", instead, len(got), err)
		}
		// The last two records alone: no good line follows the merged one.
		file = file[:recs[2].End]
		if _, _, err := readAll(file, journal.Position{}, 0); !errors.As(err, &damage) {
			t.Errorf("%q at the end: %v", instead, err)
		}
	}
	// A record that names the beginning of one in its texts is no second one.
	file, recs := chain(t, 2)
	torn := file[:recs[1].End-10]
	if got, _, err := readAll(torn, journal.Position{}, 0); len(got) != 1 || errors.As(err, new(*journal.DamageError)) {
		t.Errorf("a torn tail: %d records, then %v", len(got), err)
	}
}

// A line that begins as a record does over and over, and ends as one: to try each
// beginning takes hours with a line of 16 MiB. It is damage after a few.
func TestBeginsOverAndOver(t *testing.T) {
	file, recs := chain(t, 2)
	for n, damaged := range map[int]bool{1: false, 15: false, 1 << 20: true} {
		bad := append(bytes.Clone(file[:recs[0].End]), bytes.Repeat([]byte(`{"format":`), n)...)
		bad = append(bad, file[recs[1].Offset+1:]...)
		var damage *journal.DamageError
		if got, _, err := readAll(bad, journal.Position{}, 0); len(got) != 1 || errors.As(err, &damage) != damaged {
			t.Errorf("%d times: %d records, then %v", n, len(got), err)
		}
	}
}
