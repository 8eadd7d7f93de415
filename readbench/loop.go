package readbench

import (
	"errors"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// A loop runs a worker's ops on a thread of its own, from the first call of a row to the last.
type loop struct {
	*Worker
	thread
	op       func() error
	pipeline *pipeline // nil if each op ends before the next begins

	// of the present call
	before  time.Duration // Worker.paused when the call began
	ended   time.Time     // when this worker had no more ops
	stopped time.Duration // crew.stopped at that time
}

// newLoop makes a worker, whose readers open makes.
func newLoop(c *crew, id int) *loop {
	w := &Worker{ID: id, crew: c, check: c.Files[0].Checker(c.Config.Verify), page: int64(c.Files[0].PageSize())}
	w.rng.Seed(c.Config.Seed, uint64(id))
	w.each, w.fetched, w.settle = w.deliver, w.fetch, w.settleReaders
	return &loop{Worker: w, thread: newThread(recoverFault(c.strategy, c.Files))}
}

// open makes the readers, and the op, by newOp if that is not nil; it runs on the worker's goroutine.
func (l *loop) open(newOp func(*Worker) (func() error, error)) (err error) {
	c := l.crew
	for _, o := range c.Opened {
		reader, err := o.Reader(l.ID)
		if err != nil {
			return err
		}
		l.all = append(l.all, newAccess(reader))
	}
	l.access = l.all[0]
	l.draw = c.state.Drawer(l.ID, &l.rng, gate{l.Worker})
	l.seen = make([]bool, c.Shape.ReaderBatch())
	l.drawn = make([]strategy.Range, c.Shape.Batch)
	if c.Config.Metrics == config.MetricsAll && !c.Shape.Predrawn {
		const longest, digits = int64(time.Hour), 3
		l.latency = hdrhistogram.New(1, longest, digits)
	}
	if newOp != nil {
		l.op, err = newOp(l.Worker)
		return err
	}
	l.op = l.ReadOp()
	if l.pipeline = newPipeline(l.Worker); l.pipeline != nil {
		l.settle = l.pipeline.settle
	}
	return nil
}

// close ends the worker.
func (l *loop) close() error {
	err := l.do(l.closeReaders)
	if errors.Is(err, errGone) { // what they hold is not the goroutine's alone
		err = errors.Join(err, l.closeReaders())
	}
	l.end()
	return err
}

func (l *loop) closeReaders() (err error) {
	for _, a := range l.all {
		if c, ok := a.reader.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// work runs ops from one start of the timer to the end of a call: as long as next says, and at least one, so
// that each of a row's threads does work however small b.N is. It runs on the worker's goroutine.
func (l *loop) work(next func() bool) (err error) {
	b := l.crew.barrier
	l.done, l.waited, l.lease = 0, 0, nil
	err = errGone // unless it comes to a return
	defer b.leave()
	defer func() {
		l.ended, l.stopped = time.Now(), l.crew.stopped
		if err != nil {
			b.abort(err)
		}
	}()
	defer l.onFault(&err)
	if err := b.wait(); err != nil {
		return err
	}
	l.before = l.paused
	least := 1
	if l.crew.driven {
		least = 0
	}
	more := func() bool { return !b.stop.Load() && (next() || l.done < least) }
	switch {
	case l.pipeline != nil:
		err = l.pipeline.ops(next)
	case l.latency != nil:
		err = l.timedOps(more)
	default:
		err = l.ops(more)
	}
	if err == nil {
		err = l.settle()
	}
	return err
}

// worked is for how long the worker has worked in the present call, up to now. Waiting for other workers is left out, waiting for a processor is
// not: with more threads than processors, the rates of all add up to what the machine does.
func (l *loop) worked(now time.Time) time.Duration {
	return now.Sub(l.crew.began) - (l.paused - l.before)
}

// ops runs ops as long as more says.
func (l *loop) ops(more func() bool) error {
	w, op := l.Worker, l.op
	for more() {
		if err := op(); err != nil {
			return err
		}
		w.done++
	}
	return nil
}

// timedOps is ops with the latency of each op recorded, without what it spent at the barrier.
func (l *loop) timedOps(more func() bool) error {
	w := l.Worker
	for more() {
		start, paused := time.Now(), w.paused
		if err := l.op(); err != nil {
			return err
		}
		w.done++
		if err := w.record(start, paused); err != nil {
			return err
		}
	}
	return nil
}
