package rerank

import (
	"context"
	"errors"
	"syscall"

	"github.com/readbench/suite/readbench"
)

// Queries is how many different queries there are: what Serve takes is a number from 0 to below it.
const Queries = queries

// Data are the file of vectors and what is in memory of them: what all rows of a process share. The vectors, the queries
// and the answers are functions of READBENCH_SEED, READBENCH_DIM, READBENCH_VECTORS and READBENCH_SHORTLIST alone. Its
// methods are for one goroutine, but for NewHandler, which any may call.
type Data struct {
	*index
	config  *readbench.Config
	file    *readbench.File
	answers *answers
	recalls float64        // see index.recall
	warm    float64        // see index.coldRepeats
	pools   map[int]tuning // by threads
}

// OpenData makes the file of vectors in the user's cache directory unless it is there, opens it, and makes what is in
// memory. Whoever calls it closes the file (File).
func OpenData(ctx context.Context, c *readbench.Config) (*Data, error) {
	l, err := newLayout(c)
	if err != nil {
		return nil, err
	}
	path, err := l.path(c.Seed)
	if err != nil {
		return nil, err
	}
	s := newSpace(c.Seed, l.dim, l.vectors)
	if err := makeFile(ctx, path, l, s); errors.Is(err, syscall.ENOSPC) {
		return nil, c.Blame(err, "VECTORS", "DIM", "ALIGN")
	} else if err != nil {
		return nil, err
	}
	d := &Data{config: c, answers: newAnswers(), pools: map[int]tuning{}}
	if d.index, err = newIndex(ctx, c, l, s); err != nil {
		return nil, err
	}
	d.recalls, d.warm = d.recall(), d.coldRepeats()
	d.file, err = readbench.OpenUnchecked(path)
	return d, err
}

// File is the file of vectors.
func (d *Data) File() *readbench.File { return d.file }

// NewHandler makes the handler of a worker, in Row.Op, on the worker's goroutine. The first one of a row (worker 0) answers
// a few queries through the row's strategy and compares the answers with those that need no file.
func (d *Data) NewHandler(w *readbench.Worker) (*Handler, error) {
	h := newHandler(d.index, d.answers, w)
	if w.ID > 0 {
		return h, nil
	}
	if err := h.examine(); err != nil {
		return nil, err
	}
	h.counters = counters{}
	return h, nil
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
		t, err = tunePool(d.file, d.config, d.index, threads)
		if err != nil && !errors.Is(err, readbench.ErrUnsupported) { // else the row says why it cannot run
			return Backend{}, err
		}
		d.pools[threads] = t
	}
	return Backend{Name: poolName, Strategy: Pool(t.readers), Procs: t.procs, readers: t.readers}, nil
}
