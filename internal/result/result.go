// Package result says what one call of a row showed: the counts and counters that its evidence is judged by, and the metrics
// that are reported of it. It knows the shape of a row, not the case that judges nor the runner that measured.
package result

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/readbench/suite/internal/evidence"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/pressure"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/strategy"
)

// A Result is what one call of a row showed.
type Result struct {
	Shape      *shape.Shape
	Strategy   string // its name
	Direct     bool   // reads bypass the page cache
	Mapped     bool   // the strategy maps the file
	Disk       bool   // whether the counters tell of the device
	Page       int    // bytes
	FileSize   int64  // bytes, of all files
	ListLength int64  // ranges of a list

	Ops           int
	Elapsed       time.Duration
	Counters      evidence.Counters
	Intervals     int             // that the counters are over
	Lookups       int             // read system calls that reading the counters made
	Stalls        pressure.Totals // of the whole machine, with METRICS=all
	Counts        strategy.Counts
	Counted       bool // whether all readers count
	Before, After pagecache.Residency
	Tally         Tally                   // in rows of units
	Idle          time.Duration           // of all workers, waiting for each other with the timer running
	Latency       *hdrhistogram.Histogram // nil unless READBENCH_METRICS=all
	Findings
}

// Findings are what a case found out when it judged a result.
type Findings struct {
	Mixed      bool    // whether ColdReads is known
	ColdReads  float64 // mixed: share of reads that met cold pages
	GroupFile  float64 // pressure: page cache of the memory-limited group, as a share of what it was made for
	EpochShare float64 // cold: largest resident share at the end of an epoch
	Ahead      uint64  // cold scans: bytes before the cursors that were resident at the end
}

// A Tally is what ops read and hinted, in rows of units.
type Tally struct {
	Ranges, Bytes, Pages uint64 // read; pages that the ranges touch
	Hinted               uint64 // ranges
}

// Add adds d to t.
func (t *Tally) Add(d Tally) {
	t.Ranges += d.Ranges
	t.Bytes += d.Bytes
	t.Pages += d.Pages
	t.Hinted += d.Hinted
}

// Ranges is how many ranges the ops had.
func (res *Result) Ranges() int64 {
	if res.Shape.Units > 0 {
		return int64(res.Tally.Ranges)
	}
	return int64(res.Ops) * int64(res.Shape.Batch)
}

// Bytes is how many bytes these had.
func (res *Result) Bytes() int64 {
	if res.Shape.Units > 0 {
		return int64(res.Tally.Bytes)
	}
	return res.Ranges() * int64(res.Shape.MaxRange)
}

// Hints is how many hints the readers say they gave, as far as their calls are of kinds known here.
func (res *Result) Hints() (n uint64) {
	for _, kind := range []string{"madvise", "process_madvise", "fadvise"} {
		n += res.Counts.Calls[kind]
	}
	return n
}

// perUnits is what metrics are per.
func (res *Result) perUnits() float64 {
	if res.Shape.PerRange {
		return float64(res.Ranges())
	}
	return float64(res.Ops)
}

// Touched is how many bytes the pages have that were touched: on average if each range starts anywhere in a page;
// side by side, their pages are touched once.
func (res *Result) Touched() float64 {
	switch {
	case res.Shape.Units > 0:
		return float64(res.Tally.Pages) * float64(res.Page)
	case res.Shape.Effect == shape.Fault:
		return float64(res.Ranges()) * float64(res.Page)
	case res.Shape.Order == strategy.OrderSequential:
		return float64(res.Bytes())
	}
	return float64(res.Bytes()) + float64(res.Ranges())*float64(res.Page-1)
}

// ColdShare is the share of what was asked for that was not resident: of the ranges that were probed, or else of the
// pages, as what the device delivered tells. What it delivered beyond them warmed later ones: evenly spread, and half
// of it on average when one is asked for.
func (res *Result) ColdShare() float64 {
	if res.Counts.Probed > 0 {
		return float64(res.Counts.Missed) / float64(res.Counts.Probed)
	}
	delivered, touched := float64(res.Counters.DeviceBytes), res.Touched()
	perRange := max(0, delivered-touched) / float64(res.Ranges())
	spoilt := perRange * float64(min(res.Ranges(), res.ListLength)) / float64(res.FileSize)
	return min(1, delivered/touched) - spoilt/2
}

// JudgeProbes returns an error unless each range of a row of probes was probed, as the readers count it.
func (res *Result) JudgeProbes() error {
	if res.Shape.Effect == shape.Probe && !res.Counted {
		return fmt.Errorf("%s: its readers are no Counters, and only they can tell what a row of probes met (Counts.Probed)", res.Strategy)
	}
	if probed := int64(res.Counts.Probed); res.Shape.Effect == shape.Probe && probed != res.Ranges() {
		return fmt.Errorf("%s counts %d probes of %d ranges", res.Strategy, probed, res.Ranges())
	}
	return nil
}

// AddLatency merges a worker's latencies.
func (res *Result) AddLatency(h *hdrhistogram.Histogram) {
	if h == nil {
		return
	}
	if res.Latency == nil {
		res.Latency = hdrhistogram.New(h.LowestTrackableValue(), h.HighestTrackableValue(), int(h.SignificantFigures()))
	}
	res.Latency.Merge(h)
}

// JudgeSyscalls compares the read system calls that the strategy says it made with those that the kernel counted.
func (res *Result) JudgeSyscalls() error {
	if res.Shape.Effect == shape.None || !res.Counted {
		return nil
	}
	said, counted := int(res.Counts.ReadSyscalls), int(res.Counters.ReadSyscalls)-res.Lookups
	strange := evidence.StrangeSyscalls * res.Intervals
	if res.Shape.Driven {
		// Go's scheduler wakes a thread that polls by an event that this thread then reads: for goroutines that wait for ops and
		// for points in time. Against the reads that a query has it is little.
		strange += int(res.Ranges() / 100)
	}
	if counted > said+strange || counted < said {
		return fmt.Errorf("%s says that it made %d read system calls, the kernel counted %d for this process: it reads by another way than it says",
			res.Strategy, said, counted)
	}
	return nil
}
