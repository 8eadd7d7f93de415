// Package prefetchmicro measures the kernel calls that readers use to look at the page cache and to fill it, one at a
// time: an op is one call on a range at a random place, drawn outside the timer, and nothing else.
//
// It mirrors the micro-benchmarks of isLoaded and prefetch in apache/lucene pull request 16145, where a range is rounded
// out to pages as there. Cold stays cold: no range of a list shares a page with another one, and the file is evicted
// when the list is used up. Each row says what share of its calls met cold pages (cold-%), and fails if that is not 99 %
// in cold, or 1 % in hot.
package prefetchmicro

import (
	"testing"

	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/strategies"
)

// Run measures a call in every case, on mappings (or descriptors) without advice and with that of random access, with
// ranges of READ_SIZE (4KiB and 16KiB) bytes and on THREADS (1 and 8) threads, one row each.
func Run(b *testing.B, c Call) {
	suite := readbench.Start(b)
	config := suite.Config()
	for _, pageCase := range config.Cases {
		for _, advice := range []mapping.Advice{mapping.Normal, mapping.Random} {
			for _, size := range config.ReadSize.Or(4<<10, 16<<10) {
				for _, threads := range config.Threads.Or(1, 8) {
					suite.Run(b, readbench.Row{
						Strategy: measured{c, advice, pageCase == "cold", linux, config}, Case: pageCase, Threads: threads,
						Labels: []string{"advice=" + advice.String(), "read=" + size.String()},
						Effect: c.effect, Batch: c.batch, MaxRange: int(size), Predrawn: true, PerRange: true,
						Op: op,
					})
				}
			}
		}
	}
}

// op is one call.
func op(w *readbench.Worker) (func() error, error) {
	c := w.Reader().(*caller)
	return func() error {
		rs, err := w.Take()
		if err != nil {
			return err
		}
		return c.do(c, rs)
	}, nil
}

// RunNull measures the harness itself: an op takes a range, and makes no call.
func RunNull(b *testing.B) {
	suite := readbench.Start(b)
	config := suite.Config()
	for _, pageCase := range config.Cases {
		for _, threads := range config.Threads.Or(1, 8) {
			suite.Run(b, readbench.Row{
				Strategy: strategies.Null(), Case: pageCase, Threads: threads,
				Effect: readbench.EffectNone, Batch: 1, MaxRange: 16 << 10, Predrawn: true,
				Op: func(w *readbench.Worker) (func() error, error) {
					return func() error { _, err := w.Take(); return err }, nil
				},
			})
		}
	}
}
