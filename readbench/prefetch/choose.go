package prefetch

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/readbench/suite/readbench"
)

const (
	tries      = 5   // of which the fastest counts: what disturbs a measurement makes it longer
	tryBatches = 8   // batches of one try
	tryRanges  = 16  // ranges of a batch
	clearly    = 0.9 // cost below which, as a share of another's, one call is taken for cheaper and not for the same

	assumedRead = 100 * time.Microsecond // where the device cannot be asked
	directReads = 9
)

// choose measures the calls and decides on a probe and a hint.
func (a *Advisor) choose() error {
	ranges, err := a.warm()
	if err != nil {
		return err
	}
	for _, kind := range probeKinds {
		a.probes = a.try(a.probes, string(kind), kind == a.c.Probe || a.c.Probe == BestProbe, func() (time.Duration, error) { return a.tryProbe(kind, ranges) })
	}
	for _, kind := range hintKinds {
		a.hints = a.try(a.hints, string(kind), kind == a.c.Hint || a.c.Hint == BestHint, func() (time.Duration, error) { return a.tryHint(kind, ranges) })
	}
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
		if err := a.Close(); err != nil {
			return err
		}
	}
	a.target.Read = a.readTime()
	return nil
}

// warm reads some ranges, spread over the file, into the page cache.
func (a *Advisor) warm() ([]readbench.Range, error) {
	size, page := a.target.Size, int64(a.c.PageSize)
	n := min(int64(a.c.Faults)*page, 64*page, size)
	buf := make([]byte, n)
	ranges := make([]readbench.Range, tryRanges)
	for i := range ranges {
		start := (size - n) * int64(i) / tryRanges &^ (page - 1)
		length := min(n, size-start)
		ranges[i] = readbench.Range{Off: start, N: int(length)}
		if err := a.k.read(a.c.FD, buf[:length], start); err != nil {
			return nil, fmt.Errorf("reading %d bytes at %d of %s, to measure prefetching: %w", length, start, a.c.Name, err)
		}
	}
	return ranges, nil
}

// try adds a kind and its cost to what was measured, or its error to what was left out.
func (a *Advisor) try(to []measured, kind string, wanted bool, cost func() (time.Duration, error)) []measured {
	if !wanted {
		return to
	}
	c, err := cost()
	if err != nil {
		a.leftOut = append(a.leftOut, fmt.Errorf("prefetching on %s without %s: %w", a.c.Name, kind, err))
		return to
	}
	return append(to, measured{kind, c})
}

func (a *Advisor) tryProbe(kind ProbeKind, ranges []readbench.Range) (time.Duration, error) {
	if err := a.k.visible(a.c.FD); err != nil {
		return 0, err
	}
	if err := a.truthful(kind, ranges); err != nil {
		return 0, err
	}
	return a.measure(func() func() error {
		w := newWorker(a, nil, kind, Madvise)
		return func() error {
			for _, r := range ranges {
				if _, err := w.probe(r); err != nil {
					return err
				}
			}
			return nil
		}
	})
}

// truthful returns an error if a probe says that what was read a moment ago is not resident. On overlayfs, for instance,
// cachestat looks at a file that never has pages. A page may have been reclaimed in that moment, but not time and again.
func (a *Advisor) truthful(kind ProbeKind, ranges []readbench.Range) error {
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

func (a *Advisor) tryHint(kind HintKind, ranges []readbench.Range) (_ time.Duration, err error) {
	if kind == ProcessMadvise && a.pidfd < 0 {
		if a.pidfd, err = a.k.pidfdOpen(); err != nil {
			a.pidfd = -1
			return 0, fmt.Errorf("pidfd_open: %w", err)
		}
	}
	return a.measure(func() func() error {
		w := newWorker(a, always{}, Mincore, kind)
		return func() error { return w.Prefetch(ranges) }
	})
}

// measure returns the time that one range of a batch takes, with as many batches at the same time as there are workers
// and processors for them. batch makes what runs a batch on one goroutine.
func (a *Advisor) measure(batch func() func() error) (time.Duration, error) {
	n := min(a.c.Workers, a.target.Processors)
	best := time.Duration(-1)
	for range tries {
		took, errs := make([]time.Duration, n), make([]error, n)
		ready, begin := make(chan struct{}, n), make(chan struct{})
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				run := batch()
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
				return 0, err
			}
		}
		if slowest := slices.Max(took); best < 0 || slowest < best {
			best = slowest
		}
	}
	return best / (tryBatches * tryRanges), nil
}

// pick returns the cheapest, and among those that cost about the same the first; or what was asked for.
func (a *Advisor) pick(what, asked string, from []measured) (best measured, err error) {
	if len(from) == 0 {
		if asked == "" {
			asked = "any " + what
		}
		return best, readbench.Unsupported("%w", errors.Join(append([]error{fmt.Errorf("prefetching on %s: %s cannot be used here", a.c.Name, asked)}, a.leftOut...)...))
	}
	best = from[0]
	for _, m := range from[1:] {
		if float64(m.cost) < clearly*float64(best.cost) {
			best = m
		}
	}
	return best, nil
}

// readTime is the median of some reads of the device. Where it cannot be asked, that is left out, and a usual time taken.
func (a *Advisor) readTime() time.Duration {
	took, err := a.directTimes()
	if err != nil {
		a.leftOut = append(a.leftOut, fmt.Errorf("prefetching on %s without knowing how long its device takes to read a page, %v is assumed: %w", a.c.Name, assumedRead, err))
		return assumedRead
	}
	slices.Sort(took)
	return took[len(took)/2]
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
