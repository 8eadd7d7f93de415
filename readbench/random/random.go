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
	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// Run measures a strategy in every case, with every read size and every number of threads that is configured, one row
// each:
//
//	func BenchmarkMine(b *testing.B) { random.Run(b, mine{}) }
func Run(b *testing.B, s strategy.Strategy) {
	run(b, readbench.Start(b), readbench.EffectRead, s)
}

// RunPolicies measures a mapping with every prefetch policy that is configured (READBENCH_POLICIES) and every one of
// the caller's own, one row each for all that Run has one row for; rows that differ only in the policy follow each
// other. See strategies.Prefetching.Strategies, also for what runs if none is configured.
//
//	func BenchmarkMmapRandomPrefetch(b *testing.B) {
//		random.RunPolicies(b, strategies.Prefetching{Random: true}, mine{})
//	}
func RunPolicies(b *testing.B, mapping strategies.Prefetching, own ...prefetch.Policy) {
	suite := readbench.Start(b)
	all, err := mapping.Strategies(suite.Config(), own...)
	if err != nil {
		b.Fatal(err)
	}
	run(b, suite, readbench.EffectRead, all...)
}

// RunNull measures the harness itself: an op draws as many offsets as one of Run, and reads nothing.
func RunNull(b *testing.B) { run(b, readbench.Start(b), readbench.EffectNone, strategies.Null()) }

func run(b *testing.B, suite *readbench.Suite, effect readbench.Effect, all ...strategy.Strategy) {
	c := suite.Config()
	reads := cmp.Or(c.ReadsPerOp, 16)
	always := "one madvise for each range"
	if !strategies.Stock(c) {
		always = "the hint of the other policies"
	}
	for _, setting := range [][2]string{
		{"reads-per-op", strconv.Itoa(reads)},
		{"policy-always", always}, // not the same thing under one name in two runs
	} {
		if err := suite.Setting(setting[0], setting[1]); err != nil {
			b.Fatal(err)
		}
	}
	for _, pageCase := range c.Cases {
		for _, size := range c.ReadSize.Or(16 << 10) {
			for _, threads := range c.Threads.Or(1, 4, 8, 16) {
				for _, s := range all {
					suite.Run(b, readbench.Row{
						Strategy: s, Case: pageCase, Threads: threads, Labels: []string{"read=" + size.String()},
						Batch: reads, MaxRange: int(size), Effect: effect,
					})
				}
			}
		}
	}
}
