package commit

import (
	"context"
	"errors"
)

// reads bounds how often a reader looks again while each look shows another
// damage, which only writers at work can cause.
const reads = 10

// Read implements Store.
func (s *run[S, F, E]) Read(ctx context.Context) (Snapshot[S], error) {
	l, err := s.readTwice(ctx)
	return s.snapshot(l), err
}

// readTwice reads until it is no damage, or twice the same damage.
func (s *run[S, F, E]) readTwice(ctx context.Context) (l loaded[S], err error) {
	err = twice(ctx, func() error {
		l, err = s.readOnce()
		return err
	})
	return l, err
}

// twice reports damage only if two looks in a row say the same. One alone may
// come from a writer at work:
//
//	reader                          writer
//	                                appends the first half of record 8
//	reads that half
//	                                appends the rest, syncs; appends record 9
//	reads record 9
//
// which looks like a bad line before a good one. The next look begins with a
// view that is past it.
func twice(ctx context.Context, look func() error) error {
	var err error
	last := ""
	for range reads {
		if err := ctx.Err(); err != nil {
			return err
		}
		err = look()
		if !isDamage(err) || err.Error() == last {
			return err
		}
		last = err.Error()
	}
	return err
}

func (s *run[S, F, E]) readOnce() (loaded[S], error) {
	v, warnings := s.readView()
	s.opts.Hook(PointViewRead)
	j, err := s.readable()
	if err != nil {
		return loaded[S]{}, err
	}
	defer j.Close()
	return s.load(j, v, warnings, false)
}

func isDamage(err error) bool {
	var d *DamagedError
	var t *TwoWritersError
	return errors.As(err, &d) || errors.As(err, &t)
}
