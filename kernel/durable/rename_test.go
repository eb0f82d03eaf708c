package durable

import (
	"errors"
	"testing"
	"time"
)

// Field case 51: a rename over a file that a reader or a scanner has open is tried
// again for a bounded time, on that error alone.
func TestRenameIsTriedAgain_Case51(t *testing.T) {
	denied, broken := errors.New("sharing violation"), errors.New("no such file")
	for name, tt := range map[string]struct {
		fails func(try int) error
		tries int
		want  error
	}{
		"at once":       {func(int) error { return nil }, 1, nil},
		"after a while": {func(try int) error { return when(try < 4, denied) }, 4, nil},
		"never":         {func(int) error { return denied }, renameTries, denied},
		"another error": {func(int) error { return broken }, 1, broken},
		"another later": {func(try int) error { return map[bool]error{true: denied, false: broken}[try < 3] }, 3, broken},
	} {
		t.Run(name, func(t *testing.T) {
			tries, paused := 0, time.Duration(0)
			err := again(func() error { tries++; return tt.fails(tries) }, func(err error) bool { return errors.Is(err, denied) },
				func(d time.Duration) { paused += d })
			if !errors.Is(err, tt.want) || tries != tt.tries || paused != time.Duration(tries-1)*renamePause {
				t.Errorf("%v after %d tries and %v; want %v after %d", err, tries, paused, tt.want, tt.tries)
			}
		})
	}
}

func when(is bool, err error) error {
	if is {
		return err
	}
	return nil
}
