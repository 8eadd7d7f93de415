package readbench

import (
	"sync"
	"sync/atomic"
)

// A barrier is where the workers of a call meet: at the start, and in cold at each end of an epoch. The last
// one to arrive does what turn says, while the others wait. A worker that has run out of ops leaves; the last
// one to leave runs end.
type barrier struct {
	mu      sync.Mutex
	cond    *sync.Cond
	parties int // workers that have not left
	waiting int
	round   int
	err     error       // of turn or abort: nobody goes on
	stop    atomic.Bool // there is an error; for those at work
	turn    func() error
	end     func()
}

func newBarrier(parties int, turn func() error, end func()) *barrier {
	b := &barrier{parties: parties, turn: turn, end: end}
	b.cond = sync.NewCond(&b.mu)
	return b
}

// wait returns when all parties are waiting and turn has run; with an error if the call is over.
func (b *barrier) wait() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return b.err
	}
	b.waiting++
	if b.waiting == b.parties {
		b.release()
		return b.err
	}
	for round := b.round; round == b.round && b.err == nil; {
		b.cond.Wait()
	}
	return b.err
}

// leave is called once by each worker that will not come again.
func (b *barrier) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parties--
	switch {
	case b.parties == 0:
		b.end()
	case b.waiting == b.parties && b.err == nil:
		b.release()
	}
}

// abort ends the call for everybody; the first error stays.
func (b *barrier) abort(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.fail(err)
	}
}

func (b *barrier) fail(err error) {
	b.err = err
	b.stop.Store(true)
	b.cond.Broadcast()
}

func (b *barrier) release() {
	if err := b.turn(); err != nil {
		b.fail(err)
	}
	b.waiting = 0
	b.round++
	b.cond.Broadcast()
}
