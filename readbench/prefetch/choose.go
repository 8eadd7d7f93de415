package prefetch

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/readbench/suite/readbench/strategy"
)

const (
	tries      = 16 // of each call, in turns; the fastest counts, since what disturbs a measurement makes it longer
	tryBatches = 8  // batches of one try
	tryRanges  = 16 // ranges of a batch

	assumedRead = 100 * time.Microsecond // where the device cannot be asked
	directReads = 9
)

// A survey is what there is and what it costs, for one file and one number of workers.
type survey struct {
	probes, hints []measured
	read          time.Duration
	leftOut       []error
}

// surveys are those of this process, by surveyKey: measured once, so that all rows that read a file decide alike.
var surveys sync.Map

type surveyKey struct {
	file           any // which file it is
	workers, bytes int // that call at the same time, and of a range
}

// choose decides on a probe and a hint.
func (a *Advisor) choose() error {
	s, err := a.survey()
	if err != nil {
		return err
	}
	a.probes, a.hints, a.leftOut, a.target.Read = s.probes, s.hints, s.leftOut, s.read
	probe, err := a.pick("probe", string(a.c.Probe), a.probes)
	if _, probeless := a.c.Policy.(Probeless); err != nil && !(probeless && a.c.Probe == BestProbe) {
		return err
	}
	hint, err := a.pick("hint", string(a.c.Hint), a.hints)
	if err != nil {
		return err
	}
	a.c.Probe, a.c.Hint = ProbeKind(probe.kind), HintKind(hint.kind)
	a.target.Probe, a.target.Hint = probe.cost, hint.cost
	if a.c.Hint != ProcessMadvise {
		return a.Close()
	}
	return a.openPidfd()
}

// survey returns what was measured before, or measures.
func (a *Advisor) survey() (*survey, error) {
	key := surveyKey{a.k.identity(a.c.FD), min(a.c.Workers, a.target.Processors), a.c.Faults * a.c.PageSize}
	if s, ok := surveys.Load(key); ok && key.file != nil {
		return s.(*survey), nil
	}
	ranges, err := a.warm()
	if err != nil {
		return nil, err
	}
	var probes, hints []*candidate
	for _, kind := range probeKinds {
		probes = append(probes, a.probeCandidate(kind, ranges))
	}
	for _, kind := range hintKinds {
		hints = append(hints, a.hintCandidate(kind, ranges))
	}
	for range tries {
		for _, c := range slices.Concat(probes, hints) {
			c.try(a, key.workers)
		}
	}
	s := &survey{}
	s.probes, s.hints = s.take(a, probes), s.take(a, hints)
	if s.read, err = a.readTime(); err != nil {
		s.leftOut = append(s.leftOut, fmt.Errorf("prefetching on %s without knowing how long its device takes to read a page, %v is assumed: %w", a.c.Name, assumedRead, err))
		s.read = assumedRead
	}
	if key.file != nil {
		surveys.Store(key, s)
	}
	return s, nil
}

// take sorts candidates into what can be used and what is left out.
func (s *survey) take(a *Advisor, from []*candidate) (usable []measured) {
	for _, c := range from {
		if c.err != nil {
			s.leftOut = append(s.leftOut, fmt.Errorf("prefetching on %s without %s: %w", a.c.Name, c.kind, c.err))
			continue
		}
		usable = append(usable, c.measured)
	}
	return usable
}

// warm reads some ranges, spread over the file, into the page cache.
func (a *Advisor) warm() ([]strategy.Range, error) {
	size, page := a.target.Size, int64(a.c.PageSize)
	n := min(int64(a.c.Faults)*page, 64*page, size)
	buf := make([]byte, n)
	ranges := make([]strategy.Range, tryRanges)
	for i := range ranges {
		start := (size - n) * int64(i) / tryRanges &^ (page - 1)
		length := min(n, size-start)
		ranges[i] = strategy.Range{Off: start, N: int(length)}
		if err := a.k.read(a.c.FD, buf[:length], start); err != nil {
			return nil, fmt.Errorf("reading %d bytes at %d of %s, to measure prefetching: %w", length, start, a.c.Name, err)
		}
	}
	return ranges, nil
}

// A candidate is a call that is tried.
type candidate struct {
	measured
	batch func() func() error // makes what runs a batch on one goroutine
	err   error               // why it cannot be used
}

func (a *Advisor) probeCandidate(kind ProbeKind, ranges []strategy.Range) *candidate {
	c := &candidate{measured: measured{string(kind), math.MaxInt64}}
	if c.err = a.k.visible(a.c.FD); c.err == nil {
		c.err = a.truthful(kind, ranges)
	}
	c.batch = func() func() error {
		w := newWorker(a, nil, kind, Madvise)
		return func() error {
			for _, r := range ranges {
				if _, err := w.probe(r); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return c
}

// truthful returns an error if a probe says that what was read a moment ago is not resident. On overlayfs, for
// instance, cachestat looks at a file that never has pages. A page may have been reclaimed in that moment, but
// not time and again.
func (a *Advisor) truthful(kind ProbeKind, ranges []strategy.Range) error {
	w := newWorker(a, nil, kind, Madvise)
	r := ranges[0]
	buf := make([]byte, r.N)
	for range tries {
		if err := a.k.read(a.c.FD, buf, r.Off); err != nil {
			return err
		}
		if resident, err := w.probe(r); err != nil || resident {
			return err
		}
	}
	return errors.New("it says that pages are not resident which were read a moment ago; is the file on a stacked file system (overlayfs) or one without page cache (DAX)?")
}

func (a *Advisor) hintCandidate(kind HintKind, ranges []strategy.Range) *candidate {
	c := &candidate{measured: measured{string(kind), math.MaxInt64}}
	if kind == ProcessMadvise {
		c.err = a.openPidfd()
	}
	c.batch = func() func() error {
		w := newWorker(a, always{}, Mincore, kind)
		return func() error { return w.Prefetch(ranges) }
	}
	return c
}

// openPidfd opens the descriptor of this process that process_madvise wants, until Close.
func (a *Advisor) openPidfd() error {
	if a.pidfd >= 0 {
		return nil
	}
	fd, err := a.k.pidfdOpen()
	if err != nil {
		return fmt.Errorf("pidfd_open: %w", err)
	}
	a.pidfd = fd
	return nil
}

// try runs some batches on n goroutines at the same time. What half of them stay below is what a range takes: a
// few that were not running at the time neither wait for others nor make them wait.
func (c *candidate) try(a *Advisor, n int) {
	if c.err != nil {
		return
	}
	took, errs := make([]time.Duration, n), make([]error, n)
	ready, begin := make(chan struct{}, n), make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			run := c.batch()
			ready <- struct{}{}
			<-begin
			start := a.k.now()
			for range tryBatches {
				if errs[i] = run(); errs[i] != nil {
					return
				}
			}
			took[i] = a.k.now().Sub(start)
		})
	}
	for range n {
		<-ready
	}
	close(begin)
	wg.Wait()
	for _, err := range errs {
		if err != nil { // one of them says it
			c.err = err
			return
		}
	}
	slices.Sort(took)
	c.cost = min(c.cost, took[(n-1)/2]/(tryBatches*tryRanges))
}

// pick returns what was asked for, or the first that nothing after it is clearly cheaper than.
func (a *Advisor) pick(what, asked string, from []measured) (best measured, err error) {
	if asked != "" {
		from = slices.DeleteFunc(slices.Clone(from), func(m measured) bool { return m.kind != asked })
	}
	if len(from) == 0 {
		if asked == "" {
			asked = "any " + what
		}
		return best, a.without(asked)
	}
	best = from[0]
	for _, m := range from[1:] {
		if float64(m.cost) < clearly*float64(best.cost) {
			best = m
		}
	}
	return best, nil
}

// readTime is what a quarter of some reads of the device stay below: others may be using it now.
func (a *Advisor) readTime() (time.Duration, error) {
	took, err := a.directTimes()
	if err != nil {
		return 0, err
	}
	slices.Sort(took)
	return took[len(took)/4], nil
}

func (a *Advisor) directTimes() (took []time.Duration, err error) {
	page := int64(a.k.page)
	pages := a.target.Size / page
	if pages == 0 {
		return nil, errors.New("the file has less than a page")
	}
	read, done, err := a.k.direct(a.c.FD)
	if err != nil {
		return nil, fmt.Errorf("opening it for direct reads: %w", err)
	}
	defer func() { err = errors.Join(err, done()) }()
	for i := range int64(directReads) {
		start := a.k.now()
		if err := read((2*i + 1) * pages / (2 * directReads) * page); err != nil {
			return nil, fmt.Errorf("a direct read: %w", err)
		}
		took = append(took, a.k.now().Sub(start))
	}
	return took, nil
}

// without says in one sentence that what was asked for cannot be used here, and why.
func (a *Advisor) without(asked string) error {
	err := fmt.Errorf("prefetching on %s: %s cannot be used here", a.c.Name, asked)
	for i, why := range a.leftOut {
		between := "; "
		if i == 0 {
			between = ": "
		}
		err = fmt.Errorf("%w%s%w", err, between, why)
	}
	return strategy.Unsupported("%w", err)
}
