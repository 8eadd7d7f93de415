package strategies_test

import (
	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/strategy"
)

// everyOther is a policy from outside: it probes every other range of a worker.
type everyOther struct{}

func (everyOther) Name() string { return "every-other" }

func (everyOther) Open(prefetch.Target) func(worker int) prefetch.Decider {
	return func(int) prefetch.Decider { return new(everyOtherWorker) }
}

type everyOtherWorker struct{ ranges int }

func (w *everyOtherWorker) Decide(strategy.Range) prefetch.Action {
	if w.ranges++; w.ranges%2 == 0 {
		return prefetch.Skip
	}
	return prefetch.Probe
}

func (*everyOtherWorker) Learn(strategy.Range, bool) {}
