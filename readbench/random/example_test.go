package random_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/random"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// A policy of one's own, and a Benchmark function that sets it beside those of READBENCH_POLICIES: this, with
// TestMain, is all that a user's _test.go holds.

// sticky hints all that follows a miss, until a probe of every 16th range is a hit.
type sticky struct{}

func (sticky) Name() string { return "sticky" }

func (sticky) Open(prefetch.Target) func(worker int) prefetch.Decider {
	return func(int) prefetch.Decider { return new(stickyWorker) }
}

type stickyWorker struct {
	ranges int
	cold   bool
}

func (w *stickyWorker) Decide(strategy.Range) prefetch.Action {
	w.ranges++
	switch {
	case w.ranges%16 == 0:
		return prefetch.Probe
	case w.cold:
		return prefetch.Hint
	}
	return prefetch.Skip
}

func (w *stickyWorker) Learn(_ strategy.Range, resident bool) { w.cold = !resident }

// benchmarkSticky is BenchmarkMmapRandomPrefetch in a user's file.
func benchmarkSticky(b *testing.B) {
	random.RunPolicies(b, strategies.Prefetching{Random: true}, sticky{})
}

// What runs beside it is what READBENCH_POLICIES says; here it is set to none,backoff.
func ExampleRunPolicies() {
	c, err := readbench.Load([]string{"READBENCH_POLICIES=none,backoff"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	all, err := strategies.Prefetching{Random: true}.Strategies(c, sticky{})
	for _, s := range all {
		fmt.Println(s.Name(), s.(strategy.Labeler).Labels())
	}
	fmt.Println(err)
	_ = benchmarkSticky // go test -bench runs it if its name begins with Benchmark
	// Output:
	// mmap-random-prefetch [policy=none]
	// mmap-random-prefetch [policy=backoff]
	// mmap-random-prefetch [policy=sticky]
	// <nil>
}
