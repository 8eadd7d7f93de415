package rerank

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/rerank/openloop"
	"github.com/readbench/suite/readbench/strategy"
)

// An openRow is the row of a backend whose queries come when they come.
type openRow struct {
	c    *config.Config
	m    *openExtra
	load *openloop.Load // nil while workers draw queries themselves
	runs uint64         // loads so far
}

// newOpenRow makes the row; it has one worker for each handler.
func (d *Data) newOpenRow(backend Backend, pageCase string) (*openRow, readbench.Row) {
	row := d.Row(backend, pageCase, d.config.Handlers)
	o := &openRow{c: d.config, m: &openExtra{extra: row.Extra.(*extra)}}
	row.Extra = o.m
	if row.Procs == 0 {
		row.Procs = d.config.Handlers // which may hold one each while they wait for the device
	}
	row.Procs++ // for what has queries come
	row.Op = func(w *readbench.Worker) (func() error, error) {
		if pageCase == "cold" {
			return nil, strategy.Unsupported("cold: in an open loop queries come without pause, and the file cannot be evicted between them; in a case pressureN reads come from the device too")
		}
		h, err := d.NewHandler(w)
		if err != nil {
			return nil, err
		}
		o.m.add(h)
		drawn := make([]int64, 1)
		return func() error {
			load := o.load
			if load == nil {
				if _, err := w.DrawUnits(drawn); err != nil {
					return err
				}
				return h.Serve(drawn[0])
			}
			err := h.Serve(int64(mix(uint64(load.Item(w.ID))+o.runs<<32) % Queries))
			load.Done(w.ID, err)
			return err
		}, nil
	}
	return o, row
}

// run has queries come at a rate, for a while, or as many as n if that takes longer.
func (o *openRow) run(rate float64, during time.Duration, n int, promise openloop.Promise, period func(func(int) bool, func()) (readbench.Period, error)) (openloop.Report, error) {
	o.runs++
	load := openloop.New(openloop.Options{
		Rate: rate, Arrivals: max(n, int(rate*during.Seconds())),
		Handlers: o.c.Handlers, Queue: o.c.Queue, Seed: o.c.Seed + o.runs, Promise: promise,
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

// openExtra has the metrics of the open loop too.
type openExtra struct {
	*extra
	report openloop.Report // of the last load
	rate   float64         // the highest one within the service level, or 0
	trials int             // that it took to find it
}

// openUnits are the units of an openExtra, and their directions.
var openUnits = [][2]string{
	{"open-p50-ns/op", "lower"}, {"open-p99-ns/op", "lower"}, {"open-p999-ns/op", "lower"}, {"shed-%", "lower"}, {"served/s", "higher"}, {"queries/s", "higher"}, {"generator-late-p99-ns/op", "lower"},
}

func (m *openExtra) Report(ops int, elapsed time.Duration, report func(value float64, unit string)) error {
	if err := m.extra.Report(ops, elapsed, report); err != nil {
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
	report(float64(r.Arrived), "arrivals")
	report(r.InService, "in-service")
	report(r.Achieved(), "served/s")
	report(float64(r.LateP99), "generator-late-p99-ns/op")
	if m.rate > 0 {
		report(m.rate, "queries/s")
		report(float64(m.trials), "trials")
	}
	return nil
}

// RunOpenLoop measures queries that come at rates (READBENCH_RATES) and are served by READBENCH_HANDLERS: a row for each backend, case
// and rate. A run lasts READBENCH_SLA_STEP, or longer if -benchtime says so, and until several times as many queries have come as
// handlers and queue hold: before that, none can be shed.
func RunOpenLoop(b *testing.B) {
	suite, d := startOpen(b)
	c := d.config
	backends, err := d.Backends(c.Handlers)
	if err != nil {
		b.Fatal(err)
	}
	for _, pageCase := range c.Cases {
		for _, rate := range c.Rates.Or(20, 50) {
			for _, backend := range backends {
				o, row := d.newOpenRow(backend, pageCase)
				row.Labels = append(row.Labels, fmt.Sprintf("rate=%d", rate))
				row.Drive = func(n int, s *readbench.Session) error {
					_, err := o.run(float64(rate), c.SLAStep, max(n, 4*(c.Handlers+c.Queue)), openloop.Promise{}, s.Period)
					return err
				}
				suite.Run(b, row)
			}
		}
	}
}

// startOpen is Start for open loops: it says what decides their results, too.
func startOpen(b *testing.B) (*readbench.Suite, *Data) {
	b.Helper()
	suite, d := Start(b)
	err := suite.Setting("queue", strconv.Itoa(d.config.Queue))
	for _, u := range openUnits {
		err = errors.Join(err, suite.Unit(u[0], u[1]))
	}
	if err != nil {
		b.Fatal(err)
	}
	return suite, d
}
