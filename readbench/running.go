package readbench

import (
	"cmp"
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readbench/suite/internal/evidence"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/pressure"
)

// running is a row that was set up: what lives from its first call to its last.
type running struct {
	suite  *Suite
	files  files // the suite's, or a part of its only one
	row    Row
	opened []Opened // of each file
	state  caseState

	geometry

	workers []*Worker
	counted bool  // whether all readers are Counters
	grain   int   // slots of one draw at the most
	epoch   int64 // how often the file was evicted
	list    *list // of a predrawn row

	listSeed uint64 // counts the lists that were drawn with replacement

	meter   *evidence.Meter
	lookups int // read system calls that one interval of the meter makes itself
	stalls  stallMeter

	// of the present call
	before       pagecache.Residency
	countsBefore Counts
	driven       bool // whether Session.Period says how many ops there are, be it none

	barrier *barrier
	stopped time.Duration // at the barrier, with the timer stopped
	ended   time.Time     // when the timer was last stopped
}

func (r *running) openStrategy(ctx context.Context) error {
	pc, err := parseCase(r.row.Case)
	if err != nil {
		return err
	}
	if r.state, err = pc.enter(ctx, r); err != nil {
		return err
	}
	for _, f := range r.files { // of which the case may have taken a part
		opened, err := r.row.Strategy.Open(f, r.setup())
		if err != nil {
			return err
		}
		r.opened = append(r.opened, opened)
	}
	if r.direct() {
		if err := r.onDevice("direct reads"); err != nil {
			return err
		}
	}
	f := r.files[0]
	unit, direct := f.page, false
	if d, ok := r.opened[0].(Direct); ok {
		unit, direct = max(unit, d.Alignment()), true
		if err := checkDirectSize(Size(r.row.MaxRange), f, d.Alignment()); err != nil && r.row.Units == 0 {
			if len(r.suite.config.ReadSize) == 0 { // it is the workload's
				err = Unsupported("%w", err)
			}
			return err
		}
	}
	if err := r.cut(unit, direct); err != nil {
		return err
	}
	return r.openMeter()
}

// openMeter makes the meter and finds out what it costs to read it.
func (r *running) openMeter() error {
	source := r.suite.source()
	own, err := source.OwnReads()
	if err != nil {
		return Unsupported("the kernel's counters of this process, without which a row has no evidence: %w", err)
	}
	r.meter, r.lookups = evidence.NewMeter(source), int(own)
	r.stalls = stallMeter{source: pressure.Source{Proc: source.Proc, Device: source.Device}, on: r.suite.config.Metrics == MetricsAll}
	return nil
}

func (r *running) setup() Setup {
	return Setup{Config: r.suite.config, Threads: r.row.Threads, Batch: r.row.batch(), MaxRange: r.row.MaxRange, Depth: r.row.depth(r.suite.config), Order: r.row.Order}
}

func (r *running) direct() bool {
	_, ok := r.opened[0].(Direct)
	return ok
}

// batching reports whether an op's ranges must be drawn together.
func (r *running) batching() bool {
	w := r.workers[0]
	return w.prefetch != nil || w.batch != nil
}

func (r *running) checker() checker {
	return newChecker(r.files[0], r.suite.config.Verify)
}

func (r *running) mapped() bool {
	_, ok := r.opened[0].(Mapper)
	return ok
}

// counts is what all readers have counted so far, nothing if one of them does not count: a part would be reported as if it
// were all. No op is under way.
func (r *running) counts() (sum Counts, err error) {
	r.counted = true
	for _, w := range r.workers {
		err = errors.Join(err, w.do(func() error {
			for _, a := range w.all {
				counter, ok := a.reader.(Counter)
				if !ok {
					r.counted = false
					return nil
				}
				sum.add(counter.Counts())
			}
			return nil
		}))
	}
	if !r.counted {
		return Counts{}, err
	}
	return sum, err
}

// close undoes openStrategy and the making of the workers, as far as they went.
func (r *running) close() error {
	var errs []error
	for _, w := range r.workers {
		errs = append(errs, w.close())
	}
	for _, o := range r.opened {
		errs = append(errs, o.Close())
	}
	if c, ok := r.state.(io.Closer); ok {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// A stopwatch is the part of testing.B that measures time.
type stopwatch interface {
	StartTimer()
	StopTimer()
}

type noWatch struct{}

func (noWatch) StartTimer() {}
func (noWatch) StopTimer()  {}

// perform has the first n workers run ops as long as their next says, and at least one each; it returns how
// many were run. dispatch calls work for each worker, concurrently, and returns when all have returned; work
// reports whether all went well. The workers start together, and timer and counters run only while they work.
func (r *running) perform(n int, watch stopwatch, dispatch func(work func(id int, next func() bool) bool)) (ops int, err error) {
	started := false
	start := func() error {
		started = true
		err := errors.Join(r.stalls.start(), r.meter.Start()) // in this order: the meter counts system calls
		watch.StartTimer()
		return err
	}
	stop := func() error {
		r.ended = time.Now() // before StopTimer, which goes on to read memory statistics
		watch.StopTimer()
		return errors.Join(r.meter.Stop(), r.stalls.stop())
	}
	turn := func() error {
		if !started {
			return start()
		}
		from := time.Now()
		ctx, cancel := r.suite.setupContext()
		defer cancel()
		if err := errors.Join(stop(), r.state.restore(ctx, epochEnd)); err != nil {
			return r.suite.config.deadline(ctx, err)
		}
		err := start()
		r.stopped += time.Since(from)
		return err
	}
	var endErr error
	r.stopped = 0
	r.barrier = newBarrier(n, turn, func() {
		if started {
			endErr = stop()
		}
	})
	if r.suite.config.Procs == ProcsThreads {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cmp.Or(r.row.Procs, n)))
	}
	dispatch(func(id int, next func() bool) bool {
		w := r.workers[id]
		return w.do(func() error { return w.work(next) }) == nil
	})
	for _, w := range r.workers[:n] {
		ops += w.done
	}
	return ops, errors.Join(r.barrier.err, endErr)
}

// call is one measured call: it measures, judges and reports.
func (r *running) call(b *testing.B) error {
	b.StopTimer()
	if r.row.Drive != nil {
		return r.drive(b)
	}
	res, err := r.measure(b)
	if err == nil {
		err = r.judge(res)
	}
	if err != nil {
		return err
	}
	return r.report(b, res)
}

// report puts all metrics into b's result line.
func (r *running) report(b *testing.B, res *result) error {
	if extra := r.row.Extra; extra != nil {
		if err := extra.Report(res.ops, res.elapsed, b.ReportMetric); err != nil {
			return err
		}
	}
	res.report(b, r.suite.config.Metrics)
	return nil
}

func (r *running) judge(res *result) error {
	return errors.Join(r.state.judge(res), res.judgeSyscalls())
}

func (r *running) measure(b *testing.B) (*result, error) {
	b.StopTimer()
	if err := r.begin(); err != nil {
		return nil, err
	}
	if r.row.Effect == EffectRead && r.row.Units == 0 {
		b.SetBytes(r.row.bytesPerOp())
	}
	b.ResetTimer()
	ops, err := r.performParallel(b)
	if err != nil {
		return nil, err
	}
	return r.finish(ops, b.Elapsed())
}

// resident is how much of the files is in the page cache; of a row that reads nothing it is not asked.
func (r *running) resident() (pagecache.Residency, error) {
	if r.row.Effect == EffectNone {
		return pagecache.Residency{}, nil
	}
	return r.files.resident()
}

// begin brings everything into the state in which measuring begins.
func (r *running) begin() error {
	ctx, cancel := r.suite.setupContext()
	defer cancel()
	if err := r.state.restore(ctx, callStart); err != nil {
		return r.suite.config.deadline(ctx, err)
	}
	var err error
	if r.before, err = r.resident(); err != nil {
		return err
	}
	for _, w := range r.workers {
		w.tally = tally{}
		if w.latency != nil {
			w.latency.Reset()
		}
	}
	r.meter.Reset()
	r.stalls.reset()
	if r.row.Extra != nil {
		r.row.Extra.Reset()
	}
	r.countsBefore, err = r.counts()
	return err
}

// finish gathers what there is to say of what was done since begin.
func (r *running) finish(ops int, elapsed time.Duration) (*result, error) {
	after, err := r.resident()
	if err != nil {
		return nil, err
	}
	counts, err := r.counts()
	if err != nil {
		return nil, err
	}
	res := &result{
		ops: ops, elapsed: elapsed, row: &r.row, direct: r.direct(), mapped: r.mapped(), disk: r.suite.source().Device != "",
		counters: r.meter.Sum(), lookups: r.lookups * r.meter.Intervals(), intervals: r.meter.Intervals(),
		stalls: r.stalls.total(), counts: counts.since(r.countsBefore), counted: r.counted,
		page: r.files[0].page, fileSize: r.files.size(), before: r.before, after: after,
	}
	if r.list != nil {
		res.listLength = int64(len(r.list.ranges))
	}
	for _, w := range r.workers {
		res.idle += w.waited + r.ended.Sub(w.ended) - (r.stopped - w.stopped)
		res.tally.add(w.tally)
		res.add(w.latency)
	}
	return res, nil
}

// performParallel is perform with the b.N ops of b, handed out by RunParallel.
func (r *running) performParallel(b *testing.B) (ops int, err error) {
	threads := r.row.Threads
	// RunParallel starts a multiple of GOMAXPROCS goroutines; those beyond threads do nothing.
	procs := threads
	if r.suite.config.Procs == ProcsInherit {
		procs = runtime.GOMAXPROCS(0)
	}
	b.SetParallelism((threads + procs - 1) / procs)
	return r.perform(threads, b, func(work func(int, func() bool) bool) {
		var ids atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			if id := int(ids.Add(1)) - 1; id < threads && !work(id, pb.Next) {
				b.Fail() // else RunParallel fails b itself, for ops that were left, and the cause is lost
			}
		})
	})
}

// performEach is perform outside the testing package: each of the first n workers goes on as long as more says.
func (r *running) performEach(n int, more func() bool) error {
	_, err := r.perform(n, noWatch{}, func(work func(int, func() bool) bool) {
		var wg sync.WaitGroup
		for id := range n {
			wg.Go(func() { work(id, more) })
		}
		wg.Wait()
	})
	return err
}

// warmUp runs the row for a while without measuring it.
func (r *running) warmUp(ctx context.Context) error {
	if r.suite.config.Warmup == 0 {
		return nil
	}
	if err := r.state.restore(ctx, callStart); err != nil {
		return err
	}
	end := time.Now().Add(r.suite.config.Warmup)
	return r.performEach(r.row.Threads, func() bool { return time.Now().Before(end) })
}

// pilot runs a few ops with one worker and returns the bytes that the worst of them made the device deliver.
func (r *running) pilot() (most uint64, err error) {
	for range 3 {
		r.meter.Reset()
		if err := r.performEach(1, func() bool { return false }); err != nil { // one op is the least
			return 0, err
		}
		most = max(most, r.meter.Sum().DeviceBytes)
	}
	return most, nil
}
