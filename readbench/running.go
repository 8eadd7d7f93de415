package readbench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readbench/suite/internal/evidence"
	"github.com/readbench/suite/internal/pagecache"
)

// running is a row that was set up: what lives from its first call to its last.
type running struct {
	suite  *Suite
	row    Row
	opened Opened
	state  caseState

	geometry

	workers []*Worker
	grain   int // slots of one draw at the most
	barrier *barrier
	meter   *evidence.Meter
	stopped time.Duration // of the present call, at the barrier with the timer stopped
}

func (r *running) openStrategy(ctx context.Context) error {
	f := r.suite.file
	pc, err := parseCase(r.row.Case)
	if err != nil {
		return err
	}
	if r.state, err = pc.enter(ctx, r); err != nil {
		return err
	}
	if r.opened, err = r.row.Strategy.Open(f, r.setup()); err != nil {
		return err
	}
	unit, direct := f.page, false
	if d, ok := r.opened.(Direct); ok {
		unit, direct = max(unit, d.Alignment()), true
		if err := checkDirectSize(r.suite.config, f, d.Alignment()); err != nil {
			return err
		}
	}
	r.geometry = newGeometry(f.size, r.row.MaxRange, unit, direct)
	if r.slots == 0 {
		return fmt.Errorf("%s has %d bytes, too few for a read of %d that starts anywhere in a page; set %sSIZE to %s or more",
			f.path, f.size, r.row.MaxRange, EnvPrefix, Size(r.slotSize))
	}
	if r.row.BytesPerOp == 0 {
		r.slots *= nullFactor
	}
	r.meter = evidence.NewMeter(r.suite.source())
	return nil
}

func (r *running) setup() Setup {
	return Setup{Config: r.suite.config, Threads: r.row.Threads, Batch: r.row.Batch, MaxRange: r.row.MaxRange}
}

func (r *running) direct() bool {
	_, ok := r.opened.(Direct)
	return ok
}

// batching reports whether an op's ranges must be drawn together.
func (r *running) batching() bool {
	w := r.workers[0]
	return w.prefetch != nil || w.batch != nil
}

func (r *running) checker() checker {
	return newChecker(r.suite.file, r.suite.config.Verify)
}

func (r *running) counts() (c Counts) {
	for _, w := range r.workers {
		c.add(w.counts())
	}
	return c
}

// close undoes openStrategy and the making of the workers, as far as they went.
func (r *running) close() error {
	var errs []error
	for _, w := range r.workers {
		errs = append(errs, w.close())
	}
	if r.opened != nil {
		errs = append(errs, r.opened.Close())
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

// perform has the first n workers run ops as long as their next says. dispatch calls work for each, concurrently, and returns
// when all have returned; work reports whether all went well. The workers start together, and timer and counters run only while they work.
func (r *running) perform(n int, watch stopwatch, dispatch func(work func(id int, next func() bool) bool)) error {
	var started bool
	start := func() error {
		started = true
		err := r.meter.Start()
		watch.StartTimer()
		return err
	}
	stop := func() error {
		watch.StopTimer()
		return r.meter.Stop()
	}
	var endErr error
	r.barrier = newBarrier(n,
		func() error {
			if !started {
				return start()
			}
			from := time.Now()
			ctx, cancel := r.suite.setupContext()
			defer cancel()
			err := errors.Join(stop(), r.state.restore(ctx, epochEnd))
			if err != nil {
				return deadline(ctx, err)
			}
			r.stopped += time.Since(from)
			return start()
		},
		func() {
			if started {
				endErr = stop()
			}
		})
	if r.suite.config.Procs == ProcsThreads {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	}
	dispatch(func(id int, next func() bool) bool {
		w := r.workers[id]
		err := w.do(func() error {
			defer r.barrier.leave()
			if err := w.pause(); err != nil {
				return err
			}
			w.paused = 0
			if w.latency != nil {
				return w.timedOps(next)
			}
			return w.ops(next)
		})
		if err != nil {
			r.barrier.abort(err)
		}
		return err == nil
	})
	return errors.Join(r.barrier.err, endErr)
}

// call is one measured call: it measures, judges and reports.
func (r *running) call(b *testing.B) error {
	res, err := r.measure(b)
	if err != nil {
		return err
	}
	if err := errors.Join(r.state.judge(res), res.judgeSyscalls()); err != nil {
		return err
	}
	res.report(b, r.suite.config.Metrics)
	return nil
}

func (r *running) measure(b *testing.B) (*result, error) {
	b.StopTimer()
	ctx, cancel := r.suite.setupContext()
	defer cancel()
	if err := r.state.restore(ctx, callStart); err != nil {
		return nil, deadline(ctx, err)
	}
	f := r.suite.file
	before, err := pagecache.Resident(f.control, 0, f.size)
	if err != nil {
		return nil, err
	}
	for _, w := range r.workers {
		if w.latency != nil {
			w.latency.Reset()
		}
	}
	r.meter.Reset()
	r.stopped = 0
	counts := r.counts()
	b.SetBytes(r.row.BytesPerOp)
	b.ResetTimer()
	if err := r.performParallel(b); err != nil {
		return nil, err
	}
	after, err := pagecache.Resident(f.control, 0, f.size)
	if err != nil {
		return nil, err
	}
	res := &result{
		n: b.N, elapsed: b.Elapsed(), row: &r.row, direct: r.direct(),
		counters: r.meter.Sum(), intervals: r.meter.Intervals(), counts: r.counts().since(counts), before: before, after: after,
	}
	for _, w := range r.workers {
		res.waited += w.paused - r.stopped
		res.add(w.latency)
	}
	return res, nil
}

// performParallel is perform with the b.N ops of b, handed out by RunParallel.
func (r *running) performParallel(b *testing.B) error {
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
	return r.perform(n, noWatch{}, func(work func(int, func() bool) bool) {
		var wg sync.WaitGroup
		for id := range n {
			wg.Go(func() { work(id, more) })
		}
		wg.Wait()
	})
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

// pilot runs one op with one worker and returns the bytes that it made the device deliver.
func (r *running) pilot() (uint64, error) {
	r.meter.Reset()
	var once atomic.Bool
	err := r.performEach(1, func() bool { return once.CompareAndSwap(false, true) })
	return r.meter.Sum().DeviceBytes, err
}
