package locks

import "sync"

// Local gives locks that exclude within this process only, one for each path,
// for stores that live in memory. Two calls of Local share nothing.
func Local() func(path string) *Lock {
	var (
		mu    sync.Mutex
		slots = map[string]chan struct{}{}
		gs    gates
	)
	return func(path string) *Lock {
		mu.Lock()
		defer mu.Unlock()
		slot, ok := slots[path]
		if !ok {
			slot = make(chan struct{}, 1)
			slots[path] = slot
		}
		return &Lock{path: path, gates: &gs, file: func() handle { return local(slot) }}
	}
}

// local is a lock as a channel of one place: full while it is held.
type local chan struct{}

func (l local) try() (bool, error) {
	select {
	case l <- struct{}{}:
		return true, nil
	default:
		return false, nil
	}
}

func (l local) lock() error   { l <- struct{}{}; return nil }
func (l local) unlock() error { <-l; return nil }
func (l local) same() error   { return nil }
func (l local) key() any      { return (chan struct{})(l) }
