package readbench

import (
	"flag"
	"strconv"
	"sync"

	"github.com/readbench/suite/internal/notice"
)

// -count=N runs a row N times in a row, and only then the next one. What a shared disk or machine does meanwhile falls on one row
// and not on another, and N repetitions of it have a small p. That is said where people look: on standard error, and in a
// configuration line, which benchstat puts above its tables.

// repetitions is N of -count=N; 1 outside a test binary.
func repetitions() int {
	if f := flag.Lookup("test.count"); f != nil {
		if n, err := strconv.Atoi(f.Value.String()); err == nil {
			return n
		}
	}
	return 1
}

// orderLine is the configuration line of rows that are repeated one by one. It does not say how often, by which benchstat would
// split its tables.
var orderLine = [2]string{"order", "row by row (-count), so drift looks like a difference between rows; rounds do not have that (make bench)"}

// comparison notes which rows run, and warns if several are repeated one by one.
type comparison struct {
	mu     sync.Mutex
	first  string // name of the first row
	warned bool
}

// compared is that of this process. It is safe for concurrent use.
var compared comparison

// add notes that a row runs: the second one can be compared with the first.
func (c *comparison) add(row string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.first == "":
		c.first = row
	case c.first != row && !c.warned && repetitions() > 1:
		c.warned = true
		warnOfDrift()
	}
}

// tell warns again, at the end.
func (c *comparison) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.warned {
		warnOfDrift()
	}
}

func warnOfDrift() {
	notice.Printf("-count=%d runs each row %[1]d times in a row: what drifts meanwhile looks like a difference between rows, with a small p. To compare rows, run all of them once, "+
		"%[1]d times over: make bench, or a loop of go test -count=1", repetitions())
}
