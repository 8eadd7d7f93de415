package rerank

import (
	"context"
	"errors"
	"syscall"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// Queries is how many different queries there are: what Serve takes is a number from 0 to below it.
const Queries = queries

// Data are the file of vectors and what is in memory of them: what all rows of a process share. The vectors, the queries
// and the answers are functions of READBENCH_SEED, READBENCH_DIM, READBENCH_VECTORS and READBENCH_SHORTLIST alone. Its
// methods are for one goroutine, but for NewHandler, which any may call.
type Data struct {
	*index
	config  *config.Config
	path    string // of the file of vectors
	answers *answers
	recalls float64        // see index.recall
	warm    float64        // see index.coldRepeats
	pools   map[int]tuning // by threads
}

// OpenData makes the file of vectors in the user's cache directory unless it is there, opens it, and makes what is in
// memory.
func OpenData(ctx context.Context, c *config.Config) (*Data, error) {
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
	d := &Data{config: c, path: path, answers: newAnswers(), pools: map[int]tuning{}}
	if d.index, err = newIndex(ctx, c, l, s); err != nil {
		return nil, err
	}
	d.recalls, d.warm = d.recall(), d.coldRepeats()
	return d, nil
}

// Path is that of the file of vectors.
func (d *Data) Path() string { return d.path }

// file is the file of vectors.
func (d *Data) file() *strategy.File {
	return strategy.NewFile(d.path, d.layout.size(), nil)
}

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
