package readbench

import "time"

// A stopwatch is the part of testing.B that measures time.
type stopwatch interface {
	StartTimer()
	StopTimer()
}

type noWatch struct{}

func (noWatch) StartTimer() {}
func (noWatch) StopTimer()  {}

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
