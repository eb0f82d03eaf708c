package runner

import (
	"sync"
	"testing"
)

// player makes one agent's calls. It calls meet when it has read and before it
// decides anything; a call that reads nothing else may not call it.
type player interface {
	play(o order, meet func()) (event, error)
}

// localPlayer plays in this process, on a project of its own.
type localPlayer struct {
	p    *Project
	meet func()
}

func newLocalPlayer(t testing.TB, root string) player {
	l := &localPlayer{}
	l.p = open(t, root, func(o *Options) {
		o.Hook = func(point string) {
			if point == PointRead {
				l.meet()
			}
		}
	})
	return l
}

func (l *localPlayer) play(o order, meet func()) (event, error) {
	l.meet = meet
	return o.call(l.p), nil
}

// handPlayer plays in another process.
type handPlayer struct {
	h    *hand
	root string
}

func (p handPlayer) play(o order, meet func()) (event, error) {
	o.Root, o.Stop = p.root, PointRead
	p.h.tell(o)
	e, err := p.h.hear()
	if err != nil || !e.Stopped {
		return e, err
	}
	meet()
	p.h.release()
	return p.h.hear()
}

// barrier is where the calls of a round meet: each has read before any commits.
type barrier struct{ all sync.WaitGroup }

func newBarrier(n int) *barrier {
	b := &barrier{}
	b.all.Add(n)
	return b
}

// meeting is one caller's part in it. Whoever does not come is not waited for.
func (b *barrier) meeting() (meet, leave func()) {
	var once sync.Once
	leave = func() { once.Do(b.all.Done) }
	return func() {
		leave()
		b.all.Wait()
	}, leave
}
