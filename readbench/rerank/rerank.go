// Package rerank is the workload of a vector search that ranks anew: a query finds a shortlist by 1-bit codes in memory, reads
// the full vectors of the shortlist, which lie scattered over a file, ranks them by their exact distance, and keeps the
// nearest 100.
//
// It mirrors the rerank of apache/lucene pull requests 16656 and 16666. One op is one query, answered by one worker; the
// backends differ in nothing but how the vectors of a shortlist are read.
package rerank

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/config"
)

// shared are the data of this process.
var shared *Data

// Start returns the suite that READBENCH_* variables describe, on a file of vectors, and the data, both made by the first
// call in a process. It fails or skips b if they cannot be had.
func Start(b *testing.B) (*readbench.Suite, *Data) {
	b.Helper()
	suite := readbench.StartFiles(b, func(ctx context.Context, c *config.Config) (_ []string, err error) {
		if shared, err = OpenData(ctx, c); err != nil {
			return nil, err
		}
		return []string{shared.Path()}, nil
	})
	for _, setting := range shared.settings() {
		if err := suite.Setting(setting[0], setting[1]); err != nil {
			b.Fatal(err)
		}
	}
	for _, unit := range [][2]string{{"recall", "higher"}, {"reads/op", "lower"}} {
		if err := suite.Unit(unit[0], unit[1]); err != nil {
			b.Fatal(err)
		}
	}
	return suite, shared
}

// settings decide the results and are in no row's name.
func (d *Data) settings() [][2]string {
	return [][2]string{
		{"dim", strconv.Itoa(d.layout.dim)},
		{"vectors", strconv.Itoa(d.vectors)},
		{"align", string(d.align)},
		{"shortlist", strconv.Itoa(d.shortlist)},
		{"cold-repeats", fmt.Sprintf("%.1f%%", 100*d.warm)},
	}
}

// RunQuery measures the closed loop: each worker answers one query after the other. There is a row for each backend, case and
// number of threads.
func RunQuery(b *testing.B) {
	suite, d := Start(b)
	c := suite.Config()
	for _, pageCase := range c.Cases {
		for _, threads := range c.Threads.Or(1, 4) {
			backends, err := d.Backends(threads)
			if err != nil {
				b.Fatal(err)
			}
			for _, backend := range backends {
				suite.Run(b, d.Row(backend, pageCase, threads))
			}
		}
	}
}

// depth is how many reads a worker on io_uring has in flight, unless READBENCH_DEPTH says otherwise.
const depth = 64

// Row is a row of queries, one op each, drawn as the case says.
func (d *Data) Row(backend Backend, pageCase string, threads int) readbench.Row {
	extra := &extra{recall: d.recalls, backend: backend}
	return readbench.Row{
		Strategy: backend.Strategy, Case: pageCase, Threads: threads, Labels: []string{"backend=" + backend.Name},
		Units: Queries, Batch: 1, MaxRange: d.bytes(), MaxRanges: d.shortlist, Depth: depth, Procs: backend.Procs, Extra: extra,
		Op: func(w *readbench.Worker) (func() error, error) {
			if pageCase == "cold" {
				if err := d.checkCold(); err != nil {
					return nil, err
				}
			}
			h, err := d.NewHandler(w)
			if err != nil {
				return nil, err
			}
			extra.add(h)
			query := make([]int64, 1)
			return func() error {
				if _, err := w.DrawUnits(query); err != nil {
					return err
				}
				return h.Serve(query[0])
			}, nil
		},
	}
}

// extra are the metrics of a row of queries.
type extra struct {
	recall  float64
	backend Backend

	mu       sync.Mutex
	handlers []*Handler
}

func (e *extra) add(h *Handler) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.handlers = append(e.handlers, h)
}

func (e *extra) Reset() {
	for _, h := range e.handlers {
		h.counters = counters{}
	}
}

func (e *extra) Report(_ int, _ time.Duration, report func(value float64, unit string)) error {
	var sum counters
	for _, h := range e.handlers {
		sum.queries += h.counters.queries
		sum.reads += h.counters.reads
	}
	report(e.recall, "recall")
	if sum.queries > 0 {
		report(float64(sum.reads)/float64(sum.queries), "reads/op")
	}
	if e.backend.readers > 0 { // what it was tuned to
		report(float64(e.backend.readers), "pool-readers")
		if e.backend.Procs > 0 {
			report(float64(e.backend.Procs), "pool-procs")
		}
	}
	return nil
}
