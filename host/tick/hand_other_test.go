//go:build !unix

package tick

const handVariable = "SPEC_KITTY_TICK_HAND"

func beHand() int { return 9 }
