package rerank

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/rerank/openloop"
)

// An openRow is the row of a backend whose queries come when they come.
type openRow struct {
	d     *Data
	m     *openMeter
	tuner *tuner // nil unless the backend is a pool
	load  *openloop.Load
	runs  uint64 // loads so far
}

// newOpenRow makes the row; it has one worker for each handler.
func (d *Data) newOpenRow(be backend, pageCase string) (*openRow, readbench.Row) {
	c := d.suite.Config()
	o := &openRow{d: d, m: &openMeter{meter: meter{d: d, open: true}}}
	row := d.row(be, pageCase, c.Handlers, &o.m.meter, o.query(pageCase))
	row.Extra = o.m
	// A processor for each handler, which may hold it while it waits for the device, and one for what has queries come.
	row.Procs = c.Handlers + 1
	if p, ok := be.strategy.(*pool); ok {
		o.tuner = &tuner{pool: p, m: &o.m.meter}
	}
	op := row.Op
	row.Op = func(w *readbench.Worker) (func() error, error) {
		if pageCase == "cold" {
			return nil, readbench.Unsupported("cold: in an open loop queries come without pause, and the file cannot be evicted between them; a pressureN case has reads from the device")
		}
		serve, err := op(w)
		return func() error {
			err := serve()
			if o.load != nil {
				o.load.Done(w.ID, err)
			}
			return err
		}, err
	}
	return o, row
}

// query is what a worker answers next: of the load what its handler has got, or, while there is none, what it draws.
func (o *openRow) query(pageCase string) func(w *readbench.Worker) func() (int64, error) {
	draw := o.d.draw(pageCase)
	return func(w *readbench.Worker) func() (int64, error) {
		drawn := draw(w)
		return func() (int64, error) {
			if o.load == nil {
				return drawn()
			}
			return int64(mix(uint64(o.load.Item(w.ID))+o.runs<<32) % manyQueries), nil
		}
	}
}

// mix is a random number that is the same for the same x (the finalizer of SplitMix64: Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// leastArrivals is how many queries a percentile is of, at least.
const leastArrivals = 50

// run has queries come at a rate, for a while, or as many as n if that takes longer.
func (o *openRow) run(rate float64, during time.Duration, n int, promise openloop.Promise, period func(func(int) bool, func()) (readbench.Period, error)) (openloop.Report, error) {
	c := o.d.suite.Config()
	o.runs++
	load := openloop.New(openloop.Options{
		Rate: rate, Arrivals: max(n, leastArrivals, int(rate*during.Seconds())),
		Handlers: c.Handlers, Queue: c.Queue, Seed: c.Seed + o.runs, Promise: promise,
	})
	o.load = load
	var wg sync.WaitGroup
	wg.Go(load.Run)
	_, err := period(load.Next, load.Cancel)
	load.Cancel() // if the period did not come to begin
	wg.Wait()
	o.load = nil
	o.m.report = load.Report()
	return o.m.report, err
}

// tune tunes the backend, if it wants that.
func (o *openRow) tune(s *readbench.Session) error {
	if o.tuner == nil {
		return nil
	}
	return o.tuner.tune(s)
}

// openMeter has the metrics of the open loop too.
type openMeter struct {
	meter
	report openloop.Report // of the last load
	rate   float64         // the highest one within the service level, or 0
	trials int             // that it took to find it
}

// openUnits are the units of an openMeter, and their directions.
var openUnits = [][2]string{
	{"open-p50-ns/op", "lower"}, {"open-p99-ns/op", "lower"}, {"open-p999-ns/op", "lower"}, {"shed-%", "lower"}, {"served/s", "higher"}, {"generator-late-p99-ns/op", "lower"},
}

func (m *openMeter) Report(ops int, elapsed time.Duration, report func(value float64, unit string)) error {
	if err := m.meter.Report(ops, elapsed, report); err != nil {
		return err
	}
	r := m.report
	if r.Served+r.Shed+r.Failed != r.Arrived {
		return fmt.Errorf("%d queries came; %d were served, %d shed, %d failed", r.Arrived, r.Served, r.Shed, r.Failed)
	}
	report(float64(r.P50), "open-p50-ns/op")
	report(float64(r.P99), "open-p99-ns/op")
	report(float64(r.P999), "open-p999-ns/op")
	report(100*r.ShedShare(), "shed-%")
	report(r.Achieved(), "served/s")
	report(float64(r.LateP99), "generator-late-p99-ns/op")
	if m.rate > 0 {
		report(m.rate, "queries/s")
		report(float64(m.trials), "trials")
	}
	return nil
}

// RunOpenLoop measures queries that come at rates (READBENCH_RATES) and are served by READBENCH_HANDLERS, by all backends; own are
// policies of the caller's for mmap-prefetch.
//
//	func BenchmarkOpenLoop(b *testing.B) { rerank.RunOpenLoop(b) }
func RunOpenLoop(b *testing.B, own ...prefetch.Policy) {
	d := startOpen(b)
	c := d.suite.Config()
	bs, err := backends(c, own...)
	if err != nil {
		b.Fatal(err)
	}
	for _, pageCase := range c.Cases {
		for _, rate := range c.Rates.Or(20, 50) {
			for _, be := range bs {
				o, row := d.newOpenRow(be, pageCase)
				row.Labels = append(row.Labels, fmt.Sprintf("rate=%d", rate))
				row.Drive = func(n int, s *readbench.Session) error {
					if err := o.tune(s); err != nil {
						return err
					}
					_, err := o.run(float64(rate), c.SLAStep, n, openloop.Promise{}, s.Period)
					return err
				}
				d.suite.Run(b, row)
			}
		}
	}
}

// startOpen is start for open loops: what decides their results too.
func startOpen(b *testing.B) *Data {
	b.Helper()
	d := start(b)
	c := d.suite.Config()
	err := d.suite.Setting("queue", fmt.Sprint(c.Queue))
	for _, u := range openUnits {
		err = errors.Join(err, d.suite.Unit(u[0], u[1]))
	}
	if err != nil {
		b.Fatal(err)
	}
	return d
}
