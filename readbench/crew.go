package readbench

import (
	"time"

	"github.com/readbench/suite/internal/cases"
)

// A crew is what the workers of a row share. It is written while none of them is at work.
type crew struct {
	cases.Site
	strategy string      // its name
	state    cases.State // of the row's case

	// of the present call
	barrier *barrier
	began   time.Time     // when the timer was first started, and all workers let go
	stopped time.Duration // at the barrier, with the timer stopped
	driven  bool          // whether Session.Period says how many ops there are, be it none
}
