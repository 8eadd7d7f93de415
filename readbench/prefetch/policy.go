// Package prefetch decides which ranges of a batch the kernel is asked about, or told to read, before they are
// read.
//
// A Policy decides, an Advisor carries the decisions out on a mapping, and MmapRandom is the strategy that
// reads with both. A policy of one's own is a few lines; see the package's example.
package prefetch

import (
	"fmt"
	"time"

	"github.com/readbench/suite/readbench/strategy"
)

// An Action is what is done about one range before it is read.
type Action int

const (
	// Skip asks nothing and tells nothing.
	Skip Action = iota
	// Probe asks the kernel whether the range is resident, and hints it if one page of it is not.
	Probe
	// Hint tells the kernel to read the range, without asking.
	Hint
)

func (a Action) String() string {
	switch a {
	case Skip:
		return "skip"
	case Probe:
		return "probe"
	case Hint:
		return "hint"
	}
	return fmt.Sprintf("Action(%d)", int(a))
}

// A Policy decides which ranges are probed and which are hinted. A Policy itself holds no state of a run; it is
// safe for concurrent use.
type Policy interface {
	// Name is what stands behind "policy=" in the names of rows. It has no '/', no white space, and does not end in
	// '-' and digits.
	Name() string
	// Open makes the policy's part that all workers of one opened file share, and returns what makes the part
	// of one worker (0 ≤ id < Target.Workers). Both are called outside the timer. If the decider is nil, that
	// worker never probes and never hints, at no cost.
	Open(t Target) (worker func(id int) Decider)
}

// A Target is the opened file that a policy decides about, and what things cost there. An Advisor measures the
// costs when it is made (see Advisor.Target); a policy that needs none of them ignores them.
type Target struct {
	Size       int64 // bytes of the file
	PageSize   int   // bytes; a power of two
	Workers    int   // how many use it at the same time
	Processors int   // that they share, at least 1
	Faults     int   // page faults at the most that reading one range takes if it is cold and was not hinted, at least 1

	Probe time.Duration // one probe of a resident range, as many at a time as there are workers and processors
	Hint  time.Duration // one hint of a resident range, in the same way
	Read  time.Duration // one page from the device
}

// A Decider is a policy's part of one worker. It is used by one goroutine, and must not allocate. What it
// shares with those of other workers it must guard itself.
//
// It may also implement Skipper and strategy.Forgetter; each is looked up once.
type Decider interface {
	// Decide says what to do about r, the next range in the order of reading. r is rounded out to whole pages, and
	// cut at the end of the file.
	Decide(r strategy.Range) Action
	// Learn tells what the probe of r said, after Decide returned Probe for it and before any other range is
	// decided about. resident is true if all pages of r are in the page cache; if not, r is hinted.
	Learn(r strategy.Range, resident bool)
}

// A Skipper is a Decider that can skip several ranges in one call, which costs less than to decide about each.
type Skipper interface {
	// Skip returns how many of the next ranges, rs[0] first, are to be skipped: 0…len(rs). They count as
	// decided about. If some are left, Decide is called for the first of them. rs has at least one range, as
	// they are read: not rounded out to pages. It is the caller's and must not be kept.
	Skip(rs []strategy.Range) int
}

// A Probeless is a Policy that never returns Probe: it works where the kernel does not tell residency.
type Probeless interface {
	Policy
	// Probeless does nothing; that it is there says it.
	Probeless()
}
