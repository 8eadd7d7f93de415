package readbench

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/cpu"
)

// A Worker is one thread of a row. Its methods are for the goroutine that runs its ops, and no other.
type Worker struct {
	_ cpu.CacheLinePad
	// ID is the worker's number, 0 ≤ ID < Threads.
	ID int

	rng      rand.PCG // seeded from READBENCH_SEED and ID; in here, so that two workers' do not share a cache line
	run      *running
	draw     drawer
	access             // to the first file
	all      []access  // to each
	pipeline *pipeline // nil if each op ends before the next begins
	epoch    int64     // running.epoch when this worker last looked
	lease    []Range   // what is left of its lease of a predrawn list
	check    checker
	op       func() error
	ranges   []Range // of the batch under way
	seen     []bool  // which of them a BatchReader has delivered
	each     func(i int, p []byte) error

	// in rows of units
	drawn    []Range // Off is a unit's number
	tally    tally
	fetching func(i int, p []byte) error // of the Fetch under way
	fetched  func(i int, p []byte) error // calls it

	// of the present call
	done    int                     // ops
	paused  time.Duration           // spent at the barrier
	waited  time.Duration           // of that, with the timer running: for other workers
	ended   time.Time               // when this worker had no more ops
	stopped time.Duration           // running.stopped at that time
	latency *hdrhistogram.Histogram // nil unless READBENCH_METRICS=all

	tasks chan func()
	gone  chan struct{} // closed when the goroutine has ended
	_     cpu.CacheLinePad
}

// access is a worker's reader of a file, and what it can do.
type access struct {
	reader   Reader
	prefetch Prefetcher  // nil if the reader does not prefetch
	batch    BatchReader // nil if the reader reads one by one
	forget   Forgetter   // nil if the reader keeps nothing in mind
	settler  Settler     // nil if the reader leaves nothing under way
}

func newAccess(r Reader) access {
	a := access{reader: r}
	a.prefetch, _ = r.(Prefetcher)
	a.batch, _ = r.(BatchReader)
	a.forget, _ = r.(Forgetter)
	a.settler, _ = r.(Settler)
	return a
}

// newWorker starts the worker's goroutine, which runs tasks until close.
func newWorker(r *running, id int) *Worker {
	w := &Worker{ID: id, run: r, check: r.checker(), tasks: make(chan func()), gone: make(chan struct{})}
	w.rng.Seed(r.suite.config.Seed, uint64(id))
	w.each = w.deliver
	go func() {
		defer close(w.gone)
		defer runtime.UnlockOSThread() // in case that the reader locked it
		debug.SetPanicOnFault(true)
		for task := range w.tasks {
			task()
		}
	}()
	return w
}

// errGone is what is left of a worker whose goroutine was ended by what it called.
var errGone = errors.New("a reader or an op has ended its goroutine (b.Fatal, t.FailNow or runtime.Goexit); it must return an error instead")

// do runs f on the worker's goroutine and waits for it. A memory fault in f becomes an error.
func (w *Worker) do(f func() error) error {
	done := make(chan error, 1)
	task := func() {
		err := errGone
		defer func() { done <- err }()
		defer w.run.recoverFault(&err)
		err = f()
	}
	select {
	case w.tasks <- task:
		return <-done
	case <-w.gone:
		return errGone
	}
}

// open makes the readers; it runs on the worker's goroutine.
func (w *Worker) open() (err error) {
	for _, o := range w.run.opened {
		reader, err := o.Reader(w.ID)
		if err != nil {
			return err
		}
		w.all = append(w.all, newAccess(reader))
	}
	w.access = w.all[0]
	w.draw = w.run.state.drawer(w)
	w.seen = make([]bool, w.run.row.batch())
	w.drawn, w.fetched = make([]Range, w.run.row.Batch), w.fetch
	if w.run.suite.config.Metrics == MetricsAll && !w.run.row.Predrawn {
		const longest, digits = int64(time.Hour), 3
		w.latency = hdrhistogram.New(1, longest, digits)
	}
	if w.run.row.Op == nil {
		w.op, w.pipeline = w.ReadOp(), newPipeline(w)
		return nil
	}
	w.op, err = w.run.row.Op(w)
	return err
}

// close ends the worker.
func (w *Worker) close() error {
	err := w.do(w.closeReaders)
	if errors.Is(err, errGone) { // what they hold is not the goroutine's alone
		err = errors.Join(err, w.closeReaders())
	}
	close(w.tasks)
	return err
}

func (w *Worker) closeReaders() (err error) {
	for _, a := range w.all {
		if c, ok := a.reader.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// work runs ops from one start of the timer to the end of a call: as long as next says, and at least one, so
// that each of a row's threads does work however small b.N is. It runs on the worker's goroutine.
func (w *Worker) work(next func() bool) (err error) {
	b := w.run.barrier
	w.done, w.waited, w.lease = 0, 0, nil
	err = errGone // unless it comes to a return
	defer b.leave()
	defer func() {
		w.ended, w.stopped = time.Now(), w.run.stopped
		if err != nil {
			b.abort(err)
		}
	}()
	defer w.run.recoverFault(&err)
	if err := b.wait(); err != nil {
		return err
	}
	least := 1
	if w.run.driven {
		least = 0
	}
	more := func() bool { return !b.stop.Load() && (next() || w.done < least) }
	switch {
	case w.pipeline != nil:
		err = w.pipeline.ops(next)
	case w.latency != nil:
		err = w.timedOps(more)
	default:
		err = w.ops(more)
	}
	if err == nil {
		err = w.settle()
	}
	return err
}

// ops runs ops as long as more says.
func (w *Worker) ops(more func() bool) error {
	op := w.op
	for more() {
		if err := op(); err != nil {
			return err
		}
		w.done++
	}
	return nil
}

// timedOps is ops with the latency of each op recorded, without what it spent at the barrier.
func (w *Worker) timedOps(more func() bool) error {
	for more() {
		start, paused := time.Now(), w.paused
		if err := w.op(); err != nil {
			return err
		}
		w.done++
		if err := w.record(start, paused); err != nil {
			return err
		}
	}
	return nil
}

// record records the latency of an op that began at start, when w.paused was paused, and ends now.
func (w *Worker) record(start time.Time, paused time.Duration) error {
	took := int64(time.Since(start) - (w.paused - paused))
	return w.latency.RecordValue(min(took, w.latency.HighestTrackableValue()))
}

// Reader is what the strategy made for this worker, to read the first file: for ops that do more with it than Read. Nobody
// else uses it.
func (w *Worker) Reader() Reader { return w.reader }

// ReadOp returns an op that draws the row's Batch ranges of MaxRange bytes and reads them: in one go, unless only
// some can be drawn at a time. In a row of EffectNone it only draws.
func (w *Worker) ReadOp() func() error {
	row := &w.run.row
	ranges := make([]Range, row.Batch)
	for i := range ranges {
		ranges[i].N = row.MaxRange
	}
	read := w.Read
	if row.Effect == EffectNone {
		read = func([]Range) error { return nil }
	}
	return func() error {
		for rest := ranges; len(rest) > 0; {
			n, err := w.Draw(rest)
			if err != nil {
				return err
			}
			if err := read(rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	}
}

// Draw sets where the next reads start, Off of each range, in the order that row and case prescribe; N stays. It sets
// at least the first range of rs and says how many: not all where an epoch or a stripe ends, or where read-ahead makes
// epochs so short that the workers would not get equal shares. At the end of an epoch it waits for the other workers,
// with the timer stopped. An error means that the run is over; the op returns it.
func (w *Worker) Draw(rs []Range) (n int, err error) { return w.draw.draw(rs) }

// catchUp tells the reader if the file was evicted since it was last told, and says whether it was.
func (w *Worker) catchUp() bool {
	if w.epoch == w.run.epoch {
		return false
	}
	w.epoch = w.run.epoch
	for _, a := range w.all {
		if a.forget != nil {
			a.forget.Forget()
		}
	}
	return true
}

// pause meets the other workers at the barrier, in the middle of an op. Nothing is under way then.
func (w *Worker) pause() error {
	if err := w.settle(); err != nil {
		return err
	}
	start, stopped := time.Now(), w.run.stopped // no turn runs while this worker has not arrived
	err := w.run.barrier.wait()
	took := time.Since(start)
	w.paused += took
	w.waited += took - (w.run.stopped - stopped)
	return err
}

// Read hints the ranges, if the strategy does that, then reads and checks each. rs must not change until it returns.
func (w *Worker) Read(rs []Range) error {
	if w.prefetch != nil {
		if err := w.prefetch.Prefetch(rs); err != nil {
			return err
		}
	}
	if w.batch != nil {
		return w.readBatch(rs)
	}
	for _, r := range rs {
		p, err := w.reader.Read(r)
		if err != nil {
			return err
		}
		if !w.check.ok(p, r) {
			return w.wrong(p, r)
		}
	}
	return nil
}

func (w *Worker) readBatch(rs []Range) error {
	w.expect(rs)
	if err := w.batch.ReadBatch(rs, w.each); err != nil {
		return err
	}
	return w.delivered()
}

// expect makes rs the batch that deliver takes.
func (w *Worker) expect(rs []Range) {
	w.ranges = rs
	clear(w.seen[:len(rs)])
}

// delivered returns an error if deliver did not see all of the batch.
func (w *Worker) delivered() error {
	for i, ok := range w.seen[:len(w.ranges)] {
		if !ok {
			return fmt.Errorf("%s: a batch of %d reads ended without error, but read %d was never delivered", w.run.row.Strategy.Name(), len(w.ranges), i)
		}
	}
	return nil
}

// mark notes that one read of a batch was delivered.
func (w *Worker) mark(i int) error {
	if i < 0 || i >= len(w.ranges) || w.seen[i] {
		return fmt.Errorf("%s: read %d of a batch of %d was delivered twice or was never asked for", w.run.row.Strategy.Name(), i, len(w.ranges))
	}
	w.seen[i] = true
	return nil
}

// deliver takes one read of a batch.
func (w *Worker) deliver(i int, p []byte) error {
	if err := w.mark(i); err != nil {
		return err
	}
	if !w.check.ok(p, w.ranges[i]) {
		return w.wrong(p, w.ranges[i])
	}
	return nil
}

// wrong says what is wrong with a read that failed its check.
func (w *Worker) wrong(p []byte, r Range) error {
	err := w.run.files[0].Check(p, r)
	if err == nil {
		err = errors.New("the check failed, but the bytes are right now: they changed while they were read")
	}
	return fmt.Errorf("%s: %w", w.run.row.Strategy.Name(), err)
}
