package readbench

import (
	"time"

	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/strategy"
)

// A pipeline runs the ops of a worker whose reader is a Pipeliner. It draws in the order in which ops without it would,
// and as much. A batch is what one draw gave: an op, or the part of it before the end of an epoch or stripe. Batches
// under way are finished before the worker waits for others: each is read in the epoch in which it was drawn.
type pipeline struct {
	w           *Worker
	reader      strategy.Pipeliner
	batches     [strategy.Pipelined]pipedBatch
	first, next uint // batches first … next−1 are under way; number k is batches[k % strategy.Pipelined]

	begun  int           // ops of the present call
	rest   int           // ranges of the op begun last that were not drawn
	start  time.Time     // when that op began; set if latencies are recorded
	paused time.Duration // Worker.paused then
}

type pipedBatch struct {
	all    []strategy.Range // room for an op's
	ranges []strategy.Range // of all, those that are being read
	ends   bool             // the op ends with this batch
	start  time.Time
	paused time.Duration
}

// newPipeline returns nil unless the worker's ops can be pipelined.
func newPipeline(w *Worker) *pipeline {
	row := w.crew.Shape
	reader, ok := w.reader.(strategy.Pipeliner)
	if !ok || row.Effect != shape.Read || row.Predrawn {
		return nil
	}
	p := &pipeline{w: w, reader: reader}
	for i := range p.batches {
		p.batches[i].all = make([]strategy.Range, row.Batch)
		for k := range p.batches[i].all {
			p.batches[i].all[k].N = row.MaxRange
		}
	}
	return p
}

// ops runs ops as long as next says, and at least one. How many there are is known one op ahead, so that none is begun
// that does not count.
func (p *pipeline) ops(next func() bool) error {
	err := p.run(next)
	if err != nil {
		p.abandon()
	}
	return err
}

func (p *pipeline) run(next func() bool) error {
	p.begun, p.rest = 0, 0
	stop := &p.w.crew.barrier.stop
	more := func() bool { return p.rest > 0 || !stop.Load() && (next() || p.begun == 0) }
	for {
		for p.next-p.first < strategy.Pipelined && more() {
			if err := p.startBatch(); err != nil {
				return err
			}
		}
		if p.first == p.next {
			return nil
		}
		if err := p.finish(); err != nil {
			return err
		}
	}
}

// startBatch draws the next batch and starts it.
func (p *pipeline) startBatch() error {
	w := p.w
	opens := p.rest == 0
	b := &p.batches[p.next%strategy.Pipelined]
	if opens {
		p.begun++
		p.rest = len(b.all)
		p.clock()
	}
	paused := w.paused
	n, err := w.Draw(b.all[:p.rest]) // which finishes what is under way before it waits
	if err != nil {
		return err
	}
	if opens && w.paused != paused {
		p.clock() // until now it had drawn nothing
	}
	p.rest -= n
	b.ranges, b.ends, b.start, b.paused = b.all[:n], p.rest == 0, p.start, p.paused
	if err := p.reader.Start(b.ranges); err != nil {
		return err
	}
	p.next++
	return nil
}

// clock notes when an op begins.
func (p *pipeline) clock() {
	if p.w.latency != nil {
		p.start, p.paused = time.Now(), p.w.paused
	}
}

// finish finishes the batch that was started first, and with it perhaps its op. An op's latency counts from its own
// beginning, when the one before it was still under way.
func (p *pipeline) finish() error {
	w := p.w
	b := &p.batches[p.first%strategy.Pipelined]
	p.first++
	w.expect(b.ranges)
	if err := p.reader.Finish(w.each); err != nil {
		return err
	}
	if err := w.delivered(); err != nil || !b.ends {
		return err
	}
	w.done++
	if w.latency == nil {
		return nil
	}
	return w.record(b.start, b.paused)
}

// settle finishes what is under way.
func (p *pipeline) settle() error {
	for p.first != p.next {
		if err := p.finish(); err != nil {
			return err
		}
	}
	return nil
}

// abandon waits for what is under way after an error, whose cause is known and told; a reader that failed says so again.
func (p *pipeline) abandon() {
	for ; p.first != p.next; p.first++ {
		if p.reader.Finish(func(int, []byte) error { return nil }) != nil {
			p.first = p.next
			return
		}
	}
}
