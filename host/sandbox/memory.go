package sandbox

import (
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
)

// memoryCap gives a guest its memory, at most limit bytes, and notes a growth
// that it refused: the guest's own end after that looks like any other.
type memoryCap struct {
	limit   uint64
	refused atomic.Bool
}

// Allocate reserves the whole limit at once, so that growing never copies and
// never leaves old copies behind. Pages that are not touched cost nothing.
func (c *memoryCap) Allocate(_, _ uint64) experimental.LinearMemory {
	return &linear{cap: c, all: reserve(c.limit)}
}

type linear struct {
	cap *memoryCap
	all []byte
}

func (l *linear) Reallocate(size uint64) []byte {
	if size > uint64(len(l.all)) {
		l.cap.refused.Store(true)
		return nil
	}
	return l.all[:size]
}

func (l *linear) Free() {
	release(l.all)
	l.all = nil
}
