package prefetch

import (
	"math/rand/v2"
	"time"

	"github.com/readbench/suite/readbench/strategy"
)

// The simulator replays a trace of hits and misses against a table of costs. Time is simulated, in nanoseconds:
// nothing depends on the machine that the test runs on.
//
// T workers run batches: first a policy decides about each range of a batch (and probes and hints cost
// processor time), then each range is read. A worker that works holds one of the processors, first come first
// served; one that waits for the device holds none. The device starts one read every so many ns and completes
// each after its latency: so hinted reads overlap, with each other and with the copying of hot ranges, up to
// the device's throughput.

const (
	simBatch = 16       // ranges
	simSlots = 1 << 16  // of the file, one for each place of a range
	simBytes = 5 * 4096 // of a range
)

// costs is what things cost.
type costs struct {
	name    string
	threads int
	cores   int

	copy                float64 // copying and checking a range that is resident
	probeHot, probeCold float64 // one probe
	hintHot, hintCold   float64 // one hint, the processor's part
	faults              int     // page faults of a cold range that was not hinted
	faultCPU            float64 // one such fault, the processor's part

	latency float64 // of one read that the device is asked for alone
	rangeIO float64 // the device's time for a hinted range, when it is saturated
	pageIO  float64 // the same for the page of one fault
}

func ns(cost float64) time.Duration { return time.Duration(cost) }

// asked is the processor time of one call of a decider.
const asked = 2

// trace says which ranges of a worker are cold, in order. It is called once for each batch, whose ranges are drawn from
// the whole file; a trace may move them.
type trace func(rng *rand.Rand, batch int, ranges *[simBatch]strategy.Range, cold *[simBatch]bool)

// steady: each range is cold with the same probability.
func steady(share float64) trace {
	return func(rng *rand.Rand, _ int, _ *[simBatch]strategy.Range, cold *[simBatch]bool) {
		for i := range cold {
			cold[i] = rng.Float64() < share
		}
	}
}

// shifts goes through shares, each for so many batches.
func shifts(batches int, shares ...float64) trace {
	return func(rng *rand.Rand, batch int, ranges *[simBatch]strategy.Range, cold *[simBatch]bool) {
		steady(shares[min(batch/batches, len(shares)-1)])(rng, batch, ranges, cold)
	}
}

// apart: each range is cold with the same probability; those that are lie in the second half of the file, the others in
// the first.
func apart(share float64) trace {
	return func(rng *rand.Rand, batch int, ranges *[simBatch]strategy.Range, cold *[simBatch]bool) {
		steady(share)(rng, batch, ranges, cold)
		for i := range ranges {
			const half = simSlots / 2 * simBytes
			if ranges[i].Off %= half; cold[i] {
				ranges[i].Off += half
			}
		}
	}
}

// bursts: all is hot, but every so many batches all ranges of some batches in a row are cold.
func bursts(every, length int) trace {
	return func(_ *rand.Rand, batch int, _ *[simBatch]strategy.Range, cold *[simBatch]bool) {
		for i := range cold {
			cold[i] = batch%every >= every-length
		}
	}
}

// outcome is what a run came to.
type outcome struct {
	ns                     float64 // until the last worker was through
	probes, hints, faulted int     // ranges
}

// simulate runs a policy (nil: the oracle) over warm batches of each worker that take no time, and then over
// timed ones, as many as there are workers times timed.
func simulate(c costs, p Policy, tr trace, warm, timed int, seed uint64) outcome {
	var open func(int) Decider
	if p != nil {
		open = p.Open(Target{
			Size: simSlots * simBytes, PageSize: 4096, Workers: c.threads, Processors: c.cores, Faults: c.faults,
			Probe: ns(c.probeHot), Hint: ns(c.hintHot), Read: ns(c.latency),
		})
	}
	s := &sim{costs: c, free: make([]float64, c.cores)}
	for id := range c.threads {
		w := &simWorker{id: id, rng: rand.New(rand.NewPCG(seed, uint64(id))), trace: tr}
		if open != nil {
			w.decider = open(id)
			w.skipper, _ = w.decider.(Skipper)
		} else {
			w.oracle = true
		}
		s.workers = append(s.workers, w)
	}
	for batch := range warm {
		for _, w := range s.workers {
			w.draw(batch)
			for w.at < simBatch {
				w.decide()
			}
		}
	}
	s.next, s.end = warm*c.threads, (warm+timed)*c.threads
	for _, w := range s.workers {
		s.take(w)
	}
	for w := s.first(); w != nil; w = s.first() {
		s.step(w)
	}
	for _, w := range s.workers {
		s.ns = max(s.ns, w.now)
	}
	return s.outcome
}

type sim struct {
	costs
	outcome
	workers []*simWorker
	free    []float64 // when each processor is free
	device  float64   // when the device can start a read

	next, end int // batches are handed out to all workers from one pool, as RunParallel does
}

// take gives a worker its next batch, or sends it home.
func (s *sim) take(w *simWorker) {
	if w.through = s.next == s.end; !w.through {
		w.draw(s.next / s.threads)
		s.next++
	}
}

// first is the worker whose next step comes first, nil if all are through.
func (s *sim) first() (first *simWorker) {
	for _, w := range s.workers {
		if !w.through && (first == nil || w.now < first.now) {
			first = w
		}
	}
	return first
}

// work is processor time of a worker.
func (s *sim) work(w *simWorker, ns float64) {
	core := &s.free[0]
	for i := range s.free {
		if s.free[i] < *core {
			core = &s.free[i]
		}
	}
	w.now = max(w.now, *core) + ns
	*core = w.now
}

// read asks the device at a worker's time, and returns when the data is there.
func (s *sim) read(w *simWorker, service float64) (done float64) {
	s.device = max(s.device, w.now) + service
	return s.device + max(0, s.latency-service)
}

// step takes one decision, or reads one range, or one fault of it.
func (s *sim) step(w *simWorker) {
	if w.at < simBatch {
		s.decide(w)
		return
	}
	i := w.at - simBatch
	switch {
	case !w.cold[i]:
	case w.hinted[i]:
		w.now = max(w.now, w.done[i])
	case w.faults < s.faults:
		if w.faults == 0 {
			s.faulted++
		}
		w.faults++
		s.work(w, s.faultCPU)
		w.now = s.read(w, s.pageIO)
		return
	}
	s.work(w, s.copy)
	w.faults = 0
	if w.at++; w.at == 2*simBatch {
		s.take(w)
	}
}

func (s *sim) decide(w *simWorker) {
	at := w.at
	calls, probed, hinted := w.decide()
	cost := float64(calls) * asked
	cold := w.at > at && w.cold[w.at-1]
	if probed {
		s.probes++
		cost += pick(cold, s.probeCold, s.probeHot)
	}
	if hinted {
		s.hints++
		cost += pick(cold, s.hintCold, s.hintHot)
	}
	s.work(w, cost)
	if hinted && cold {
		w.done[w.at-1] = s.read(w, s.rangeIO)
	}
}

func pick(cond bool, a, b float64) float64 {
	if cond {
		return a
	}
	return b
}

type simWorker struct {
	id      int
	rng     *rand.Rand
	trace   trace
	decider Decider // nil: the oracle, or a policy that does nothing
	skipper Skipper
	oracle  bool

	now     float64
	through bool
	at      int // step of the batch: a decision about each range, then the read of each
	faults  int // of the read under way
	cold    [simBatch]bool
	ranges  [simBatch]strategy.Range
	hinted  [simBatch]bool
	done    [simBatch]float64 // when the data of a hinted range is there
}

// draw begins a batch.
func (w *simWorker) draw(batch int) {
	w.at, w.faults = 0, 0
	w.hinted = [simBatch]bool{}
	for i := range w.ranges {
		w.ranges[i] = strategy.Range{Off: int64(w.rng.Uint64()%simSlots) * simBytes, N: simBytes}
	}
	w.trace(w.rng, batch, &w.ranges, &w.cold)
}

// decide goes one range on, or several if they are skipped in one call, as Worker.Advise does.
func (w *simWorker) decide() (calls int, probed, hinted bool) {
	if w.oracle {
		hinted = w.cold[w.at]
		w.hinted[w.at] = hinted
		w.at++
		return 0, false, hinted
	}
	if w.decider == nil {
		w.at = simBatch
		return 0, false, false
	}
	if w.skipper != nil {
		calls++
		if n := w.skipper.Skip(w.ranges[w.at:]); n > 0 {
			w.at += n
			return calls, false, false
		}
	}
	i := w.at
	w.at++
	calls++
	switch w.decider.Decide(w.ranges[i]) {
	case Probe:
		calls++
		w.decider.Learn(w.ranges[i], !w.cold[i])
		w.hinted[i] = w.cold[i]
		return calls, true, w.cold[i]
	case Hint:
		w.hinted[i] = true
		return calls, false, true
	}
	return calls, false, false
}
