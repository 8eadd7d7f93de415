package rerank

import "github.com/readbench/suite/readbench/strategy"

// A Backend is a way of reading the vectors of a shortlist.
type Backend struct {
	Name     string // the value of the label backend=
	Strategy strategy.Strategy
	Procs    int // GOMAXPROCS to run with; 0: that of the row's threads
	readers  int // of a pool
}

// poolName is the backend that is tuned for each number of threads.
const poolName = "pool"
