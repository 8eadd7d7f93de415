package readbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/readbench/suite/internal/cases"
	"github.com/readbench/suite/internal/draw"
	"github.com/readbench/suite/internal/evidence"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/pressure"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// running is a row that was set up: what lives from its first call to its last. It knows the row, its workers and its case,
// not which case that is, nor the suite.
type running struct {
	crew
	row     Row
	workers []*loop
	counted bool // whether all readers are Counters

	source  evidence.Source
	meter   *evidence.Meter
	lookups int             // read system calls that one interval of the meter makes itself
	stalls  *pressure.Meter // nil unless READBENCH_METRICS=all

	// of the present call
	before       pagecache.Residency
	countsBefore strategy.Counts
	ended        time.Time      // when the timer was last stopped
	last         *result.Result // of the last period of a session
}

// newRunning lays a row before a case; nothing is open yet.
func newRunning(row Row, c *config.Config, fs files.Set, m *cases.Machine, source evidence.Source) (*running, error) {
	r := &running{row: row, source: source}
	r.strategy, r.Case, r.Config, r.Files, r.Machine = row.Strategy.Name(), row.Case, c, fs, m
	var err error
	r.Shape, err = row.shape()
	if err == nil && row.Units == 0 && len(fs) > 1 {
		err = fmt.Errorf("a row without Units reads one file, the suite has %d", len(fs))
	}
	return r, err
}

// open sets the row up: everything that happens once. What was opened is closed by close, also after an error.
func (r *running) open(ctx context.Context, pageCase cases.Case) error {
	state, err := pageCase.Enter(ctx, &r.Site)
	if err != nil {
		return err
	}
	r.state = state
	if err := r.openStrategy(); err != nil {
		return err
	}
	if r.row.Predrawn {
		r.List = new(draw.List)
	}
	for id := range r.Shape.Threads {
		l := newLoop(&r.crew, id)
		r.workers = append(r.workers, l)
		if err := l.do(func() error { return l.open(r.row.Op) }); err != nil {
			return r.blame(err)
		}
	}
	first := r.workers[0]
	r.Batching = first.prefetch != nil || first.batch != nil
	return nil
}

// blame names the variables by which a reader wants more memory than there is: for as many reads, of that size.
func (r *running) blame(err error) error {
	if errors.Is(err, syscall.ENOMEM) {
		return r.Config.Blame(err, "DEPTH", "READ_SIZE")
	}
	return err
}

func (r *running) openStrategy() error {
	for _, f := range r.Files { // of which the case may have taken a part
		opened, err := r.row.Strategy.Open(f.File, r.setup())
		if err != nil {
			return r.blame(err)
		}
		r.Opened = append(r.Opened, opened)
	}
	f := r.Files[0]
	unit, direct := f.PageSize(), false
	if d, ok := r.Opened[0].(strategy.Direct); ok {
		if err := r.Machine.OnDevice("direct reads", r.Shape); err != nil {
			return err
		}
		unit, direct = max(unit, d.Alignment()), true
		if err := checkDirectSize(config.Size(r.row.MaxRange), f.File, d.Alignment()); err != nil && r.row.Units == 0 {
			if len(r.Config.ReadSize) == 0 { // it is the workload's
				err = strategy.Unsupported("%w", err)
			}
			return err
		}
	}
	if err := r.cut(unit, direct); err != nil {
		return err
	}
	return r.openMeter()
}

// cut makes the slots; unit is the page or the unit of direct reads.
func (r *running) cut(unit int, direct bool) error {
	f := r.Files[0]
	g := draw.Cut(r.Shape, f.Size(), unit, r.state.FaultStride(unit), direct)
	need := int64(1)
	if r.Shape.Order == strategy.OrderSequential {
		need = int64(r.Shape.Threads) // each has a stripe
	}
	if g.Slots < need {
		return r.Config.Blame(strategy.Unsupported("%s has %d bytes, too few for %d places of %d; set %sSIZE to %s or more",
			f.Path(), f.Size(), need, g.SlotSize, config.EnvPrefix, config.Size(need*g.SlotSize)), config.FileAmount...)
	}
	if r.Shape.Effect == shape.None {
		g.Slots *= draw.NullFactor
	}
	r.Geometry = g
	return nil
}

// openMeter makes the meters and finds out what it costs to read them.
func (r *running) openMeter() error {
	own, err := r.source.OwnReads()
	if err != nil {
		return strategy.Unsupported("the kernel's counters of this process, without which a row has no evidence: %w", err)
	}
	r.meter, r.lookups = evidence.NewMeter(r.source), int(own)
	if r.Config.Metrics == config.MetricsAll {
		r.stalls = pressure.NewMeter(pressure.Source{Proc: r.source.Proc, Device: r.source.Device})
	}
	return nil
}

func (r *running) setup() strategy.Setup {
	return strategy.Setup{
		Threads: r.Shape.Threads, Batch: r.Shape.ReaderBatch(), MaxRange: r.Shape.MaxRange, Depth: r.row.depth(r.Config),
		Window: int64(r.Config.Window), Order: r.Shape.Order, OwnProcessors: r.Config.Procs == config.ProcsThreads,
	}
}

func (r *running) mapped() bool {
	_, ok := r.Opened[0].(strategy.Mapper)
	return ok
}

// counts is what all readers have counted so far, nothing if one of them does not count: a part would be reported as if it
// were all. No op is under way.
func (r *running) counts() (sum strategy.Counts, err error) {
	r.counted = true
	for _, w := range r.workers {
		err = errors.Join(err, w.do(func() error {
			for _, a := range w.all {
				counter, ok := a.reader.(strategy.Counter)
				if !ok {
					r.counted = false
					return nil
				}
				sum.Add(counter.Counts())
			}
			return nil
		}))
	}
	if !r.counted {
		return strategy.Counts{}, err
	}
	return sum, err
}

// close undoes open, as far as that went.
func (r *running) close() error {
	var errs []error
	for _, w := range r.workers {
		errs = append(errs, w.close())
	}
	for _, o := range r.Opened {
		errs = append(errs, o.Close())
	}
	if c, ok := r.state.(io.Closer); ok {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// perform has the first n workers run ops as long as their next says, and at least one each; it returns how
// many were run. dispatch calls work for each worker, concurrently, and returns when all have returned; work
// reports whether all went well. The workers start together, and timer and counters run only while they work.
func (r *running) perform(n int, watch stopwatch, dispatch func(work func(id int, next func() bool) bool)) (ops int, err error) {
	started := false
	start := func() error {
		started = true
		err := errors.Join(r.stalls.Start(), r.meter.Start()) // in this order: the meter counts system calls
		watch.StartTimer()
		if r.began.IsZero() {
			r.began = time.Now()
		}
		return err
	}
	stop := func() error {
		r.ended = time.Now() // before StopTimer, which goes on to read memory statistics
		watch.StopTimer()
		return errors.Join(r.meter.Stop(), r.stalls.Stop())
	}
	turn := func() error {
		if !started {
			return start()
		}
		from := time.Now()
		ctx, cancel := r.Config.SetupContext()
		defer cancel()
		if err := errors.Join(stop(), r.state.Restore(ctx, cases.EpochEnd)); err != nil {
			return r.Config.Deadline(ctx, err)
		}
		err := start()
		r.stopped += time.Since(from)
		return err
	}
	var endErr error
	r.stopped, r.began = 0, time.Time{}
	r.barrier = newBarrier(n, turn, func() {
		if started {
			endErr = stop()
		}
	})
	if r.Config.Procs == config.ProcsThreads {
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

// performParallel is perform with the b.N ops of b, handed out by RunParallel.
func (r *running) performParallel(b *testing.B) (ops int, err error) {
	threads := r.Shape.Threads
	// RunParallel starts a multiple of GOMAXPROCS goroutines; those beyond threads do nothing.
	procs := threads
	if r.Config.Procs == config.ProcsInherit {
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
