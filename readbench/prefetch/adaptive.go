package prefetch

import (
	"math/rand/v2"
	"time"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/readbench/strategy"
)

// Adaptive is meant to be right everywhere. Each worker is in one of three moods, and goes from one to another
// by what its own probes say:
//
//   - watching: every range is probed, and misses are hinted. It is where a worker starts.
//   - trusting, after a long run of hits: 1 range in 64 is probed, at random distances, so nearly all batches make no
//     system call. One miss ends it.
//   - flooding, when so many of the latest probes missed that hinting everything costs less than probing everything:
//     every range is hinted without a probe, but for 1 in 32, at random distances. It ends when the share of
//     misses has halved, or by as long a run of hits that it may trust.
//
// Files are often hot in one part and cold in another. So while it does not trust all of the file, it trusts each of
// 16 regions of it that has had no miss for long while others had many, in the same way: 1 in 64 of the ranges in such
// regions is probed, and one miss there ends the trust in all of them.
//
// How long a run, and how large a share, follows from the costs of the Target: see docs/policies.md. Workers share
// nothing. It remembers rates, and nothing about any page; what it holds to be hot it keeps probing, so it is not told
// when a file is evicted.
func Adaptive() Policy { return adaptive{} }

type adaptive struct{}

const (
	trustSample = 64 // mean distance of probes while trusting
	floodSample = 32 // mean distance of probes while flooding

	certain = 1 << 16 // a share of 1
	memory  = 4       // a probe counts 1/2^memory of the share of misses
	lately  = 10      // the same for the share over a longer time, which regions are held against

	regions     = 16  // of the file, of the same size (the last may be smaller)
	regionHits  = 512 // hits in a row that a region needs at the least to be trusted
	regionProof = 12  // misses that would have been expected among them, if the region were like the others
)

func (adaptive) Name() string { return "adaptive" }

func (adaptive) Open(t Target) func(int) Decider {
	r := newAdaptiveRules(t)
	shift := uint(0) // from bytes to a region
	for max(0, t.Size-1)>>shift >= regions {
		shift++
	}
	return func(id int) Decider {
		d := &adaptiveDecider{adaptiveRules: r, shift: shift}
		d.rng.Seed(uint64(id), 0)
		return d
	}
}

// adaptiveRules are the borders between the moods.
type adaptiveRules struct {
	trust      int // hits in a row from which on a watching worker trusts
	trustFlood int // the same for a flooding worker, of its few probes
	flood      int // share of misses from which on it floods
}

// newAdaptiveRules weighs costs.
//
// A miss that goes unseen costs the faults beyond the one wait that it would have cost with a hint, too. If
// there are more workers than processors, others work during that wait, and about a quarter of it remains: the
// processor's part. Trusting is right while (share of misses) × (cost of such a miss) is less than the cost of
// a probe. Since trust lasts 64 times as long as it takes to find out that it was wrong, it takes a run of 3.5
// times the hits that would be expected between two misses at that share; of the few probes of a flooding
// worker, it takes 2 times that.
//
// Flooding is right while a hint of what is resident anyway, for all but the misses, costs less than a probe of
// everything. Where both cost about the same, it takes an eighth of misses: a probe tells something, too.
func newAdaptiveRules(t Target) adaptiveRules {
	const (
		shortest, longest = 1024, 8192
		some              = 50 * time.Nanosecond // what a system call costs at the least
	)
	probe, hint := max(t.Probe, some), max(t.Hint, some)
	miss := t.Read * time.Duration(max(1, t.Faults-1))
	if t.Workers > t.Processors {
		miss /= 4
	}
	run := func(n time.Duration) int { return int(min(max(n, shortest), longest)) }
	flood := min(1-float64(probe)/float64(hint), 0.5)
	if flood < 0.125 {
		flood = 0
		if float64(hint) >= clearly*float64(probe) {
			flood = 0.125
		}
	}
	return adaptiveRules{trust: run(7 * miss / (2 * probe)), trustFlood: run(2 * miss / hint), flood: int(certain * flood)}
}

type mood int

const (
	watching mood = iota
	trusting
	flooding
)

type adaptiveDecider struct {
	_ cpu.CacheLinePad
	adaptiveRules
	mood  mood
	gap   int // ranges until the next probe, unless watching; not counting those in trusted regions
	calm  int // ranges in trusted regions until the next probe of one
	run   int // hits in a row
	share int // of misses among the latest probes
	long  int // the same over a longer time
	rng   rand.PCG

	shift   uint            // from bytes to a region
	trusted uint64          // regions, a bit each
	runs    [regions]uint32 // hits in a row of a region
	_       cpu.CacheLinePad
}

func (d *adaptiveDecider) Skip(rs []strategy.Range) int {
	if d.mood == trusting {
		n := min(len(rs), d.gap)
		d.gap -= n
		return n
	}
	if d.trusted == 0 {
		return 0
	}
	n := 0
	for most := min(len(rs), d.calm); n < most && d.trusts(d.region(rs[n])); n++ {
	}
	d.calm -= n
	return n
}

// region is the region of r's first byte.
func (d *adaptiveDecider) region(r strategy.Range) uint { return uint(r.Off>>(d.shift&63)) % regions }

func (d *adaptiveDecider) trusts(region uint) bool { return d.trusted>>region&1 != 0 }

func (d *adaptiveDecider) Decide(r strategy.Range) Action {
	switch {
	case d.trusts(d.region(r)): // only while not trusting
		if d.calm > 0 {
			d.calm--
			return Skip
		}
		return Probe
	case d.mood == watching || d.gap == 0:
		return Probe
	}
	d.gap--
	if d.mood == trusting {
		return Skip
	}
	return Hint
}

func (d *adaptiveDecider) Learn(r strategy.Range, resident bool) {
	region := d.region(r)
	if resident {
		d.hit(region)
	} else {
		d.miss(region)
	}
	switch {
	case d.trusts(region):
		d.calm = d.draw(trustSample)
	case d.mood == trusting:
		d.gap = d.draw(trustSample)
	case d.mood == flooding:
		d.gap = d.draw(floodSample)
	}
}

func (d *adaptiveDecider) hit(region uint) {
	d.run++
	d.share -= d.share >> memory
	d.long -= d.long >> lately
	if d.mood != trusting {
		d.runs[region]++
		if run := int(d.runs[region]); run >= regionHits && run*(d.long>>16) >= regionProof*certain {
			d.trusted |= 1 << region
		}
	}
	switch {
	case d.mood == watching && d.run >= d.trust, d.mood == flooding && d.run >= d.trustFlood:
		d.mood = trusting
		d.distrust()
	case d.mood == flooding && d.share < d.flood/2:
		d.mood = watching
	}
}

// distrust forgets what it knows of regions.
func (d *adaptiveDecider) distrust() {
	d.trusted = 0
	d.runs = [regions]uint32{}
}

func (d *adaptiveDecider) miss(region uint) {
	d.share += (certain - d.share) >> memory
	d.long += (certain<<16 - d.long) >> lately
	d.run, d.runs[region] = 0, 0
	if d.trusts(region) {
		d.distrust()
	}
	switch {
	case d.share >= d.flood:
		d.mood = flooding
	case d.mood == trusting:
		d.mood = watching
	}
}

// draw draws how many ranges lie between a probe and the next: 0 to 2n-2, so that one range in n is probed.
func (d *adaptiveDecider) draw(n int) int { return int(d.rng.Uint64() % uint64(2*n-1)) }
