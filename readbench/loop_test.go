package readbench

import (
	"testing"
	"time"
)

// A worker's time begins with the call, however late it got a processor, so that rates of many workers on few processors do not add up to more than
// the machine does. What it waited for others is left out, but not what it waited in earlier calls.
func TestWorked(t *testing.T) {
	start := time.Now()
	l := &loop{Worker: &Worker{crew: &crew{began: start}, paused: 5 * time.Millisecond}, before: 2 * time.Millisecond}
	if got, want := l.worked(start.Add(10*time.Millisecond)), 7*time.Millisecond; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
