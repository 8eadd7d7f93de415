package readbench

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// All workers meet, the turn runs once a round with nobody at work, and the end runs once.
func TestBarrierRounds(t *testing.T) {
	const parties, rounds = 8, 200
	var working atomic.Int32
	turns, ends := 0, 0
	b := newBarrier(parties, func() error {
		turns++
		if n := working.Load(); n != 0 {
			t.Errorf("%d workers work during a turn", n)
		}
		return nil
	}, func() { ends++ })
	var wg sync.WaitGroup
	for range parties {
		wg.Go(func() {
			defer b.leave()
			for range rounds {
				if err := b.wait(); err != nil {
					t.Error(err)
				}
				working.Add(1)
				working.Add(-1)
			}
		})
	}
	wg.Wait()
	if turns != rounds || ends != 1 {
		t.Errorf("%d turns and %d ends, want %d and 1", turns, ends, rounds)
	}
}

// Workers that run out of ops leave; those who wait do not wait for them.
func TestBarrierLeaving(t *testing.T) {
	const parties = 6
	turns := 0
	b := newBarrier(parties, func() error { turns++; return nil }, func() {})
	var wg sync.WaitGroup
	for id := range parties {
		wg.Go(func() {
			defer b.leave()
			for range id { // worker id waits id times
				if err := b.wait(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if turns != parties-1 {
		t.Errorf("%d turns, want one for each of the %d waits of the last worker", turns, parties-1)
	}
}

// A failed turn, and an abort, end the call for everybody, with the first error.
func TestBarrierErrors(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	for name, fail := range map[string]func(b *barrier){
		"turn":  func(b *barrier) { b.turn = func() error { return first } },
		"abort": func(b *barrier) { b.abort(first) },
	} {
		t.Run(name, func(t *testing.T) {
			const parties = 3
			ended := 0
			b := newBarrier(parties, func() error { return nil }, func() { ended++ })
			fail(b)
			var wg sync.WaitGroup
			for range parties {
				wg.Go(func() {
					defer b.leave()
					for range 2 { // also those who come again
						if err := b.wait(); !errors.Is(err, first) {
							t.Errorf("wait returned %v", err)
						}
					}
					b.abort(second)
				})
			}
			wg.Wait()
			if ended != 1 || !errors.Is(b.err, first) || errors.Is(b.err, second) {
				t.Errorf("ended %d times with %v", ended, b.err)
			}
		})
	}
}
