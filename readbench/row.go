package readbench

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// A Row is one line of a result: a strategy in a case with a number of threads, and what one op does.
type Row struct {
	Strategy strategy.Strategy
	Case     string   // one of READBENCH_CASES
	Threads  int      // workers
	Labels   []string // further key=value parts of the row's name, between case and threads

	Order    strategy.Order
	Batch    int  // ranges that one op draws
	MaxRange int  // bytes of each
	Predrawn bool // ranges are drawn outside the timer, and the op takes them with Worker.Take: for ops so short that drawing would show
	PerRange bool // what is reported per op is per range, for ops that hand the kernel several ranges in one call

	// Units, if above 0, is how many things of the workload's own the files hold, such as records: an op draws numbers of
	// them (Worker.DrawUnits), Batch of them, and reads what belongs to them with Worker.Fetch. See units.go.
	Units     int64
	MaxRanges int   // ranges of one call of Fetch or Prefetch at the most; 0: Batch
	Skewed    bool  // the op does not read all units alike: residency does not tell how much of what it reads is missing
	Extra     Extra // metrics of the workload's own, or nil
	Depth     int   // reads that a worker has in flight at the most, unless READBENCH_DEPTH says it; 0: 16
	Procs     int   // GOMAXPROCS while measuring, unless READBENCH_PROCS is inherit; 0: Threads
	// Drive, if not nil, runs ops in periods of its own instead of the b.N that the testing package asks for, which is n.
	Drive func(n int, s *Session) error

	Effect Effect
	// Op makes a worker's op. It is called once a row, outside the timer, on the worker's goroutine. The op runs many
	// times, must not allocate, and returns the errors of Draw, Take and Read. Without it an op is Worker.ReadOp.
	Op func(w *Worker) (func() error, error)
}

// Effect is what an op does to the ranges that it draws: by what the evidence of its row is judged.
type Effect = shape.Effect

// The effects.
const (
	EffectRead  = shape.Read  // they are delivered, through Worker.Read
	EffectHint  = shape.Hint  // the kernel reads them into the page cache; nothing is delivered
	EffectProbe = shape.Probe // it is looked whether they are resident, which the readers count (Counts.Probed): all are Counters
	EffectFault = shape.Fault // each is one page fault
	EffectNone  = shape.None  // nothing happens: the row measures the harness
)

// Extra are metrics of a workload's own. No op is under way when its methods are called.
type Extra interface {
	// Reset is called before each measured call of a row; what was counted before does not count.
	Reset()
	// Report is called after it, with what the core measured. It calls report for each metric. An error fails the row: what
	// the ops could not check while they ran is checked here.
	Report(ops int, elapsed time.Duration, report func(value float64, unit string)) error
}

// shape is the part of the row that cases, drawing and results know.
func (r *Row) shape() (*shape.Shape, error) {
	s := &shape.Shape{
		Threads: r.Threads, Order: r.Order, Effect: r.Effect, Batch: r.Batch, MaxRange: r.MaxRange, MaxRanges: r.MaxRanges,
		Units: r.Units, Predrawn: r.Predrawn, PerRange: r.PerRange, Skewed: r.Skewed, Driven: r.Drive != nil,
	}
	return s, s.Check(r.Op != nil)
}

// trap is a value that parsers of benchmark names take for the number of processors.
var trap = regexp.MustCompile(`-[0-9]+$`)

// name is the row's name below its Benchmark function.
func (r *Row) name(procs config.Procs) (string, error) {
	labels := append([]string{"case=" + r.Case}, r.Labels...)
	if l, ok := r.Strategy.(strategy.Labeler); ok {
		labels = append(labels, l.Labels()...)
	}
	if procs != config.ProcsThreads {
		labels = append(labels, "procs="+string(procs))
	}
	labels = append(labels, fmt.Sprintf("threads=%d", r.Threads))
	for _, label := range labels {
		key, value, ok := strings.Cut(label, "=")
		if !ok || key == "" || value == "" || strings.ContainsAny(label, "/ \t\n") || trap.MatchString(label) {
			return "", fmt.Errorf("a label has the form key=value, without '/', white space or a '-NUMBER' at the end, this is %q", label)
		}
	}
	return strings.Join(labels, "/"), strategy.CheckName(r.Strategy.Name())
}

// depth is how many reads a worker has in flight at the most.
func (r *Row) depth(c *config.Config) int {
	const usual = 16
	return cmp.Or(c.Depth, r.Depth, usual)
}
