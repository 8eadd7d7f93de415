package prefetch

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/readbench/suite/readbench/strategy"
)

// What the simulator is fed with: costs, traces, and what is asked of the policies. docs/policies.md has the
// results, which "go test ./readbench/prefetch -run Simulat -v -simtables" prints.

const us = 1000

// tables are the costs of this project's 2-processor virtual machine (cachestat and fadvise), and of the
// machines of apache/lucene pull request 16145 (mincore and madvise, as published, 16 KiB): local NVMe and a
// network disk, 16 processors.
//
// Published are the probes, the hints of resident ranges, the throughput of hot reads, the latency and the
// saturated throughput of the disks. A published "cold" hint is as slow as the disk when the queue is full, so
// the processor's part of it, and of a fault, is assumed.
var tables = []costs{
	{"vm T1", 1, 2, 2.2 * us, .34 * us, .34 * us, .45 * us, 8 * us, 5, 12 * us, 78 * us, 23 * us, 16 * us},
	{"vm T8", 8, 2, 2.2 * us, .34 * us, .34 * us, .45 * us, 8 * us, 5, 12 * us, 78 * us, 23 * us, 16 * us},
	{"nvme T1", 1, 16, 1.38 * us, .642 * us, .454 * us, .378 * us, 3 * us, 5, 1 * us, 82 * us, 16.4 * us, 5 * us},
	{"nvme T8", 8, 16, 1.61 * us, 1.252 * us, 1.215 * us, 2.5 * us, 5 * us, 5, 2 * us, 82 * us, 16.4 * us, 5 * us},
	{"ebs T1", 1, 16, 1.56 * us, 1.448 * us, .863 * us, .743 * us, 3 * us, 5, 1 * us, 334 * us, 46 * us, 46 * us},
	{"ebs T8", 8, 16, 1.83 * us, 1.81 * us, 1.334 * us, 3.097 * us, 5 * us, 5, 2 * us, 334 * us, 46 * us, 46 * us},
}

var simTables = flag.Bool("simtables", false, "print the simulator's tables, with more shares of misses than are judged")

// regrets is how much longer each policy takes than the best of all of them, and that than the oracle, in percent.
type regrets struct {
	of     map[string]float64
	oracle float64
}

// compare runs all policies and the oracle on the same trace, as often as there are seeds, with other draws each time:
// what it takes is the sum.
func compare(c costs, tr trace, warm, timed, seeds int) regrets {
	took := func(p Policy) (ns float64) {
		for seed := range seeds {
			ns += simulate(c, p, tr, warm, timed, uint64(seed)).ns
		}
		return ns
	}
	all := map[string]float64{}
	best := math.Inf(1)
	for _, p := range Policies() {
		all[p.Name()] = took(p)
		best = min(best, all[p.Name()])
	}
	r := regrets{of: map[string]float64{}, oracle: 100 * (best/took(nil) - 1)}
	for name, ns := range all {
		r.of[name] = 100 * (ns/best - 1)
	}
	return r
}

// draws is how many seeds show what a policy does at a share of misses: several where it depends on few of them, and
// for printed tables.
func draws(share float64) int {
	if *simTables || share > 0 && share < 0.01 {
		return 3
	}
	return 1
}

// batches is how many batches of each worker show what a policy does at a share of misses: many where misses
// are rare.
func batches(share float64, threads int) int {
	switch {
	case share > 0 && share < 0.01:
		return 16000 / threads
	case share > 0 && share < 0.1:
		return 6000 / threads
	}
	return 2000 / threads
}

// On every steady trace adaptive is at most 3 % slower than the best of all policies; a few times that near the
// break-even of trusting, which docs/policies.md explains.
//
// The best of the policies, and not the oracle, is what is compared with: the oracle pays nothing to learn what
// is cold, which no policy can do. How far from the oracle the best is, is what knowing costs; it is in
// docs/policies.md.
func TestSimulatedSteady(t *testing.T) {
	onlyWithoutRace(t)
	judged := []float64{0, .001, .01, .1, .5, 1}
	shown := judged
	if *simTables {
		shown = []float64{0, .0005, .001, .002, .005, .01, .02, .05, .1, .5, 1}
	}
	lines := make([]string, len(tables)*len(shown))
	var wg sync.WaitGroup
	for i, c := range tables {
		for j, share := range shown {
			wg.Go(func() {
				warm := max(batches(share, c.threads)/2, 1024)
				r := compare(c, steady(share), warm, batches(share, c.threads), draws(share))
				lines[i*len(shown)+j] = r.line(c.name, fmt.Sprint(100*share))
				limit := 12.0
				if slices.Contains(judged, share) {
					limit = 3
				}
				if got := r.of["adaptive"]; got > limit {
					t.Errorf("%s, %g %% misses: adaptive takes %.1f %% longer than the best, more than %g %%", c.name, 100*share, got, limit)
				}
			})
		}
	}
	wg.Wait()
	if *simTables {
		t.Logf("\n%s\n%s", header("misses, %"), strings.Join(lines, "\n"))
	}
}

// Where one half of the file is hot and the other cold, adaptive learns that: it is at most 3 % slower than the best of
// all policies, but for two kinds of tables. Where a hint costs no more than a probe, it hints all but what it knows to
// be hot, and probes little: so it learns slowly. And near the break-even of trusting, it trusts all of the file in
// turns, which docs/policies.md shows.
func TestSimulatedApart(t *testing.T) {
	onlyWithoutRace(t)
	shares := []float64{.01, .1}
	if *simTables {
		shares = []float64{.001, .01, .1, .5}
	}
	lines := make([]string, len(tables)*len(shares))
	var wg sync.WaitGroup
	for i, c := range tables {
		for j, share := range shares {
			wg.Go(func() {
				r := compare(c, apart(share), max(batches(share, c.threads), 1024), 2*batches(share, c.threads), draws(share))
				lines[i*len(shares)+j] = r.line(c.name, fmt.Sprint(100*share))
				limit := 3.0
				if c.hintHot < c.probeHot {
					limit = 10
				}
				if got := r.of["adaptive"]; got > limit && share >= .01 {
					t.Errorf("%s, %g %% misses, all in one half: adaptive takes %.1f %% longer than the best, more than %g %%", c.name, 100*share, got, limit)
				}
			})
		}
	}
	wg.Wait()
	if *simTables {
		t.Logf("\n%s\n%s", header("misses, %"), strings.Join(lines, "\n"))
	}
}

// A shift costs adaptive no more than what it takes to notice: hot to cold, the ranges up to its next probe are
// read without a hint; cold to hot, some probes' worth of ranges are hinted in vain, and a run of hits is
// probed. Both are bounded by numbers that do not depend on how long the trace is.
func TestSimulatedShifts(t *testing.T) {
	for _, c := range tables {
		r := newAdaptiveRules(Target{Workers: c.threads, Processors: c.cores, Faults: c.faults, Probe: ns(c.probeHot), Hint: ns(c.hintHot), Read: ns(c.latency)})
		// Hot long enough to trust (not timed), then 100 batches hot, 400 cold, and hot again, long enough to
		// trust.
		const before, cold, after = 1000, 400, 8000
		tr := func(_ *rand.Rand, batch int, _ *[simBatch]strategy.Range, truth *[simBatch]bool) {
			for i := range truth {
				truth[i] = batch >= before+100 && batch < before+100+cold
			}
		}
		got := simulate(c, Adaptive(), tr, before, 100+cold+after, 1)
		workers := c.threads
		if most := workers * (2*trustSample - 1); got.faulted > most {
			t.Errorf("%s: at the shift to cold %d ranges were read without a hint, more than %d", c.name, got.faulted, most)
		}
		flood := 64 // probes until a share of 1 is below a hundredth: 16·ln 100 hits, and some that fall into the cold stretch
		if r.flood/2 < certain/100 {
			flood = r.trustFlood // only trust ends it
		}
		vain := got.hints - (cold*simBatch*workers - got.faulted)
		if most := workers * flood * floodSample * 3 / 2; vain > most {
			t.Errorf("%s: after the shift to hot %d ranges were hinted in vain, more than %d", c.name, vain, most)
		}
		sampled := cold*simBatch/(floodSample/2) + (100+after)*simBatch/(trustSample/2) // twice the mean
		if most := workers * (r.trust + flood + sampled); got.probes > most {
			t.Errorf("%s: %d probes in all, more than %d", c.name, got.probes, most)
		}
		if *simTables {
			t.Logf("| %s | %.0f | %.0f | %d | %d |", c.name, float64(got.faulted)/float64(workers), float64(vain)/float64(workers), r.trust, r.trustFlood)
		}
	}
}

// Where the share of misses changes all the time, adaptive is seldom the best, but what it loses is bounded.
// Bursts shorter than the distance of its probes it cannot see; then it is at least as good as none.
func TestSimulatedChange(t *testing.T) {
	onlyWithoutRace(t)
	for _, tc := range []struct {
		name  string
		tr    func(length int) trace
		parts int     // of that length
		limit float64 // percent over the best of all policies
	}{
		{"hot, cold, hot", func(n int) trace { return shifts(n, 0, 1, 0) }, 3, 10},
		{"0, 10, 50, 1, 100, 0.1 %", func(n int) trace { return shifts(n, 0, .1, .5, .01, 1, .001) }, 6, 8},
		{"1 batch in 100 is cold", func(int) trace { return bursts(100, 1) }, 4, 80},
		{"8 batches in 1000 are cold", func(int) trace { return bursts(1000, 8) }, 4, 80},
	} {
		lines := make([]string, len(tables))
		var wg sync.WaitGroup
		for i, c := range tables {
			wg.Go(func() {
				length := 800
				if c.threads > 1 {
					length = 300
				}
				r := compare(c, tc.tr(length), 0, tc.parts*length, draws(1))
				if got := r.of["adaptive"]; got > tc.limit || got > r.of["none"]+2 {
					t.Errorf("%s, %s: adaptive takes %.1f %% longer than the best, more than %g %% or none's %.1f %%", c.name, tc.name, got, tc.limit, r.of["none"])
				}
				lines[i] = r.line(c.name, tc.name)
			})
		}
		wg.Wait()
		if *simTables {
			t.Logf("\n%s\n%s", header("trace"), strings.Join(lines, "\n"))
		}
	}
}

// line is a row of a table for docs/policies.md.
func (r regrets) line(c, tr string) string {
	line := fmt.Sprintf("| %s | %s |", c, tr)
	for _, name := range Names() {
		line += fmt.Sprintf(" %.1f |", r.of[name])
	}
	return line + fmt.Sprintf(" %.1f |", r.oracle)
}

func header(what string) string {
	return fmt.Sprintf("| costs | %s | %s | best over oracle |", what, strings.Join(Names(), " | "))
}

// onlyWithoutRace: the simulator is one goroutine a run, and ten times slower with the race detector.
func onlyWithoutRace(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("the simulator has nothing to race; it runs without -race")
	}
}
