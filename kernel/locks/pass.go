package locks

import "sync"

// pass rides along with a file lock. The race detector knows nothing of file
// locks; it sees that one holder leaves the pass before the next one enters.
// Nobody waits for a pass in practice, since the file lock is had first and
// given back last.
type pass struct {
	gates *gates
	key   any
	gate  *gate
}

type gate struct {
	mu    sync.Mutex
	users int // holders and waiters; guarded by gates.mu
}

// gates holds a gate for each lock in use. It is per process because the locks
// are: two Lock values for one file must meet at one gate.
type gates struct {
	mu sync.Mutex
	m  map[any]*gate
}

func (g *gates) pass(key any) pass {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.m == nil {
		g.m = map[any]*gate{}
	}
	it, ok := g.m[key]
	if !ok {
		it = &gate{}
		g.m[key] = it
	}
	it.users++
	return pass{gates: g, key: key, gate: it}
}

func (p pass) enter() { p.gate.mu.Lock() }

func (p pass) leave() {
	p.gate.mu.Unlock()
	p.gates.mu.Lock()
	defer p.gates.mu.Unlock()
	if p.gate.users--; p.gate.users == 0 {
		delete(p.gates.m, p.key)
	}
}
