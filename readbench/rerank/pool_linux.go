package rerank

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"

	"github.com/readbench/suite/readbench"
)

// Pool reads the ranges of a batch with pread(2) past the page cache from several goroutines, which all readers share: how
// programs read many vectors at a time without io_uring. A reader sends one message to each goroutine, which takes every n-th
// range if there are n; it does not send a message a range, which would cost two more context switches each.
//
// How many goroutines get messages, and how many processors Go has, BenchmarkQuery finds out by trying.
func Pool() readbench.Strategy { return &pool{} }

// mostWorkers is how many goroutines a pool has.
const mostWorkers = 128

// pool remembers what was opened last.
type pool struct{ opened *poolOpened }

func (*pool) Name() string { return "pool" }

// use has n goroutines get tasks from now on. No batch is under way.
func (s *pool) use(n int) { s.opened.active.Store(int32(min(n, mostWorkers))) }

// Open opens the file as readbench.PreadDirect does, which finds out the alignment and whether reads are direct.
func (s *pool) Open(f *readbench.File, setup readbench.Setup) (_ readbench.Opened, err error) {
	direct, err := readbench.PreadDirect().Open(f, setup)
	if err != nil {
		return nil, err
	}
	o := &poolOpened{direct: direct, align: int64(direct.(readbench.Direct).Alignment()), page: f.PageSize(), setup: setup}
	o.active.Store(mostWorkers)
	if o.fd, err = f.Open(unix.O_DIRECT); err != nil {
		return nil, errors.Join(fmt.Errorf("pool: %w", err), direct.Close())
	}
	for range mostWorkers {
		tasks := make(chan task, setup.Threads) // no reader has more than one for each goroutine: sending never blocks
		o.tasks = append(o.tasks, tasks)
		o.wg.Go(func() {
			for t := range tasks {
				t.do()
			}
		})
	}
	s.opened = o
	return o, nil
}

type poolOpened struct {
	direct readbench.Opened
	fd     *os.File
	align  int64
	page   int
	setup  readbench.Setup
	tasks  []chan task
	wg     sync.WaitGroup
	active atomic.Int32 // how many goroutines get tasks
}

// Alignment is that of direct reads.
func (o *poolOpened) Alignment() int { return int(o.align) }

func (o *poolOpened) Close() error {
	for _, tasks := range o.tasks {
		close(tasks)
	}
	o.wg.Wait()
	return errors.Join(o.fd.Close(), o.direct.Close())
}

func (o *poolOpened) Reader(int) (readbench.Reader, error) {
	r := &poolReader{o: o, fd: int(o.fd.Fd()), done: make(chan struct{}, 1), parts: make([]part, mostWorkers)}
	r.keep = func(_ int, p []byte) error {
		r.one = p
		return nil
	}
	r.grow(o.setup.Batch, o.setup.MaxRange)
	return r, nil
}

// A poolReader has one batch at a time read by the pool. Its memory is touched by the pool only between ReadBatch's beginning
// and end.
type poolReader struct {
	o    *poolOpened
	fd   int
	bufs [][]byte // of each range, aligned
	keep func(i int, p []byte) error
	one  []byte

	ranges []readbench.Range
	parts  []part
	left   atomic.Int32  // parts that are not done
	done   chan struct{} // gets a message when none is left

	ok, calls, short, retried uint64
	_                         cpu.CacheLinePad
}

// part is what one goroutine does of a batch.
type part struct {
	ok, calls, short, retried uint64
	err                       error
	_                         cpu.CacheLinePad
}

// task is a message to a goroutine: to read the ranges first, first+stride, ….
type task struct {
	r             *poolReader
	first, stride int
}

// grow makes buffers for n ranges of up to size bytes, with what is around them.
func (r *poolReader) grow(n, size int) {
	page := r.o.page
	each := (size + 2*int(r.o.align) + page - 1) / page * page
	raw := make([]byte, n*each+page-1)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(raw))) & uintptr(page-1))
	r.bufs = make([][]byte, n)
	for i := range r.bufs {
		r.bufs[i] = raw[skip+i*each : skip+(i+1)*each]
	}
}

// Read reads a batch of one.
func (r *poolReader) Read(rg readbench.Range) ([]byte, error) {
	err := r.ReadBatch([]readbench.Range{rg}, r.keep)
	return r.one, err
}

// ReadBatch has the pool read the ranges, waits for all of them, and then calls each in their order.
func (r *poolReader) ReadBatch(rs []readbench.Range, each func(i int, p []byte) error) error {
	if len(rs) == 0 {
		return nil
	}
	if longest := r.longest(rs); len(rs) > len(r.bufs) || longest+2*int(r.o.align) > len(r.bufs[0]) {
		r.grow(max(len(rs), len(r.bufs)), longest)
	}
	r.ranges = rs
	n := min(int(r.o.active.Load()), len(rs))
	r.left.Store(int32(n))
	for i := range n {
		r.o.tasks[i] <- task{r, i, n}
	}
	<-r.done
	if err := r.gather(n); err != nil {
		return err
	}
	for i, rg := range rs {
		skip := rg.Off & (r.o.align - 1)
		if err := each(i, r.bufs[i][skip:skip+int64(rg.N)]); err != nil {
			return err
		}
	}
	return nil
}

func (r *poolReader) longest(rs []readbench.Range) (n int) {
	for _, rg := range rs {
		n = max(n, rg.N)
	}
	return n
}

// gather adds up what the goroutines have counted, and returns the first error.
func (r *poolReader) gather(n int) (err error) {
	for i := range r.parts[:n] {
		p := &r.parts[i]
		r.ok += p.ok
		r.calls += p.calls
		r.short += p.short
		r.retried += p.retried
		if err == nil {
			err = p.err
		}
		*p = part{}
	}
	return err
}

// Counts counts the reads of the pool on behalf of this reader.
func (r *poolReader) Counts() readbench.Counts {
	return readbench.Counts{Calls: map[string]uint64{"pread": r.ok}, ReadSyscalls: r.calls, Short: r.short, Retried: r.retried}
}

// do reads the task's ranges, on a goroutine of the pool.
func (t task) do() {
	r := t.r
	p := &r.parts[t.first]
	for i := t.first; i < len(r.ranges) && p.err == nil; i += t.stride {
		p.err = p.read(r.fd, r.bufs[i], r.ranges[i], r.o.align)
	}
	if r.left.Add(-1) == 0 {
		r.done <- struct{}{}
	}
}

// read reads a range with what is around it up to multiples of align.
func (p *part) read(fd int, buf []byte, rg readbench.Range, align int64) error {
	start := rg.Off &^ (align - 1)
	end := (rg.Off + int64(rg.N) + align - 1) &^ (align - 1)
	want := int(rg.Off-start) + rg.N // at the end of a file fewer may come than the aligned range has
	buf = buf[:end-start]
	for got := 0; ; {
		n, err := unix.Pread(fd, buf[got:], start+int64(got))
		p.calls++
		switch {
		case err == nil && n > 0:
			p.ok++
			if got += n; got >= want {
				return nil
			}
			p.short++
		case err == nil:
			return fmt.Errorf("pool: pread of %d bytes at %d: end of file after %d: %w", len(buf), start, got, io.ErrUnexpectedEOF)
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			p.retried++
		default:
			return fmt.Errorf("pool: pread of %d bytes at %d: %w", len(buf)-got, start+int64(got), err)
		}
	}
}
