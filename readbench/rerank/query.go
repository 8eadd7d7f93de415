package rerank

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/prefetch"
)

// RunQuery measures queries in a closed loop, by all backends, in every case and with every number of threads that is
// configured; own are policies of the caller's for mmap-prefetch.
//
//	func BenchmarkQuery(b *testing.B) { rerank.RunQuery(b) }
func RunQuery(b *testing.B, own ...prefetch.Policy) {
	d := start(b)
	c := d.suite.Config()
	bs, err := backends(c, own...)
	if err != nil {
		b.Fatal(err)
	}
	for _, pageCase := range c.Cases {
		for _, threads := range c.Threads.Or(1, 8) {
			for _, be := range bs {
				m := &meter{d: d}
				row := d.row(be, pageCase, threads, m, d.draw(pageCase))
				if p, ok := be.strategy.(*pool); ok {
					t := &tuner{pool: p, m: m}
					row.Drive = func(n int, s *readbench.Session) error {
						if err := t.tune(s); err != nil {
							return err
						}
						_, err := s.Period(atMost(n))
						return err
					}
				}
				d.suite.Run(b, row)
			}
		}
	}
}

// atMost has workers run n ops.
func atMost(n int) (next func(int) bool, cancel func()) {
	var left atomic.Int64
	left.Store(int64(n))
	return func(int) bool { return left.Add(-1) >= 0 }, func() {}
}

// during has workers run ops for a while.
func during(d time.Duration) (next func(int) bool, cancel func()) {
	end := time.Now().Add(d)
	return func(int) bool { return time.Now().Before(end) }, func() {}
}

// A tuner finds out with how many goroutines and processors a pool answers most queries, so that the pool is as good a baseline
// as it can be.
type tuner struct {
	pool           *pool
	m              *meter
	workers, procs int // 0 until they are known
}

// tryFor is how long each setting is tried.
const tryFor = 300 * time.Millisecond

// tune tries the settings, once, and leaves pool and session at the best.
func (t *tuner) tune(s *readbench.Session) error {
	if t.workers == 0 {
		best := 0.0
		cpus := runtime.NumCPU()
		for _, workers := range []int{16, 32, 64, mostWorkers} {
			for _, procs := range []int{cpus, 4 * cpus, 16 * cpus} {
				t.pool.use(workers)
				s.SetProcs(procs)
				next, cancel := during(tryFor)
				p, err := s.Try(next, cancel)
				if err != nil {
					return err
				}
				if rate := float64(p.Ops) / p.Elapsed.Seconds(); rate > best {
					best, t.workers, t.procs = rate, workers, procs
				}
			}
		}
		t.m.settings = map[string]float64{"pool-workers": float64(t.workers), "pool-procs": float64(t.procs)}
	}
	t.pool.use(t.workers)
	s.SetProcs(t.procs)
	return nil
}
