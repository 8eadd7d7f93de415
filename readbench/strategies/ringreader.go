package strategies

import (
	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/internal/uring"
	"github.com/readbench/suite/readbench/strategy"
)

// A ringReader reads batches with one ring.
type ringReader struct {
	ring *uring.Ring
	buf  []byte // what Read hands out
	keep func(i int, p []byte) error
	_    cpu.CacheLinePad
}

func newRingReader(r *uring.Ring, maxRange int) *ringReader {
	x := &ringReader{ring: r, buf: make([]byte, maxRange)}
	x.keep = func(_ int, p []byte) error {
		copy(x.buf, p)
		return nil
	}
	return x
}

// Read copies: the ring's buffer is its own again when it returns. A batch is not copied.
func (r *ringReader) Read(rg strategy.Range) ([]byte, error) {
	r.ring.Add(rg.Off, rg.N)
	if err := r.ring.Do(r.keep); err != nil {
		return nil, err
	}
	return r.buf[:rg.N], nil
}

func (r *ringReader) ReadBatch(rs []strategy.Range, each func(i int, p []byte) error) error {
	for _, rg := range rs {
		r.ring.Add(rg.Off, rg.N)
	}
	return r.ring.Do(each)
}

func (r *ringReader) Counts() strategy.Counts { return ringCounts(r.ring.Counts()) }

// Close closes the ring, on the goroutine that opened it.
func (r *ringReader) Close() error { return r.ring.Close() }

// ringCounts are the counts of a reader with a ring: it makes no read system call. Calls of io_uring_enter count even if they
// were interrupted.
func ringCounts(c uring.Counts) strategy.Counts {
	return strategy.Counts{
		Calls: map[string]uint64{"enter": c.Enters, "submitted": c.Submissions, "completed": c.Completions, "pread": 0},
		Short: c.Short, Retried: c.Retried,
	}
}

// A ringPipeliner is a Pipeliner.
type ringPipeliner struct{ *ringReader }

func (r *ringPipeliner) Start(rs []strategy.Range) error {
	for _, rg := range rs {
		r.ring.Add(rg.Off, rg.N)
	}
	return r.ring.Start()
}

func (r *ringPipeliner) Finish(each func(i int, p []byte) error) error { return r.ring.Finish(each) }
