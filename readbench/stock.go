package readbench

import (
	"math/bits"
	"sync/atomic"

	"golang.org/x/sys/cpu"
)

// A stock is the slots of an epoch, of which workers take leases while they draw.
type stock struct {
	epochs
	lease int64 // positions that a worker takes at a time, so that not every draw writes to next
	_     cpu.CacheLinePad
	next  atomic.Int64 // what workers write, away from what they read: positions that were handed out
	_     cpu.CacheLinePad
}

const (
	leases       = 128 // leases per worker and epoch that are aimed at
	longestLease = 64  // draws of one lease at the most
)

// renew begins the next epoch, with want slots. No op is under way.
func (s *stock) renew(want int64, r *running) {
	s.advance(want)
	s.lease = max(1, min(longestLease*int64(r.grain), s.limit/(int64(r.row.Threads)*leases)))
	s.next.Store(0)
}

// A taker is one worker's lease of a stock.
type taker struct {
	_ cpu.CacheLinePad
	geometry
	s       *stock
	run     *running
	epoch   int64 // that the lease belongs to
	at, end int64 // what is left of the lease
	_       cpu.CacheLinePad
}

// take sets where the ranges start, in the next slots of the present epoch. It reports whether there were enough; if
// not, the epoch is used up, and what was set is dropped with it.
func (t *taker) take(rs []Range) bool {
	if t.epoch != t.run.epoch {
		t.epoch, t.at, t.end = t.run.epoch, 0, 0
	}
	s := t.s
	perm, slots := s.perm, uint64(t.slots)
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
