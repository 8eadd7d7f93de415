package prefetch

import (
	"math/bits"
	"sync/atomic"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/readbench/strategy"
)

// Backoff counts the ranges since the last miss, in one counter for all workers of a file, and probes only
// where the count is 0 or a power of two; a miss sets it to 0. Skipped ranges count too, and nothing caps the
// distance. It is what apache/lucene does since pull request 13381.
func Backoff() Policy { return counting{"backoff", nextPower, true} }

// BackoffLocal is Backoff with a counter for each worker, as its first form had one for each clone of an input.
func BackoffLocal() Policy { return counting{"backoff-local", nextPower, false} }

// SlowClimb counts like Backoff, but its distances stay short: it probes each of the first 8 ranges since a
// miss, then every 8th, and at 64 it probes and starts again. It was proposed in apache/lucene pull request
// 16145.
func SlowClimb() Policy { return counting{"slowclimb", nextStep, true} }

// counting is a policy whose decision depends on a count of ranges alone.
type counting struct {
	name string
	// next returns the least count ≥ c at which the policy probes, and what the counter is set to by that.
	next   func(c uint64) (at, then uint64)
	shared bool
}

func (p counting) Name() string { return p.name }

func (p counting) Open(Target) func(int) Decider {
	shared := new(counter)
	return func(int) Decider {
		if !p.shared {
			return &countingDecider{new(counter), p.next}
		}
		return &countingDecider{shared, p.next}
	}
}

// counter is the ranges since the last miss.
type counter struct {
	_ cpu.CacheLinePad
	n atomic.Uint64
	_ cpu.CacheLinePad
}

// nextPower: 0 and the powers of two.
func nextPower(c uint64) (at, then uint64) {
	if c&(c-1) != 0 {
		c = 1 << bits.Len64(c)
	}
	return c, c + 1
}

// nextStep: 0 to 8, every 8th, and at 64 the count starts again.
func nextStep(c uint64) (at, then uint64) {
	const dense, step, last = 8, 8, 64
	switch {
	case c >= last:
		return c, 0
	case c >= dense:
		c = (c + step - 1) / step * step
	}
	if c == last {
		return c, 0
	}
	return c, c + 1
}

type countingDecider struct {
	c    *counter
	next func(c uint64) (at, then uint64)
}

// Skip moves the counter up to where it probes next, or by the whole batch. The decisions are those of counting
// one by one; the counter is written once for all of them.
func (d *countingDecider) Skip(rs []strategy.Range) int {
	for {
		c := d.c.n.Load()
		at, _ := d.next(c)
		skip := min(at-c, uint64(len(rs)))
		if skip == 0 || d.c.n.CompareAndSwap(c, c+skip) {
			return int(skip)
		}
	}
}

func (d *countingDecider) Decide(strategy.Range) Action {
	for {
		c := d.c.n.Load()
		at, then := d.next(c)
		action := Probe
		if at != c {
			action, then = Skip, c+1
		}
		if d.c.n.CompareAndSwap(c, then) {
			return action
		}
	}
}

func (d *countingDecider) Learn(_ strategy.Range, resident bool) {
	if !resident {
		d.c.n.Store(0)
	}
}
