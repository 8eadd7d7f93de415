package strategies

import (
	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/readbench/strategy"
)

// A ringAhead reads a scan with reads in flight before its cursor. Each is a batch of its own, so that they are handed
// over in the order of the file. It is a Settler, and a Forgetter to the same effect.
type ringAhead struct {
	*ringReader
	depth  int
	spare  int                         // reads that are to be missing before others are queued, in one system call
	end    int64                       // of the worker's stripe: nothing is read ahead beyond it
	n      int                         // bytes of each read that is queued
	next   int64                       // offset of the next one
	queued int                         // reads in flight, or complete and not handed over: they end at next
	i      int                         // number in the batch of the read that is handed over
	each   func(i int, p []byte) error // takes it
	hand   func(i int, p []byte) error
	_      cpu.CacheLinePad
}

// aheadShare: when the aheadShare-th part of the depth is not in flight, it is filled up.
const aheadShare = 8

func newRingAhead(r *ringReader, f *strategy.File, s strategy.Setup, worker int) *ringAhead {
	_, end := s.Stripe(f, worker)
	depth := s.Depth
	a := &ringAhead{ringReader: r, depth: depth, spare: max(1, depth/aheadShare), end: end}
	a.hand = func(_ int, p []byte) error { return a.each(a.i, p) }
	return a
}

func (a *ringAhead) ReadBatch(rs []strategy.Range, each func(i int, p []byte) error) error {
	a.each = each
	for i, rg := range rs {
		a.i = i
		if err := a.readNext(rg); err != nil {
			return err
		}
	}
	return nil
}

func (a *ringAhead) Read(rg strategy.Range) ([]byte, error) {
	a.each = a.keep
	if err := a.readNext(rg); err != nil {
		return nil, err
	}
	return a.buf[:rg.N], nil
}

// readNext has rg handed over. A range that does not follow the last one, or has another length, starts over.
func (a *ringAhead) readNext(rg strategy.Range) error {
	if a.queued == 0 || rg.N != a.n || rg.Off != a.next-int64(a.queued)*int64(a.n) {
		if err := a.Settle(); err != nil {
			return err
		}
		a.n, a.next = rg.N, rg.Off
		if err := a.queue(); err != nil {
			return err
		}
	}
	if a.queued == 1 || a.queued <= a.depth-a.spare {
		for a.queued < a.depth && a.next+int64(a.n) <= a.end {
			if err := a.queue(); err != nil {
				return err
			}
		}
	}
	a.queued--
	return a.ring.Finish(a.hand)
}

// queue queues one read.
func (a *ringAhead) queue() error {
	a.ring.Add(a.next, a.n)
	a.next += int64(a.n)
	a.queued++
	return a.ring.Queue()
}

// Settle waits for what was read ahead, and drops it.
func (a *ringAhead) Settle() error {
	for ; a.queued > 0; a.queued-- {
		if err := a.ring.Finish(drop); err != nil {
			return err
		}
	}
	return nil
}

func drop(int, []byte) error { return nil }

// Forget drops what was read ahead of a file that was evicted since. An error is the ring's, which returns it again from
// the next read.
func (a *ringAhead) Forget() { _ = a.Settle() }
