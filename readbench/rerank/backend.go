package rerank

import (
	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/prefetch"
)

// A Backend is a way of reading the vectors of a shortlist.
type Backend struct {
	Name     string // the value of the label backend=
	Strategy readbench.Strategy
	Procs    int // GOMAXPROCS to run with; 0: that of the row's threads
	readers  int // of a pool
}

// poolName is the backend that is tuned for each number of threads.
const poolName = "pool"

// Backends returns all backends, in the order of their rows: those on io_uring with each engine that is in this program,
// mmap-prefetch with each policy that is configured. The pool is the one that is best with so many threads (see Data.Pool).
func (d *Data) Backends(threads int) ([]Backend, error) {
	bs := []Backend{{Name: "serial", Strategy: readbench.PreadDirect()}}
	p, err := d.Pool(threads)
	if err != nil {
		return nil, err
	}
	bs = append(bs, p)
	for _, e := range readbench.Engines() {
		bs = append(bs, Backend{Name: "uring-direct", Strategy: readbench.UringDirect(e)})
	}
	for _, e := range readbench.Engines() {
		bs = append(bs, Backend{Name: "uring", Strategy: readbench.Uring(e)})
	}
	bs = append(bs, Backend{Name: "mmap", Strategy: readbench.MmapRandom()})
	hinting, err := prefetch.Strategy{Random: true}.Strategies(d.config)
	if err != nil {
		return nil, err
	}
	for _, s := range hinting {
		bs = append(bs, Backend{Name: "mmap-prefetch", Strategy: s})
	}
	return bs, nil
}
