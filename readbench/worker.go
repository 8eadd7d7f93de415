package readbench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/internal/draw"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/strategy"
)

// A Worker is one thread of a row: it draws ranges, as order and case of the row prescribe, and reads them by the row's strategy.
// Its methods are for the goroutine that runs its ops, and no other.
type Worker struct {
	_ cpu.CacheLinePad
	// ID is the worker's number, 0 ≤ ID < Threads.
	ID int

	rng    rand.PCG // seeded from READBENCH_SEED and ID; in here, so that two workers' do not share a cache line
	crew   *crew
	draw   draw.Drawer
	access                  // to the first file
	all    []access         // to each
	epoch  int64            // of the crew's evictions, when this worker last looked
	lease  []strategy.Range // what is left of its lease of a predrawn list
	check  files.Checker
	ranges []strategy.Range // of the batch under way
	seen   []bool           // which of them a BatchReader has delivered
	each   func(i int, p []byte) error
	settle func() error // leaves nothing under way

	// in rows of units
	page     int64            // bytes
	drawn    []strategy.Range // Off is a unit's number
	tally    result.Tally
	fetching func(i int, p []byte) error // of the Fetch under way
	fetched  func(i int, p []byte) error // calls it

	// of the present call
	done    int                     // ops
	paused  time.Duration           // spent at the barrier
	waited  time.Duration           // of that, with the timer running: for other workers
	latency *hdrhistogram.Histogram // nil unless READBENCH_METRICS=all
	_       cpu.CacheLinePad
}

// access is a worker's reader of a file, and what it can do.
type access struct {
	reader   strategy.Reader
	prefetch strategy.Prefetcher  // nil if the reader does not prefetch
	batch    strategy.BatchReader // nil if the reader reads one by one
	forget   strategy.Forgetter   // nil if the reader keeps nothing in mind
	settler  strategy.Settler     // nil if the reader leaves nothing under way
}

func newAccess(r strategy.Reader) access {
	a := access{reader: r}
	a.prefetch, _ = r.(strategy.Prefetcher)
	a.batch, _ = r.(strategy.BatchReader)
	a.forget, _ = r.(strategy.Forgetter)
	a.settler, _ = r.(strategy.Settler)
	return a
}

// Reader is what the strategy made for this worker, to read the first file: for ops that do more with it than Read. Nobody
// else uses it.
func (w *Worker) Reader() strategy.Reader { return w.reader }

// ReadOp returns an op that draws the row's Batch ranges of MaxRange bytes and reads them: in one go, unless only
// some can be drawn at a time. In a row of EffectNone it only draws.
func (w *Worker) ReadOp() func() error {
	row := w.crew.Shape
	ranges := make([]strategy.Range, row.Batch)
	for i := range ranges {
		ranges[i].N = row.MaxRange
	}
	read := w.Read
	if row.Effect == shape.None {
		read = func([]strategy.Range) error { return nil }
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
func (w *Worker) Draw(rs []strategy.Range) (n int, err error) { return w.draw.Draw(rs) }

// Take returns the Batch ranges of the next op of a predrawn row. They are valid until the next call, and not to be
// changed. When the list is used up it waits for the other workers, with the timer stopped. An error means that the
// run is over; the op returns it.
func (w *Worker) Take() ([]strategy.Range, error) {
	n := w.crew.Shape.Batch
	if len(w.lease) < n {
		return w.takeMore()
	}
	rs := w.lease[:n]
	w.lease = w.lease[n:]
	return rs, nil
}

func (w *Worker) takeMore() ([]strategy.Range, error) {
	l := w.crew.List
	if l == nil {
		return nil, errors.New("an op takes ranges in a row that is not Predrawn")
	}
	for {
		gate{w}.CatchUp()
		if w.lease = l.Take(); len(w.lease) > 0 {
			return w.Take()
		}
		if err := (gate{w}).Pause(); err != nil {
			return nil, err
		}
	}
}

// A gate is where a worker waits for the others in the middle of an op.
type gate struct{ w *Worker }

// Pause meets the other workers at the barrier. Nothing is under way then.
func (g gate) Pause() error {
	w := g.w
	if err := w.settle(); err != nil {
		return err
	}
	start, stopped := time.Now(), w.crew.stopped // no turn runs while this worker has not arrived
	err := w.crew.barrier.wait()
	took := time.Since(start)
	w.paused += took
	w.waited += took - (w.crew.stopped - stopped)
	return err
}

// CatchUp tells the readers if the file was evicted since they were last told.
func (g gate) CatchUp() {
	w := g.w
	if w.epoch == w.crew.Evictions.N() {
		return
	}
	w.epoch = w.crew.Evictions.N()
	for _, a := range w.all {
		if a.forget != nil {
			a.forget.Forget()
		}
	}
}

// settleReaders has readers that read ahead leave nothing under way.
func (w *Worker) settleReaders() error {
	var err error
	for _, a := range w.all {
		if a.settler != nil {
			err = errors.Join(err, a.settler.Settle())
		}
	}
	return err
}

// Read hints the ranges, if the strategy does that, then reads and checks each. rs must not change until it returns.
func (w *Worker) Read(rs []strategy.Range) error {
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
		if !w.check.OK(p, r) {
			return w.wrong(p, r)
		}
	}
	return nil
}

func (w *Worker) readBatch(rs []strategy.Range) error {
	w.expect(rs)
	if err := w.batch.ReadBatch(rs, w.each); err != nil {
		return err
	}
	return w.delivered()
}

// expect makes rs the batch that deliver takes.
func (w *Worker) expect(rs []strategy.Range) {
	w.ranges = rs
	clear(w.seen[:len(rs)])
}

// delivered returns an error if deliver did not see all of the batch.
func (w *Worker) delivered() error {
	for i, ok := range w.seen[:len(w.ranges)] {
		if !ok {
			return fmt.Errorf("%s: a batch of %d reads ended without error, but read %d was never delivered", w.crew.strategy, len(w.ranges), i)
		}
	}
	return nil
}

// mark notes that one read of a batch was delivered.
func (w *Worker) mark(i int) error {
	if i < 0 || i >= len(w.ranges) || w.seen[i] {
		return fmt.Errorf("%s: read %d of a batch of %d was delivered twice or was never asked for", w.crew.strategy, i, len(w.ranges))
	}
	w.seen[i] = true
	return nil
}

// deliver takes one read of a batch.
func (w *Worker) deliver(i int, p []byte) error {
	if err := w.mark(i); err != nil {
		return err
	}
	if !w.check.OK(p, w.ranges[i]) {
		return w.wrong(p, w.ranges[i])
	}
	return nil
}

// wrong says what is wrong with a read that failed its check.
func (w *Worker) wrong(p []byte, r strategy.Range) error {
	err := w.crew.Files[0].Check(p, r)
	if err == nil {
		err = errors.New("the check failed, but the bytes are right now: they changed while they were read")
	}
	return fmt.Errorf("%s: %w", w.crew.strategy, err)
}

// record records the latency of an op that began at start, when w.paused was paused, and ends now.
func (w *Worker) record(start time.Time, paused time.Duration) error {
	took := int64(time.Since(start) - (w.paused - paused))
	return w.latency.RecordValue(min(took, w.latency.HighestTrackableValue()))
}
