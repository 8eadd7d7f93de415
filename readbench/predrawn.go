package readbench

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"

	"golang.org/x/sys/cpu"
)

// A list is the ranges of a predrawn row. Workers take leases of it; a list that is used up is drawn anew, with the
// timer stopped, or starts over if it is cyclic.
type list struct {
	ranges []Range // as many as make whole ops
	lease  int64   // ranges that a worker takes at a time: whole ops
	cyclic bool
	_      cpu.CacheLinePad
	next   atomic.Int64 // what workers write, away from what they read
	_      cpu.CacheLinePad
}

const (
	listLength = 1 << 16 // ranges of a list at the most: 1 MiB of them
	listLease  = 64      // ranges of a lease at the most, unless an op takes more
)

// reset begins a list of n ranges, or of as many as make whole ops; the caller sets their offsets. No op is under way.
func (l *list) reset(row *Row, n int64) {
	batch := int64(row.Batch)
	n = min(n, listLength) / batch * batch
	if int64(cap(l.ranges)) < n {
		l.ranges = make([]Range, n)
		for i := range l.ranges {
			l.ranges[i].N = row.MaxRange
		}
	}
	l.ranges = l.ranges[:n]
	perWorker := n / int64(row.Threads)
	l.lease = max(1, min(listLease, perWorker)/batch) * batch
	l.next.Store(0)
}

// drawList draws the list anew: n slots of the next stretch of e, or with replacement if e is nil; such a list is cyclic.
func (r *running) drawList(e *epochs, n int64) error {
	l := r.list
	l.reset(&r.row, n)
	if l.cyclic = e == nil; l.cyclic {
		r.listSeed++
		var rng rand.PCG
		rng.Seed(r.suite.config.Seed, r.listSeed)
		_, err := (&uniform{r.geometry, &rng}).draw(l.ranges)
		return err
	}
	e.advance(int64(len(l.ranges)))
	e.offsets(l.ranges, &r.geometry)
	return nil
}

// Take returns the Batch ranges of the next op of a predrawn row. They are valid until the next call, and not to be
// changed. When the list is used up it waits for the other workers, with the timer stopped. An error means that the
// run is over; the op returns it.
func (w *Worker) Take() ([]Range, error) {
	n := w.run.row.Batch
	if len(w.lease) < n {
		return w.takeMore()
	}
	rs := w.lease[:n]
	w.lease = w.lease[n:]
	return rs, nil
}

func (w *Worker) takeMore() ([]Range, error) {
	l := w.run.list
	if l == nil {
		return nil, errors.New("an op takes ranges in a row that is not Predrawn")
	}
	for {
		w.catchUp()
		n := int64(len(l.ranges))
		at := l.next.Add(l.lease) - l.lease
		if l.cyclic {
			at %= n
		}
		if at < n {
			w.lease = l.ranges[at:min(at+l.lease, n)]
			return w.Take()
		}
		if err := w.pause(); err != nil {
			return nil, err
		}
	}
}

// notDrawn is the drawer of a predrawn row.
type notDrawn struct{}

func (notDrawn) draw([]Range) (int, error) {
	return 0, errors.New("an op draws ranges in a Predrawn row; it takes them instead (Worker.Take)")
}
