package loop

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Span is a duration that JSON shows as "1m30s".
type Span time.Duration

// String is the span as Go writes durations.
func (s Span) String() string { return time.Duration(s).String() }

// MarshalText implements encoding.TextMarshaler.
func (s Span) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*s = Span(d)
	return err
}

// Money is an amount in millionths of the unit that limits and usage are given
// in. Whole numbers, so that a day's sum is exact.
type Money int64

// MaxMoney is the largest amount that a limit or a usage may name.
const MaxMoney = Money(1e9 * unit)

const unit = 1_000_000

// MoneyOf is an amount of units, rounded up to millionths: what was spent is
// never counted as less. ok is false for what is no amount from 0 to MaxMoney.
func MoneyOf(units float64) (amount Money, ok bool) {
	if !(units >= 0 && units <= float64(MaxMoney/unit)) {
		return 0, false
	}
	exact := units * unit
	if near := math.Round(exact); math.Abs(exact-near) < 1e-3 { // 0.1 is not exact in binary
		return Money(near), true
	}
	return Money(math.Ceil(exact)), true
}

// String is the amount in units, with at least two digits of fraction.
func (m Money) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	fraction := strings.TrimRight(fmt.Sprintf("%06d", int64(m)%unit), "0")
	for len(fraction) < 2 {
		fraction += "0"
	}
	return sign + strconv.FormatInt(int64(m)/unit, 10) + "." + fraction
}

// MarshalText implements encoding.TextMarshaler.
func (m Money) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Money) UnmarshalText(text []byte) error {
	whole, fraction, _ := strings.Cut(string(text), ".")
	if whole == "" || len(fraction) > 6 || strings.HasPrefix(fraction, "-") || strings.HasPrefix(fraction, "+") {
		return fmt.Errorf("%q is no amount", text)
	}
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", 6-len(fraction)), 10, 64)
	*m = Money(n)
	return err
}

// Usage is what a run told of what it used. Nil is unknown, which is not zero.
type Usage struct {
	Cost    *Money `json:"cost,omitempty"`
	Tokens  *int64 `json:"tokens,omitempty"`
	Context *int   `json:"context,omitempty"` // percent left
	Time    Span   `json:"time,omitempty"`    // that the work took, sleep left out; measured, so always known
}

// Occasion is what people can be told of.
type Occasion string

// The occasions.
const (
	OnHalted  Occasion = "halted"
	OnWaiting Occasion = "waiting"
	OnLost    Occasion = "lost"
	OnDone    Occasion = "done"
	OnOverdue Occasion = "overdue"
	OnInvalid Occasion = "invalid" // a tick found no definition that it could use
)
