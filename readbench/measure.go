package readbench

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/readbench/suite/internal/cases"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/config"
)

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

// drive is one call of a row that is driven.
func (r *running) drive(b *testing.B) error {
	b.ResetTimer()
	r.last = nil
	if err := r.row.Drive(b.N, &Session{run: r, watch: b}); err != nil {
		return err
	}
	if r.last == nil {
		return errors.New("Row.Drive ran no period: there is nothing to report")
	}
	return r.report(b, r.last)
}

// report puts all metrics into b's result line.
func (r *running) report(b *testing.B, res *result.Result) error {
	if extra := r.row.Extra; extra != nil {
		if err := extra.Report(res.Ops, res.Elapsed, b.ReportMetric); err != nil {
			return err
		}
	}
	res.Report(b.ReportMetric, b.N, r.Config.Metrics == config.MetricsAll)
	return nil
}

func (r *running) judge(res *result.Result) error {
	return errors.Join(r.state.Judge(res), res.JudgeSyscalls())
}

func (r *running) measure(b *testing.B) (*result.Result, error) {
	b.StopTimer()
	if err := r.begin(); err != nil {
		return nil, err
	}
	if r.Shape.Effect == shape.Read && r.Shape.Units == 0 {
		b.SetBytes(r.Shape.BytesPerOp())
	}
	b.ResetTimer()
	ops, err := r.performParallel(b)
	if err != nil {
		return nil, err
	}
	return r.finish(ops, b.Elapsed())
}

// period is one of a session.
func (r *running) period(watch *teeWatch, next func(worker int) bool, cancel func()) (Period, error) {
	if err := r.begin(); err != nil {
		return Period{}, err
	}
	r.driven = true
	ops, err := r.perform(r.Shape.Threads, watch, func(work func(int, func() bool) bool) {
		var wg sync.WaitGroup
		var failed sync.Once
		for id := range r.Shape.Threads {
			wg.Go(func() {
				if !work(id, func() bool { return next(id) }) {
					failed.Do(cancel)
				}
			})
		}
		wg.Wait()
	})
	r.driven = false
	if err != nil {
		return Period{}, err
	}
	r.last, err = r.finish(ops, watch.elapsed)
	if err == nil {
		err = r.judge(r.last)
	}
	return Period{ops, watch.elapsed}, err
}

// resident is how much of the files is in the page cache; of a row that reads nothing it is not asked.
func (r *running) resident() (pagecache.Residency, error) {
	if r.Shape.Effect == shape.None {
		return pagecache.Residency{}, nil
	}
	return r.Files.Resident()
}

// begin brings everything into the state in which measuring begins.
func (r *running) begin() error {
	ctx, cancel := r.Config.SetupContext()
	defer cancel()
	if err := r.state.Restore(ctx, cases.CallStart); err != nil {
		return r.Config.Deadline(ctx, err)
	}
	var err error
	if r.before, err = r.resident(); err != nil {
		return err
	}
	for _, w := range r.workers {
		w.tally = result.Tally{}
		if w.latency != nil {
			w.latency.Reset()
		}
	}
	r.meter.Reset()
	r.stalls.Reset()
	if r.row.Extra != nil {
		r.row.Extra.Reset()
	}
	r.countsBefore, err = r.counts()
	return err
}

// finish gathers what there is to say of what was done since begin.
func (r *running) finish(ops int, elapsed time.Duration) (*result.Result, error) {
	after, err := r.resident()
	if err != nil {
		return nil, err
	}
	counts, err := r.counts()
	if err != nil {
		return nil, err
	}
	res := &result.Result{
		Shape: r.Shape, Strategy: r.strategy, Ops: ops, Elapsed: elapsed,
		Direct: r.Direct(), Mapped: r.mapped(), Disk: r.source.Device != "", Page: r.Files[0].PageSize(), FileSize: r.Files.Size(),
		Counters: r.meter.Sum(), Lookups: r.lookups * r.meter.Intervals(), Intervals: r.meter.Intervals(), Stalls: r.stalls.Sum(),
		Counts: counts.Since(r.countsBefore), Counted: r.counted, Before: r.before, After: after,
	}
	if r.List != nil {
		res.ListLength = int64(r.List.Len())
	}
	for _, w := range r.workers {
		res.Idle += w.waited + r.ended.Sub(w.ended) - (r.stopped - w.stopped)
		res.Tally.Add(w.tally)
		res.AddLatency(w.latency)
	}
	return res, nil
}
