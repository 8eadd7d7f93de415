package prefetch

import (
	"math"
	"math/rand/v2"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/readbench/strategy"
)

// RunLength probes every range until 1024 in a row were hits; from then on each range is probed with a
// probability of 1 in 64. A miss starts the run again. All of its state is per worker.
func RunLength() Policy { return runLength{} }

type runLength struct{}

const (
	runHits   = 1024
	runSample = 64
)

func (runLength) Name() string { return "runlength" }

func (runLength) Open(Target) func(int) Decider {
	return func(id int) Decider {
		d := new(runLengthDecider)
		d.rng.Seed(uint64(id), 0)
		return d
	}
}

type runLengthDecider struct {
	_   cpu.CacheLinePad
	run int // hits in a row
	gap int // ranges until the next probe, once run is runHits
	rng rand.PCG
	_   cpu.CacheLinePad
}

// Skip skips up to the next probe.
func (d *runLengthDecider) Skip(rs []strategy.Range) int {
	n := min(len(rs), d.gap)
	d.gap -= n
	return n
}

func (d *runLengthDecider) Decide(strategy.Range) Action {
	if d.gap == 0 {
		return Probe
	}
	d.gap--
	return Skip
}

func (d *runLengthDecider) Learn(_ strategy.Range, resident bool) {
	if !resident {
		d.run = 0
	} else if d.run < runHits {
		d.run++
	}
	if d.run == runHits {
		d.draw()
	}
}

// draw draws the gap to the next probe as if each range were probed with a probability of 1 in runSample: the
// gap is k with a probability of (1-1/runSample)^k / runSample, which a logarithm of a uniform number in (0, 1]
// gives.
func (d *runLengthDecider) draw() {
	uniform := float64(d.rng.Uint64()>>11+1) / (1 << 53)
	d.gap = int(math.Log(uniform) / math.Log1p(-1.0/runSample))
}
