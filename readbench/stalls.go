package readbench

import (
	"github.com/readbench/suite/internal/pressure"
)

// A stallMeter sums what the machine tells of pressure over the intervals of a call. It reads several files, and runs
// only with METRICS=all.
type stallMeter struct {
	source pressure.Source
	on     bool
	at     pressure.Totals
	sum    *pressure.Totals // nil before the first interval
}

func (m *stallMeter) start() (err error) {
	if m.on {
		m.at, err = m.source.Read()
	}
	return err
}

func (m *stallMeter) stop() error {
	if !m.on {
		return nil
	}
	now, err := m.source.Read()
	if err != nil {
		return err
	}
	sum := now.Sub(m.at)
	if m.sum != nil {
		sum = m.sum.Add(sum)
	}
	m.sum = &sum
	return nil
}

// total is the sum so far, with nil parts for what was not told.
func (m *stallMeter) total() pressure.Totals {
	if m.sum == nil {
		return pressure.Totals{}
	}
	return *m.sum
}

func (m *stallMeter) reset() { m.sum = nil }

// pages is a metric of pages per op.
func pages(f func(*pressure.Reclaim) uint64) func(*result) (float64, bool) {
	return func(res *result) (float64, bool) {
		if res.stalls.Reclaim == nil {
			return 0, false
		}
		return float64(f(res.stalls.Reclaim)) / res.units(), true
	}
}

// stalled is a metric of the share of the time that tasks were stalled.
func stalled(f func(*pressure.Totals) *pressure.Stall, full bool) func(*result) (float64, bool) {
	return func(res *result) (float64, bool) {
		s := f(&res.stalls)
		if s == nil {
			return 0, false
		}
		d := s.Some
		if full {
			d = s.Full
		}
		return 100 * d.Seconds() / res.elapsed.Seconds(), true
	}
}

func memoryStall(t *pressure.Totals) *pressure.Stall { return t.Memory }
func ioStall(t *pressure.Totals) *pressure.Stall     { return t.IO }

// meanRead is the mean size of a read request, in bytes.
func meanRead(d *pressure.Disk) float64 {
	if d == nil {
		return 0
	}
	return d.MeanRead()
}
