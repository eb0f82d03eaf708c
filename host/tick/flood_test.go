package tick

import (
	"testing"
)

// A program that writes without end is stopped before the disk is full.
func TestFlood(t *testing.T) {
	// A sparse file in place of the bytes: what counts is its length.
	y := newYard(t, `truncate -s 300M "$(dirname "$SPEC_KITTY_LOOP_USAGE")/work.log"; `+blocked+commits)
	y.create("deps")
	y.want(y.tick(y.loops()), Failed, "output_limit")
	if s := y.status(); s.Claim != nil || s.Count.Failures != 1 {
		t.Errorf("%+v", s)
	}
}
