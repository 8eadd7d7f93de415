//go:build !linux

package openloop

import "time"

// A pacer waits for points in time. This one uses Go's timers, which may be a millisecond late: its lateness tells.
type pacer struct{}

func newPacer() (p *pacer, done func()) { return &pacer{}, func() {} }

func (p *pacer) until(t time.Time) (late time.Duration) {
	time.Sleep(time.Until(t))
	return max(0, time.Since(t))
}
