package readbench

import (
	"fmt"
	"math/rand/v2"

	"github.com/readbench/suite/readbench/strategy"
)

// Rows of units: what an op draws are not places in a file but numbers of things that the workload knows to find, such as
// records or queries. The case decides how they are drawn: in hot and pressureN with replacement, in cold each once between
// two evictions of the files, of which one comes before a tenth of their bytes was delivered. What an op reads it reads
// with Fetch, which counts what the evidence is judged by, and checks itself: the core does not know the content.

// DrawUnits sets units to numbers from 0 to below the row's Units. It sets at least the first and says how many: not all
// where an epoch ends, or where epochs are so short that the workers would not get equal shares. At the end of an epoch it
// waits for the other workers, with the timer stopped. An error means that the run is over; the op returns it.
func (w *Worker) DrawUnits(units []int64) (n int, err error) {
	if len(units) > len(w.drawn) {
		units = units[:len(w.drawn)]
	}
	n, err = w.draw.Draw(w.drawn[:len(units)])
	for i, r := range w.drawn[:n] {
		units[i] = r.Off
	}
	return n, err
}

// Rand is the worker's source of random numbers, which its draws use too: seeded from READBENCH_SEED and the worker's ID.
func (w *Worker) Rand() *rand.PCG { return &w.rng }

// Prefetch hints ranges of a file of the suite, by its number, as the strategy does that; nothing happens if it does not.
func (w *Worker) Prefetch(file int, rs []strategy.Range) error {
	if w.prefetch == nil {
		return nil
	}
	w.tally.Hinted += uint64(len(rs))
	return w.all[file].prefetch.Prefetch(rs)
}

// Fetch reads ranges of a file of the suite, by its number: all in one go if the strategy can, else one after the other. It
// calls each exactly once for every index of rs, in any order; p is valid until each returns. It does not hint. rs must not
// change until it returns.
func (w *Worker) Fetch(file int, rs []strategy.Range, each func(i int, p []byte) error) error {
	a := &w.all[file]
	page := w.page
	for _, r := range rs {
		w.tally.Bytes += uint64(r.N)
		w.tally.Pages += uint64((r.Off+int64(r.N)-1)/page - r.Off/page + 1)
	}
	w.tally.Ranges += uint64(len(rs))
	if a.batch != nil {
		return w.fetchBatch(a.batch, rs, each)
	}
	for i, r := range rs {
		p, err := a.reader.Read(r)
		if err != nil {
			return err
		}
		if len(p) != r.N {
			return w.wrongLength(p, r)
		}
		if err := each(i, p); err != nil {
			return err
		}
	}
	return nil
}

func (w *Worker) fetchBatch(b strategy.BatchReader, rs []strategy.Range, each func(i int, p []byte) error) error {
	if len(rs) > len(w.seen) {
		return fmt.Errorf("a batch of %d ranges in a row of %d at the most (Row.MaxRanges)", len(rs), len(w.seen))
	}
	w.expect(rs)
	w.fetching = each
	if err := b.ReadBatch(rs, w.fetched); err != nil {
		return err
	}
	return w.delivered()
}

// fetch takes one read of a batch of Fetch.
func (w *Worker) fetch(i int, p []byte) error {
	if err := w.mark(i); err != nil {
		return err
	}
	if len(p) != w.ranges[i].N {
		return w.wrongLength(p, w.ranges[i])
	}
	return w.fetching(i, p)
}

func (w *Worker) wrongLength(p []byte, r strategy.Range) error {
	return fmt.Errorf("%s: a read of %d bytes at %d gave %d", w.crew.strategy, r.N, r.Off, len(p))
}
