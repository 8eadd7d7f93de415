package readbench

import (
	"errors"
	"sync"
	"testing"
	"time"
)

// A Session is a row that is set up, for a workload that decides itself when its workers work (Row.Drive): an open loop,
// where ops come when they come. It is used by one goroutine.
type Session struct {
	run  *running
	b    *testing.B
	last *result // of the last period
}

// drive is one call of a row that is driven.
func (r *running) drive(b *testing.B) error {
	b.ResetTimer()
	s := &Session{run: r, b: b}
	if err := r.row.Drive(b.N, s); err != nil {
		return err
	}
	if s.last == nil {
		return errors.New("Row.Drive ran no period: there is nothing to report")
	}
	return r.report(b, s.last)
}

// A Period is what the workers did in one call of Session.Period.
type Period struct {
	Ops     int
	Elapsed time.Duration
}

// Period brings the files into the state of the row's case, outside the timer, then has each worker run its op as long as
// next says, with the evidence of any row, and judges that. next is called on each worker's goroutine and may block.
// cancel is called, at most once, when a worker has failed: next must return false soon, to all. In the warm-up, and until
// residency is steady, ops run without Period: they have to do without what next gives them.
func (s *Session) Period(next func(worker int) bool, cancel func()) (Period, error) {
	return s.period(&teeWatch{b: s.b}, next, cancel)
}

// Try is Period outside of the time that the testing package measures: to find out what to measure.
func (s *Session) Try(next func(worker int) bool, cancel func()) (Period, error) {
	return s.period(&teeWatch{b: noWatch{}}, next, cancel)
}

func (s *Session) period(watch *teeWatch, next func(worker int) bool, cancel func()) (Period, error) {
	r := s.run
	if err := r.begin(); err != nil {
		return Period{}, err
	}
	r.driven = true
	ops, err := r.perform(r.row.Threads, watch, func(work func(int, func() bool) bool) {
		var wg sync.WaitGroup
		var failed sync.Once
		for id := range r.row.Threads {
			wg.Go(func() {
				if !work(id, func() bool { return next(id) }) {
					failed.Do(cancel)
				}
			})
		}
		wg.Wait()
	})
	r.driven = false
	if err != nil {
		return Period{}, err
	}
	s.last, err = r.finish(ops, watch.elapsed)
	if err == nil {
		err = r.judge(s.last)
	}
	return Period{ops, watch.elapsed}, err
}

// teeWatch measures a period, and has the testing package measure all of them.
type teeWatch struct {
	b       stopwatch
	elapsed time.Duration
	started time.Time
}

func (t *teeWatch) StartTimer() {
	t.b.StartTimer()
	t.started = time.Now()
}

func (t *teeWatch) StopTimer() {
	t.elapsed += time.Since(t.started)
	t.b.StopTimer()
}
