package draw

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/strategy"
)

// A List is the ranges of a predrawn row. Workers take leases of it; a list that is used up is drawn anew, with the
// timer stopped, or starts over if it is cyclic.
type List struct {
	ranges []strategy.Range // as many as make whole ops
	lease  int64            // ranges that a worker takes at a time: whole ops
	cyclic bool
	drawn  uint64 // counts the lists that were drawn with replacement
	_      cpu.CacheLinePad
	next   atomic.Int64 // what workers write, away from what they read
	_      cpu.CacheLinePad
}

const (
	// ListLength is how many ranges a list has at the most: 1 MiB of them.
	ListLength = 1 << 16
	listLease  = 64 // ranges of a lease at the most, unless an op takes more
)

// Len is how many ranges the list has.
func (l *List) Len() int { return len(l.ranges) }

// reset begins a list of n ranges, or of as many as make whole ops; the caller sets their offsets.
func (l *List) reset(s *shape.Shape, n int64) {
	batch := int64(s.Batch)
	n = min(n, ListLength) / batch * batch
	if int64(cap(l.ranges)) < n {
		l.ranges = make([]strategy.Range, n)
		for i := range l.ranges {
			l.ranges[i].N = s.MaxRange
		}
	}
	l.ranges = l.ranges[:n]
	perWorker := n / int64(s.Threads)
	l.lease = max(1, min(listLease, perWorker)/batch) * batch
	l.next.Store(0)
}

// DrawOnce draws the list anew: n slots of the next stretch of e. No op is under way.
func (l *List) DrawOnce(s *shape.Shape, g *Geometry, e *Epochs, n int64) {
	l.reset(s, n)
	l.cyclic = false
	e.advance(int64(len(l.ranges)))
	e.offsets(l.ranges, g)
}

// DrawCyclic draws the list anew: ListLength slots with replacement. It starts over when it is used up. No op is under way.
func (l *List) DrawCyclic(s *shape.Shape, g *Geometry, seed uint64) error {
	l.reset(s, ListLength)
	l.cyclic = true
	l.drawn++
	var rng rand.PCG
	rng.Seed(seed, l.drawn)
	_, err := (&Uniform{*g, &rng}).Draw(l.ranges)
	return err
}

// Take returns the next ranges, as many as one worker takes at a time; none if the list is used up. It is safe for
// concurrent use. They are not to be changed.
func (l *List) Take() []strategy.Range {
	n := int64(len(l.ranges))
	at := l.next.Add(l.lease) - l.lease
	if l.cyclic {
		at %= n
	}
	if at >= n {
		return nil
	}
	return l.ranges[at:min(at+l.lease, n)]
}

// Listed is the drawer of a predrawn row.
type Listed struct{}

// Draw says that it is for rows that are not predrawn.
func (Listed) Draw([]strategy.Range) (int, error) {
	return 0, errors.New("an op draws ranges in a Predrawn row; it takes them instead (Worker.Take)")
}
