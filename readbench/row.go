package readbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/notice"
)

// A Row is one line of a result: a strategy in a case with a number of threads, and what one op does.
type Row struct {
	Strategy Strategy
	Case     string   // one of READBENCH_CASES
	Threads  int      // workers
	Labels   []string // further key=value parts of the row's name, between case and threads

	Order    Order
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
type Effect int

// The effects.
const (
	EffectRead  Effect = iota // they are delivered, through Worker.Read
	EffectHint                // the kernel reads them into the page cache; nothing is delivered
	EffectProbe               // it is looked whether they are resident, which the readers count (Counts.Probed): all are Counters
	EffectFault               // each is one page fault
	EffectNone                // nothing happens: the row measures the harness
)

// check refuses rows that make no sense.
func (r *Row) check() error {
	switch {
	case r.Threads < 1 || r.Batch < 1 || r.MaxRange < 1:
		return fmt.Errorf("a row has at least one thread, and an op one range of one byte: not %d, %d and %d", r.Threads, r.Batch, r.MaxRange)
	case r.Predrawn && r.Order == OrderSequential:
		return errors.New("a Predrawn row is of random order")
	case r.Units > 0:
		return r.checkUnits()
	case r.Predrawn != (r.Effect == EffectHint || r.Effect == EffectProbe || r.Effect == EffectFault) && r.Effect != EffectNone:
		return errors.New("a row of hints, probes or faults is Predrawn, and one of reads is not")
	case r.Predrawn && r.Op == nil:
		return errors.New("a Predrawn row says what its Op is")
	}
	return nil
}

// batch is how many ranges a reader is asked for at a time, at the most.
func (r *Row) batch() int { return max(r.MaxRanges, r.Batch) }

// bytesPerOp is how many bytes the op's ranges have.
func (r *Row) bytesPerOp() int64 { return int64(r.Batch) * int64(r.MaxRange) }

// A Labeler is a Strategy with key=value parts of its own in the names of its rows, such as policy=always.
type Labeler interface {
	Labels() []string
}

// trap is a value that parsers of benchmark names take for the number of processors.
var trap = regexp.MustCompile(`-[0-9]+$`)

// name is the row's name below its Benchmark function.
func (r *Row) name(procs Procs) (string, error) {
	labels := append([]string{"case=" + r.Case}, r.Labels...)
	if l, ok := r.Strategy.(Labeler); ok {
		labels = append(labels, l.Labels()...)
	}
	if procs != ProcsThreads {
		labels = append(labels, "procs="+string(procs))
	}
	labels = append(labels, fmt.Sprintf("threads=%d", r.Threads))
	for _, label := range labels {
		key, value, ok := strings.Cut(label, "=")
		if !ok || key == "" || value == "" || strings.ContainsAny(label, "/ \t\n") || trap.MatchString(label) {
			return "", fmt.Errorf("a label has the form key=value, without '/', white space or a '-NUMBER' at the end, this is %q", label)
		}
	}
	return strings.Join(labels, "/"), checkName(r.Strategy.Name())
}

// depth is how many reads a worker has in flight at the most.
func (r *Row) depth(c *Config) int {
	const usual = 16
	return cmp.Or(c.Depth, r.Depth, usual)
}

// Run measures a row as a sub-benchmark of b. It skips what cannot run here, with the cause, and fails the row
// if a read went wrong or what was measured contradicts the row's name.
func (s *Suite) Run(b *testing.B, row Row) {
	name, err := row.name(s.config.Procs)
	if err := errors.Join(err, s.Setting("depth", strconv.Itoa(row.depth(s.config)))); err != nil {
		b.Fatal(err)
	}
	var r *running // opened by the first call; the testing package makes several
	b.Run(name, func(b *testing.B) {
		var err error
		first := r == nil
		if first {
			r, err = s.open(row)
		}
		if first && err == nil {
			compared.add(b.Name())
		}
		if err == nil {
			err = r.call(b)
		}
		if first && errors.Is(err, ErrUnsupported) { // a later call must not skip: the testing package would print a result
			skip(b, err)
		}
		if err != nil {
			b.Fatal(err)
		}
		notice.Hold() // from here on, half a result line may be on the output
	})
	notice.Release()
	if r != nil {
		if err := r.close(); err != nil {
			b.Error(err)
		}
	}
}

// open sets a row up: everything that happens once.
func (s *Suite) open(row Row) (r *running, err error) {
	ctx, cancel := s.setupContext()
	defer cancel()
	r = &running{suite: s, files: s.files, row: row, grain: row.Batch}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
			r = nil
		}
	}()
	if err := row.check(); err != nil {
		return r, err
	}
	if row.Units == 0 && len(s.files) > 1 {
		return r, fmt.Errorf("a row without Units reads one file, the suite has %d", len(s.files))
	}
	if err := r.openStrategy(ctx); err != nil {
		return r, err
	}
	if row.Predrawn {
		r.list = &list{lease: int64(row.Batch)}
	}
	for id := range row.Threads {
		w := newWorker(r, id)
		r.workers = append(r.workers, w)
		if err := w.do(w.open); err != nil {
			return r, err
		}
	}
	counts, err := r.counts()
	if err := errors.Join(err, s.declareUnits(counts)); err != nil {
		return r, err
	}
	if !r.counted && row.Effect != EffectNone {
		s.explain(row.Strategy.Name(), "its readers are no Counters: rows have no KIND/op, and that it reads and hints by the calls it is named for is not verified")
	}
	if err := r.state.prepare(ctx); err != nil {
		return r, s.config.deadline(ctx, err)
	}
	return r, r.warmUp(ctx)
}

func (s *Suite) setupContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), s.config.SetupTimeout)
}
