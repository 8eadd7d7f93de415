// Package random is the random-read workload: an op reads READS_PER_OP ranges of READ_SIZE bytes at random
// places of the file.
//
// It mirrors the random reads of the JMH suite in apache/lucene pull request 16279: all offsets of an op are
// drawn first, then all are hinted (if the strategy hints), then all are read.
package random

import (
	"testing"

	"github.com/readbench/suite/readbench"
)

// Run measures a strategy in every case and with every number of threads that is configured, one row each:
//
//	func BenchmarkMine(b *testing.B) { random.Run(b, mine{}) }
func Run(b *testing.B, s readbench.Strategy) {
	suite := readbench.Start(b)
	c := suite.Config()
	run(b, suite, s, int64(c.ReadSize)*int64(c.ReadsPerOp), func(w *readbench.Worker, rs []readbench.Range) error { return w.Read(rs) })
}

// RunNull measures the harness itself: an op draws as many offsets as one of Run, and reads nothing.
func RunNull(b *testing.B) {
	run(b, readbench.Start(b), readbench.Null(), 0, func(*readbench.Worker, []readbench.Range) error { return nil })
}

func run(b *testing.B, suite *readbench.Suite, s readbench.Strategy, bytes int64, read func(*readbench.Worker, []readbench.Range) error) {
	c := suite.Config()
	for _, pageCase := range c.Cases {
		for _, threads := range c.Threads {
			suite.Run(b, readbench.Row{
				Strategy: s, Case: pageCase, Threads: threads,
				Batch: c.ReadsPerOp, MaxRange: int(c.ReadSize), BytesPerOp: bytes,
				Op: func(w *readbench.Worker) (func() error, error) { return op(w, c, read), nil },
			})
		}
	}
}

// op draws all ranges of an op, then reads them: in one go, unless the worker may draw only some at a time.
func op(w *readbench.Worker, c *readbench.Config, read func(*readbench.Worker, []readbench.Range) error) func() error {
	ranges := make([]readbench.Range, c.ReadsPerOp)
	for i := range ranges {
		ranges[i].N = int(c.ReadSize)
	}
	return func() error {
		for rest := ranges; len(rest) > 0; {
			now := rest[:min(len(rest), w.Grain())]
			if err := w.Draw(now); err != nil {
				return err
			}
			if err := read(w, now); err != nil {
				return err
			}
			rest = rest[len(now):]
		}
		return nil
	}
}
