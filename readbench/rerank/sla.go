package rerank

import (
	"errors"
	"fmt"
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/rerank/openloop"
)

const (
	shedAllowed = 0.001 // share of the queries
	longer      = 3     // times as long as READBENCH_SLA_STEP is the run that confirms a rate
)

// RunSLA finds the highest rate of queries at which 99 of 100 are answered within READBENCH_SLA_P99 of when they were to come, and
// no more than one of 1000 is shed, by all backends; the metric is queries/s, and all others are those of the run that confirms it.
// own are policies of the caller's for mmap-prefetch.
//
//	func BenchmarkSLA(b *testing.B) { rerank.RunSLA(b) }
func RunSLA(b *testing.B, own ...prefetch.Policy) {
	d := startOpen(b)
	c := d.suite.Config()
	promise := openloop.Promise{P99: c.SLAP99, Shed: shedAllowed}
	err := errors.Join(
		d.suite.Setting("sla", fmt.Sprintf("p99 <= %v, shed <= %g %%", promise.P99, 100*promise.Shed)),
		d.suite.Setting("sla-step", c.SLAStep.String()))
	bs, backendErr := backends(c, own...)
	if err := errors.Join(err, backendErr); err != nil {
		b.Fatal(err)
	}
	for _, pageCase := range c.Cases {
		for _, be := range bs {
			o, row := d.newOpenRow(be, pageCase)
			row.Drive = func(_ int, s *readbench.Session) error { return o.search(s, promise) }
			d.suite.Run(b, row)
		}
	}
}

// search finds the rate, beginning at half of what a closed loop of all handlers gives.
func (o *openRow) search(s *readbench.Session, promise openloop.Promise) error {
	if err := o.tune(s); err != nil {
		return err
	}
	step := o.d.suite.Config().SLAStep
	next, cancel := during(step)
	closed, err := s.Try(next, cancel)
	if err != nil {
		return err
	}
	f, err := openloop.Find(promise, float64(closed.Ops)/closed.Elapsed.Seconds()/2, func(rate float64, long bool) (openloop.Report, error) {
		if long {
			return o.run(rate, longer*step, 0, promise, s.Period)
		}
		return o.run(rate, step, 0, promise, s.Try)
	})
	if errors.Is(err, openloop.ErrNoRate) {
		return readbench.Unsupported("%w: p99 of %v is more than this backend can promise here; set %sSLA_P99", err, promise.P99, readbench.EnvPrefix)
	}
	o.m.rate, o.m.trials = f.Rate, len(f.Steps)
	return err
}
