package rerank

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/rerank/openloop"
	"github.com/readbench/suite/readbench/strategy"
)

const (
	shedAllowed = 0.001 // share of the queries
	longer      = 3     // times as long as READBENCH_SLA_STEP is the run that confirms a rate, at least
	leastShort  = 100   // queries that a rate is tried with, at least
	leastLong   = 1000  // and confirmed with: fewer tell nothing of one of 1000
)

// RunSLA finds the highest rate of queries at which 99 of 100 are answered within READBENCH_SLA_P99 of when they were to come, and
// no more than one of 1000 is shed: a row for each backend and case. The metric is queries/s; all others are those of the run
// that confirms it.
func RunSLA(b *testing.B) {
	suite, d := startOpen(b)
	c := d.config
	promise := openloop.Promise{P99: c.SLAP99, Shed: shedAllowed}
	err := errors.Join(
		suite.Setting("sla", fmt.Sprintf("p99 <= %v, shed <= %g %%", promise.P99, 100*promise.Shed)),
		suite.Setting("sla-step", c.SLAStep.String()))
	backends, backendErr := d.Backends(c.Handlers)
	if err := errors.Join(err, backendErr); err != nil {
		b.Fatal(err)
	}
	for _, pageCase := range c.Cases {
		for _, backend := range backends {
			o, row := d.newOpenRow(backend, pageCase)
			row.Drive = func(_ int, s *readbench.Session) error { return o.search(s, promise) }
			suite.Run(b, row)
		}
	}
}

// search finds the rate, beginning at half of what a closed loop of all handlers gives.
func (o *openRow) search(s *readbench.Session, promise openloop.Promise) error {
	step := o.c.SLAStep
	end := time.Now().Add(step / 2)
	closed, err := s.Try(func(int) bool { return time.Now().Before(end) }, func() {})
	if err != nil {
		return err
	}
	first := float64(closed.Ops) / closed.Elapsed.Seconds() / 2
	f, err := openloop.Find(promise, first, func(rate float64, long bool) (openloop.Report, error) {
		if long {
			return o.run(rate, longer*step, leastLong, promise, s.Period)
		}
		return o.run(rate, step, leastShort, promise, s.Try)
	})
	if errors.Is(err, openloop.ErrNoRate) {
		return o.c.Blame(strategy.Unsupported("%w: a p99 of %v is more than this backend can promise here; set a longer one", err, promise.P99), "SLA_P99")
	}
	o.m.rate, o.m.trials = f.Rate, len(f.Steps)
	return err
}
