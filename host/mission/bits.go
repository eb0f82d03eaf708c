package mission

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/bits"
)

// Bits is a set of positions. It is a value: With and Without return another
// set and leave theirs alone, == and Equal compare what is in it, and the zero
// value is empty. It grows with the highest position it holds, one byte for
// eight.
//
// In JSON it is the bytes in raw standard base64, position 0 being the lowest
// bit of the first byte, without zero bytes at the end.
type Bits struct{ set string }

// Has tells whether pos is in the set; no negative position is.
func (b Bits) Has(pos int) bool {
	return pos >= 0 && pos>>3 < len(b.set) && b.set[pos>>3]&(1<<(pos&7)) != 0
}

// With is the set and pos. It panics for a negative pos, as an index would.
func (b Bits) With(pos int) Bits {
	if b.Has(pos) {
		return b
	}
	set := make([]byte, max(len(b.set), pos>>3+1))
	copy(set, b.set)
	set[pos>>3] |= 1 << (pos & 7)
	return Bits{string(set)}
}

// Without is the set less pos.
func (b Bits) Without(pos int) Bits {
	if !b.Has(pos) {
		return b
	}
	set := []byte(b.set)
	set[pos>>3] &^= 1 << (pos & 7)
	return trimmed(set)
}

// Count is the number of positions in the set.
func (b Bits) Count() int {
	n := 0
	for i := range len(b.set) {
		n += bits.OnesCount8(b.set[i])
	}
	return n
}

// FirstClear is the lowest position from from on that is not in the set. There
// always is one: past the end of the set all are clear.
func (b Bits) FirstClear(from int) int {
	from = max(from, 0)
	for i := from >> 3; i < len(b.set); i++ {
		taken := b.set[i]
		if i == from>>3 {
			taken |= 1<<(from&7) - 1
		}
		if taken != 0xff {
			return i<<3 + bits.TrailingZeros8(^taken)
		}
	}
	return max(from, len(b.set)<<3)
}

// All visits the positions in the set, lowest first.
func (b Bits) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range len(b.set) {
			for left := b.set[i]; left != 0; left &= left - 1 {
				if !yield(i<<3 + bits.TrailingZeros8(left)) {
					return
				}
			}
		}
	}
}

// Len is one more than the highest position in the set; 0 when it is empty.
func (b Bits) Len() int {
	if b.set == "" {
		return 0
	}
	last := len(b.set) - 1
	return last<<3 + bits.Len8(b.set[last])
}

// Equal tells whether both sets hold the same positions.
func (b Bits) Equal(other Bits) bool { return b == other }

// IsZero tells whether the set is empty, so that omitzero leaves it out.
func (b Bits) IsZero() bool { return b.set == "" }

// MarshalJSON writes the set as one string.
func (b Bits) MarshalJSON() ([]byte, error) {
	return json.Marshal(base64.RawStdEncoding.EncodeToString([]byte(b.set)))
}

// UnmarshalJSON reads what MarshalJSON wrote. Zero bytes at the end are taken
// off, so that equal sets stay equal values.
func (b *Bits) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("set of positions: %w", err)
	}
	if text == nil {
		return errors.New("set of positions: null where text was expected")
	}
	set, err := base64.RawStdEncoding.Strict().DecodeString(*text)
	if err != nil {
		return fmt.Errorf("set of positions: %w", err)
	}
	*b = trimmed(set)
	return nil
}

func trimmed(set []byte) Bits {
	for len(set) > 0 && set[len(set)-1] == 0 {
		set = set[:len(set)-1]
	}
	return Bits{string(set)}
}
