package draw

import (
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/strategy"
)

// A scan is one worker's way through its stripe of the file, read by read. It lives as long as the row.
type scan struct {
	readSize     int64
	from, to, at int64 // bytes: the stripe, and where the next read starts
}

// newScan is the scan of a stripe, which is from an offset to below another.
func newScan(s *shape.Shape, from, to int64) scan {
	if s.Effect == shape.None { // the longer file that nothing is read of
		from, to = from*NullFactor, to*NullFactor
	}
	return scan{int64(s.MaxRange), from, to, from}
}

// next sets the offsets of the next reads and says of how many: fewer than asked for at the end of the stripe, and
// none behind it.
func (s *scan) next(rs []strategy.Range) int {
	n := int(min(int64(len(rs)), (s.to-s.at)/s.readSize))
	for i := range rs[:n] {
		rs[i].Off = s.at
		s.at += s.readSize
	}
	return n
}

// An Endless scan starts over at the end of its stripe.
type Endless struct{ scan }

// NewEndless is the scan of a stripe, from an offset to below another.
func NewEndless(s *shape.Shape, from, to int64) *Endless { return &Endless{newScan(s, from, to)} }

// Draw draws up to the end of the stripe.
func (s *Endless) Draw(rs []strategy.Range) (int, error) {
	if s.at == s.to {
		s.at = s.from
	}
	return s.next(rs), nil
}

// A Once is a scan that waits at the end of its stripe until all workers are at the end of theirs and the file was
// evicted, before it starts over: so that no page is read that an earlier round left in the page cache.
type Once struct {
	scan
	gate      Gate
	evictions *Evictions
	epoch     int64 // of evictions, in which the cursor moves
	scanned   int64 // bytes since the file was evicted
}

// NewOnce is the scan of a stripe, from an offset to below another.
func NewOnce(s *shape.Shape, from, to int64, gate Gate, e *Evictions) *Once {
	return &Once{scan: newScan(s, from, to), gate: gate, evictions: e}
}

// Scanned is how many bytes were drawn since the file was evicted.
func (s *Once) Scanned() int64 { return s.scanned }

// Draw draws up to the end of the stripe.
func (s *Once) Draw(rs []strategy.Range) (int, error) {
	if s.at == s.to {
		if err := s.gate.Pause(); err != nil {
			return 0, err
		}
		s.at = s.from
	}
	if s.epoch != s.evictions.n {
		s.epoch, s.scanned = s.evictions.n, 0
		s.gate.CatchUp()
	}
	n := s.next(rs)
	s.scanned += int64(n) * s.readSize
	return n, nil
}
