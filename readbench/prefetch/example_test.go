package prefetch_test

import (
	"fmt"

	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// everyOther probes every other range of a worker: a policy from outside, in the fewest lines.
type everyOther struct{}

func (everyOther) Name() string { return "every-other" }

// Open has nothing that workers share; if it had, it would make it here.
func (everyOther) Open(prefetch.Target) func(worker int) prefetch.Decider {
	return func(int) prefetch.Decider { return new(everyOtherWorker) }
}

type everyOtherWorker struct{ ranges int }

func (w *everyOtherWorker) Decide(strategy.Range) prefetch.Action {
	if w.ranges++; w.ranges%2 == 0 {
		return prefetch.Skip
	}
	return prefetch.Probe // and hint it, if it is not resident
}

func (*everyOtherWorker) Learn(strategy.Range, bool) {}

func ExamplePolicy() {
	// In a file of your own, mine_test.go:
	//
	//	func TestMain(m *testing.M)            { readbench.Main(m) }
	//	func TestMine(t *testing.T)            { readtest.Test(t, strategies.Prefetching{Policy: everyOther{}, Random: true}) }
	//	func BenchmarkMmapRandomPrefetch(b *testing.B) {
	//		random.RunPolicies(b, strategies.Prefetching{Random: true}, everyOther{}) // beside READBENCH_POLICIES
	//	}
	fmt.Println(strategies.Prefetching{Policy: everyOther{}, Random: true}.Labels())
	// Output: [policy=every-other]
}

func ExampleNew() {
	p, err := prefetch.New("adaptive")
	fmt.Println(p.Name(), err)
	_, err = prefetch.New("adaptiv")
	fmt.Println(err)
	// Output:
	// adaptive <nil>
	// there is no prefetch policy "adaptiv"; there are none, always, loaded, backoff, backoff-local, slowclimb, runlength, bitmap, adaptive (a policy of your own needs no name here: pass its value)
}
