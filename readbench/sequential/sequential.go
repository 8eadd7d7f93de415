// Package sequential is the workload of forward scans: an op reads the next READS_PER_OP (128) ranges of READ_SIZE
// (16KiB, 64KiB, 128KiB and 1MiB) bytes, one thread by default. With several threads each scans a stripe of its own.
//
// It mirrors the sequential reads of the JMH suite in apache/lucene pull request 16279: the cursor lives on from op to
// op. At the end of its stripe a worker starts over; in the cold case when all have come to the end of theirs and the
// file was evicted, so that no page is read that an earlier round left in the page cache.
package sequential

import (
	"cmp"
	"errors"
	"strconv"
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// Run measures a strategy in every case, with every read size and every number of threads that is configured, one row
// each:
//
//	func BenchmarkMine(b *testing.B) { sequential.Run(b, mine{}) }
func Run(b *testing.B, s strategy.Strategy) { run(b, s, readbench.EffectRead) }

// RunNull measures the harness itself: an op moves the cursor as far as one of Run, and reads nothing.
func RunNull(b *testing.B) { run(b, strategies.Null(), readbench.EffectNone) }

func run(b *testing.B, s strategy.Strategy, effect readbench.Effect) {
	suite := readbench.Start(b)
	c := suite.Config()
	reads := cmp.Or(c.ReadsPerOp, 128)
	if err := errors.Join(suite.Setting("reads-per-op", strconv.Itoa(reads)), suite.Setting("window", c.Window.String())); err != nil {
		b.Fatal(err)
	}
	for _, pageCase := range c.Cases {
		for _, size := range c.ReadSize.Or(16<<10, 64<<10, 128<<10, 1<<20) {
			for _, threads := range c.Threads.Or(1) {
				suite.Run(b, readbench.Row{
					Strategy: s, Case: pageCase, Threads: threads, Labels: []string{"read=" + size.String()},
					Order: strategy.OrderSequential, Batch: reads, MaxRange: int(size), Effect: effect,
				})
			}
		}
	}
}
