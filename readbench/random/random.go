// Package random is the random-read workload: an op reads READS_PER_OP (16) ranges of READ_SIZE (16KiB) bytes at random
// places of the file.
//
// It mirrors the random reads of the JMH suite in apache/lucene pull request 16279: all offsets of an op are
// drawn first, then all are hinted (if the strategy hints), then all are read.
package random

import (
	"cmp"
	"strconv"
	"testing"

	"github.com/readbench/suite/readbench"
)

// Run measures a strategy in every case, with every read size and every number of threads that is configured, one row
// each:
//
//	func BenchmarkMine(b *testing.B) { random.Run(b, mine{}) }
func Run(b *testing.B, s readbench.Strategy) { run(b, s, readbench.EffectRead) }

// RunNull measures the harness itself: an op draws as many offsets as one of Run, and reads nothing.
func RunNull(b *testing.B) { run(b, readbench.Null(), readbench.EffectNone) }

func run(b *testing.B, s readbench.Strategy, effect readbench.Effect) {
	suite := readbench.Start(b)
	c := suite.Config()
	reads := cmp.Or(c.ReadsPerOp, 16)
	if err := suite.Setting("reads-per-op", strconv.Itoa(reads)); err != nil {
		b.Fatal(err)
	}
	for _, pageCase := range c.Cases {
		for _, size := range c.ReadSize.Or(16 << 10) {
			for _, threads := range c.Threads.Or(1, 4, 8, 16) {
				suite.Run(b, readbench.Row{
					Strategy: s, Case: pageCase, Threads: threads, Labels: []string{"read=" + size.String()},
					Batch: reads, MaxRange: int(size), Effect: effect,
				})
			}
		}
	}
}
