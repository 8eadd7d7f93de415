package draw

import (
	"math/bits"
	"sync/atomic"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/readbench/strategy"
)

// A Stock is the slots of an epoch, of which workers take leases while they draw.
type Stock struct {
	Epochs
	threads int64
	grain   int64 // slots of one draw at the most
	lease   int64 // positions that a worker takes at a time, so that not every draw writes to next
	_       cpu.CacheLinePad
	next    atomic.Int64 // what workers write, away from what they read: positions that were handed out
	_       cpu.CacheLinePad
}

const (
	leases       = 128 // leases per worker and epoch that are aimed at
	longestLease = 64  // draws of one lease at the most
)

// Init makes a stock for workers that draw so many slots at a time, at the most. No op is under way.
func (s *Stock) Init(e Epochs, threads, grain int) {
	s.Epochs, s.threads = e, int64(threads)
	s.SetGrain(grain)
}

// SetGrain sets how many slots are drawn at a time, at the most. No op is under way.
func (s *Stock) SetGrain(n int) { s.grain = int64(n) }

// Renew begins the next epoch, with want slots. No op is under way.
func (s *Stock) Renew(want int64) {
	s.advance(want)
	s.lease = max(1, min(longestLease*s.grain, s.limit/(s.threads*leases)))
	s.next.Store(0)
}

// Used reports whether anything was drawn of the present epoch.
func (s *Stock) Used() bool { return s.next.Load() != 0 }

// A taker is one worker's lease of a stock.
type taker struct {
	_ cpu.CacheLinePad
	Geometry
	s         *Stock
	gate      Gate
	evictions *Evictions
	epoch     int64 // of evictions, that the lease belongs to
	at, end   int64 // what is left of the lease
	_         cpu.CacheLinePad
}

// take sets where the ranges start, in the next slots of the present epoch. It reports whether there were enough; if
// not, the epoch is used up, and what was set is dropped with it. It sees to it that the worker's readers know of the
// eviction that began the epoch.
func (t *taker) take(rs []strategy.Range) bool {
	if t.epoch != t.evictions.n {
		t.epoch, t.at, t.end = t.evictions.n, 0, 0
		t.gate.CatchUp()
	}
	s := t.s
	perm, slots := s.perm, uint64(t.Slots)
	for n := 0; n < len(rs); {
		if t.at == t.end {
			at := s.next.Add(s.lease) - s.lease
			if at >= s.limit {
				return false
			}
			t.at, t.end = s.base+at, s.base+min(at+s.lease, s.limit)
		}
		at := t.at
		for ; at < t.end && n < len(rs); at++ {
			slot, rest := perm.At(uint64(at))
			rs[n].Off = t.offset(int64(slot), rest) // where in the slot's first page depends on the slot and the pass only
			_, isSlot := bits.Sub64(slot, slots, 0) // 1 if slot < slots, without a branch
			n += int(isSlot)
		}
		t.at = at
	}
	return true
}

// takeOrWait is take that waits for the next epoch when this one is used up.
func (t *taker) takeOrWait(rs []strategy.Range) error {
	for !t.take(rs) {
		if err := t.gate.Pause(); err != nil {
			return err
		}
	}
	return nil
}

// WithoutReplacement takes the next slots of a stock's epoch, or waits for the next epoch.
type WithoutReplacement struct{ taker }

// NewWithoutReplacement is one worker's.
func NewWithoutReplacement(g Geometry, s *Stock, gate Gate, e *Evictions) *WithoutReplacement {
	return &WithoutReplacement{taker{Geometry: g, s: s, gate: gate, evictions: e}}
}

// Draw draws at most as many ranges as the stock's grain has.
func (d *WithoutReplacement) Draw(rs []strategy.Range) (int, error) {
	rs = rs[:min(len(rs), int(d.s.grain))]
	if err := d.takeOrWait(rs); err != nil {
		return 0, err
	}
	return len(rs), nil
}
