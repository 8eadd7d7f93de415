package rerank

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/readbench"
)

// Pool reads the ranges of a batch with pread(2) past the page cache (O_DIRECT), fanned out over goroutines that all workers
// of a row share: each gets one message for a batch, and reads every so-manieth of its ranges. The worker waits for the last
// one to be done. It is the fair baseline of one submission for all: neither a message nor a wakeup for every read.
//
// Readers is how many goroutines there are: as many reads can be under way at a time.
func Pool(readers int) readbench.Strategy { return pool{readers} }

type pool struct{ readers int }

func (pool) Name() string { return "pool" }

// Open opens the file as PreadDirect does, with its doubts.
func (s pool) Open(f *readbench.File, setup readbench.Setup) (readbench.Opened, error) {
	if s.readers < 1 {
		return nil, fmt.Errorf("a pool has at least one reader, not %d", s.readers)
	}
	direct, err := readbench.PreadDirect().Open(f, setup)
	if err != nil {
		return nil, err
	}
	d, ok := direct.(readbench.Direct)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T does not tell its alignment", direct), direct.Close())
	}
	// As many messages as all workers can send: sending never blocks.
	o := &poolOpened{opened: direct, align: d.Alignment(), setup: setup, readers: s.readers, tasks: make(chan poolTask, setup.Threads*s.readers)}
	for range s.readers {
		o.running.Go(o.read)
	}
	return o, nil
}

type poolOpened struct {
	opened  readbench.Opened
	align   int
	setup   readbench.Setup
	readers int
	tasks   chan poolTask
	running sync.WaitGroup
}

// poolTask is what a goroutine is sent: to read the ranges first, first+step, … of a batch.
type poolTask struct {
	batch       *poolReader
	first, step int
}

func (o *poolOpened) read() {
	for t := range o.tasks {
		t.batch.read(t.first, t.step)
	}
}

func (o *poolOpened) Alignment() int { return o.align }

func (o *poolOpened) Close() error {
	close(o.tasks)
	o.running.Wait()
	return o.opened.Close()
}

// Reader makes a direct reader, and so a buffer, for each range of a batch: they are all there until the batch is delivered.
func (o *poolOpened) Reader(worker int) (readbench.Reader, error) {
	r := &poolReader{pool: o, done: make(chan struct{}, 1)}
	for range max(1, o.setup.Batch) {
		slot, err := o.opened.Reader(worker)
		if err != nil {
			return nil, err
		}
		r.slots = append(r.slots, slot)
	}
	r.results = make([]poolResult, len(r.slots))
	return r, nil
}

type poolReader struct {
	pool    *poolOpened
	slots   []readbench.Reader
	results []poolResult
	ranges  []readbench.Range // of the batch under way
	done    chan struct{}     // sent to by the last goroutine

	_    cpu.CacheLinePad
	left atomic.Int32 // goroutines that are not done
	_    cpu.CacheLinePad
}

type poolResult struct {
	p   []byte
	err error
}

// read reads some ranges of the batch; it runs on a goroutine of the pool.
func (r *poolReader) read(first, step int) {
	for i := first; i < len(r.ranges); i += step {
		res := &r.results[i]
		res.p, res.err = r.slots[i].Read(r.ranges[i])
	}
	if r.left.Add(-1) == 0 {
		r.done <- struct{}{}
	}
}

// Read reads on the worker's own goroutine.
func (r *poolReader) Read(rg readbench.Range) ([]byte, error) { return r.slots[0].Read(rg) }

// ReadBatch reads as many ranges at a time as there are buffers: all of a batch that is no larger than Setup.Batch.
func (r *poolReader) ReadBatch(rs []readbench.Range, each func(i int, p []byte) error) error {
	for from := 0; from < len(rs); from += len(r.slots) {
		if err := r.readTogether(rs[from:min(from+len(r.slots), len(rs))]); err != nil {
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
func (r *poolReader) readTogether(rs []readbench.Range) error {
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

// Counts are those of its direct readers.
func (r *poolReader) Counts() readbench.Counts {
	sum := readbench.Counts{Calls: map[string]uint64{}}
	for _, slot := range r.slots {
		if c, ok := slot.(readbench.Counter); ok {
			d := c.Counts()
			for kind, n := range d.Calls {
				sum.Calls[kind] += n
			}
			sum.ReadSyscalls += d.ReadSyscalls
			sum.Short += d.Short
			sum.Retried += d.Retried
		}
	}
	return sum
}
