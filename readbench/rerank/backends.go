package rerank

import (
	"errors"

	"github.com/readbench/suite/internal/directio"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// Backends returns all backends, in the order of their rows: those on io_uring with each engine that is in this program,
// mmap-prefetch with each policy that is configured. The pool is the one that is best with so many threads (see Data.Pool).
func (d *Data) Backends(threads int) ([]Backend, error) {
	bs := []Backend{{Name: "serial", Strategy: strategies.PreadDirect()}}
	p, err := d.Pool(threads)
	if err != nil {
		return nil, err
	}
	bs = append(bs, p)
	for _, e := range strategies.Engines() {
		bs = append(bs, Backend{Name: "uring-direct", Strategy: strategies.UringDirect(e)})
	}
	for _, e := range strategies.Engines() {
		bs = append(bs, Backend{Name: "uring", Strategy: strategies.Uring(e)})
	}
	bs = append(bs, Backend{Name: "mmap", Strategy: strategies.MmapRandom()})
	hinting, err := strategies.Prefetching{Random: true}.Strategies(d.config)
	if err != nil {
		return nil, err
	}
	for _, s := range hinting {
		bs = append(bs, Backend{Name: "mmap-prefetch", Strategy: s})
	}
	return bs, nil
}

// Pool is the pool with the number of readers and of processors that it is fastest with when so many threads use it, found
// out by trying, once for each number of threads, unless no row of a pool is to run.
func (d *Data) Pool(threads int) (Backend, error) {
	t, ok := d.pools[threads]
	if !ok {
		if !selected("backend=" + poolName) {
			return Backend{Name: poolName, Strategy: Pool(1), readers: 1}, nil
		}
		var err error
		t, err = tunePool(d.file(), d.config, d.index, threads)
		if err != nil && !errors.Is(err, strategy.ErrUnsupported) && !directio.Refused(err) { // else the row says why it cannot run
			return Backend{}, err
		}
		d.pools[threads] = t
	}
	return Backend{Name: poolName, Strategy: Pool(t.readers), Procs: t.procs, readers: t.readers}, nil
}
