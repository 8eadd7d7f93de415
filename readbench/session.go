package readbench

import "time"

// A Session is a row that is set up, for a workload that decides itself when its workers work (Row.Drive): an open loop,
// where ops come when they come. It is used by one goroutine.
type Session struct {
	run   periods
	watch stopwatch // of the testing package
}

// periods is what a session is of.
type periods interface {
	period(watch *teeWatch, next func(worker int) bool, cancel func()) (Period, error)
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
	return s.run.period(&teeWatch{b: s.watch}, next, cancel)
}

// Try is Period outside of the time that the testing package measures: to find out what to measure.
func (s *Session) Try(next func(worker int) bool, cancel func()) (Period, error) {
	return s.run.period(&teeWatch{b: noWatch{}}, next, cancel)
}
