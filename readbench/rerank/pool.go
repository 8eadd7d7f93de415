package rerank

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// Pool reads the ranges of a batch with pread(2) past the page cache (O_DIRECT), fanned out over goroutines that all workers
// of a row share: each gets one message for a batch, and reads every so-manieth of its ranges. The worker waits for the last
// one to be done. It is the fair baseline of one submission for all: neither a message nor a wakeup for every read.
//
// Readers is how many goroutines there are: as many reads can be under way at a time.
func Pool(readers int) strategy.Strategy { return pool{readers} }

type pool struct{ readers int }

func (pool) Name() string { return "pool" }

// Open opens the file as PreadDirect does.
func (s pool) Open(f *strategy.File, setup strategy.Setup) (strategy.Opened, error) {
	if s.readers < 1 {
		return nil, fmt.Errorf("a pool has at least one reader, not %d", s.readers)
	}
	direct, err := strategies.PreadDirect().Open(f, setup)
	if err != nil {
		return nil, err
	}
	d, ok := direct.(strategy.Direct)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T does not tell its alignment", direct), direct.Close())
	}
	// As many messages as all workers can send: sending never blocks.
	o := &poolOpened{opened: direct, align: d.Alignment(), setup: setup, readers: s.readers, tasks: make(chan poolTask, setup.Threads*s.readers)}
	for i := range s.readers {
		reader, err := direct.Reader(setup.Threads + i)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("pool: %w", err), o.Close())
		}
		o.direct = append(o.direct, reader)
	}
	for _, reader := range o.direct {
		o.running.Go(func() { o.read(reader) })
	}
	return o, nil
}

type poolOpened struct {
	opened  strategy.Opened
	align   int
	setup   strategy.Setup
	readers int
	direct  []strategy.Reader // of the goroutines
	tasks   chan poolTask
	running sync.WaitGroup
	told    atomic.Bool // whether a reader tells what these have done
}

// poolTask is what a goroutine is sent: to read the ranges first, first+step, … of a batch.
type poolTask struct {
	batch       *poolReader
	first, step int
}

func (o *poolOpened) read(with strategy.Reader) {
	for t := range o.tasks {
		t.batch.read(with, t.first, t.step)
	}
}

func (o *poolOpened) Alignment() int { return o.align }

func (o *poolOpened) Close() error {
	close(o.tasks)
	o.running.Wait()
	var err error
	for _, r := range o.direct {
		if c, ok := r.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return errors.Join(err, o.opened.Close())
}

// Reader makes room for a batch: what a goroutine has read is copied there, so that all of it is there until the batch is
// delivered. That costs little beside a read: there are many more rooms than goroutines, and buffers for direct reads are dear.
func (o *poolOpened) Reader(int) (strategy.Reader, error) {
	batch := max(1, o.setup.Batch)
	r := &poolReader{pool: o, done: make(chan struct{}, 1), teller: o.told.CompareAndSwap(false, true), results: make([]poolResult, batch), room: make([]byte, batch*o.setup.MaxRange)}
	return r, nil
}

type poolReader struct {
	pool    *poolOpened
	room    []byte // MaxRange bytes for each range of a batch
	results []poolResult
	ranges  []strategy.Range // of the batch under way
	one     [1]strategy.Range
	done    chan struct{} // sent to by the last goroutine
	teller  bool          // whether this one counts what the goroutines do, for all readers

	_    cpu.CacheLinePad
	left atomic.Int32 // goroutines that are not done
	_    cpu.CacheLinePad
}

type poolResult struct {
	p   []byte
	err error
}

// read reads some ranges of the batch; it runs on a goroutine of the pool.
func (r *poolReader) read(with strategy.Reader, first, step int) {
	size := r.pool.setup.MaxRange
	for i := first; i < len(r.ranges); i += step {
		res := &r.results[i]
		p, err := with.Read(r.ranges[i])
		res.p, res.err = append(r.room[i*size:i*size:(i+1)*size], p...), err
	}
	if r.left.Add(-1) == 0 {
		r.done <- struct{}{}
	}
}

// Read has the pool read one range.
func (r *poolReader) Read(rg strategy.Range) ([]byte, error) {
	r.one[0] = rg
	err := r.readTogether(r.one[:])
	return r.results[0].p, err
}

// ReadBatch reads as many ranges at a time as there is room for: all of a batch that is no larger than Setup.Batch.
func (r *poolReader) ReadBatch(rs []strategy.Range, each func(i int, p []byte) error) error {
	for from := 0; from < len(rs); from += len(r.results) {
		if err := r.readTogether(rs[from:min(from+len(r.results), len(rs))]); err != nil {
			return err
		}
		for i := range r.ranges {
			if err := each(from+i, r.results[i].p); err != nil {
				return err
			}
		}
	}
	return nil
}

// readTogether has the pool read ranges, and waits until nothing is under way any more.
func (r *poolReader) readTogether(rs []strategy.Range) error {
	r.ranges = rs
	step := min(r.pool.readers, len(rs))
	r.left.Store(int32(step))
	for first := range step {
		r.pool.tasks <- poolTask{r, first, step}
	}
	<-r.done
	for i := range rs {
		if err := r.results[i].err; err != nil {
			return err
		}
	}
	return nil
}

// Counts are those of all goroutines, told by one reader for all.
func (r *poolReader) Counts() strategy.Counts {
	sum := strategy.Counts{Calls: map[string]uint64{}}
	for _, with := range r.pool.direct {
		c, ok := with.(strategy.Counter)
		if !ok {
			continue
		}
		d := c.Counts()
		for kind, n := range d.Calls {
			if !r.teller {
				n = 0
			}
			sum.Calls[kind] += n
		}
		if r.teller {
			sum.ReadSyscalls += d.ReadSyscalls
			sum.Short += d.Short
			sum.Retried += d.Retried
		}
	}
	return sum
}
