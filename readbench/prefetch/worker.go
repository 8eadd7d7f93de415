package prefetch

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/readbench/strategy"
)

// A Worker advises the batches of one goroutine. It allocates only when a batch has more ranges to hint than
// any before.
type Worker struct {
	_       cpu.CacheLinePad
	decider Decider
	skipper Skipper // nil if the decider is none
	probe   func(strategy.Range) (resident bool, err error)
	hint    func(strategy.Range) error
	data    []byte
	page    int64
	size    int64
	a       *Advisor

	probeKind ProbeKind
	hintKind  HintKind
	pending   []unix.Iovec // of the batch under way, for process_madvise
	vec       [256]byte    // of mincore

	probeCalls, hintCalls  uint64
	probed, missed, hinted uint64 // ranges
	_                      cpu.CacheLinePad
}

// A Worker does for a reader what the runner may ask of it.
var _ interface {
	strategy.Prefetcher
	strategy.Counter
} = (*Worker)(nil)

// Worker makes the part of one worker, 0 ≤ id < Config.Workers. It is nil if the policy neither probes nor hints.
func (a *Advisor) Worker(id int) *Worker {
	d := a.open(id)
	if d == nil {
		return nil
	}
	return newWorker(a, d, a.c.Probe, a.c.Hint)
}

func newWorker(a *Advisor, d Decider, probe ProbeKind, hint HintKind) *Worker {
	w := &Worker{decider: d, data: a.c.Data, page: int64(a.c.PageSize), size: int64(len(a.c.Data)), a: a, probeKind: probe, hintKind: hint}
	w.skipper, _ = d.(Skipper)
	switch probe {
	case Cachestat:
		w.probe = w.cachestat
	case Mincore:
		w.probe = w.mincore
	default:
		w.probe = w.noProbe
	}
	switch hint {
	case Fadvise:
		w.hint = w.fadvise
	case ProcessMadvise:
		w.hint = w.gather
	default:
		w.hint = w.madvise
	}
	return w
}

// Prefetch asks the policy about each range, in order, and does what it says. The error is that of the first
// call that failed; the rest of the batch is not advised then. rs is not kept.
func (w *Worker) Prefetch(rs []strategy.Range) error {
	w.pending = w.pending[:0]
	for len(rs) > 0 {
		if w.skipper != nil {
			if rs = rs[w.skipper.Skip(rs):]; len(rs) == 0 {
				break
			}
		}
		start, n := mapping.RoundOut(rs[0].Off, rs[0].N, w.page, w.size)
		rs = rs[1:]
		r := strategy.Range{Off: start, N: int(n)}
		if action := w.decider.Decide(r); action != Skip {
			if err := w.act(action, r); err != nil {
				return err
			}
		}
	}
	if len(w.pending) > 0 {
		return w.processMadvise()
	}
	return nil
}

// act probes, and hints.
func (w *Worker) act(action Action, r strategy.Range) error {
	switch action {
	case Probe:
		resident, err := w.probe(r)
		if err != nil {
			return err
		}
		w.probed++
		w.decider.Learn(r, resident)
		if resident {
			return nil
		}
		w.missed++
	case Hint:
	default:
		return fmt.Errorf("policy %s decided on %v about %d bytes at %d; there are %v, %v and %v", w.a.c.Policy.Name(), action, r.N, r.Off, Skip, Probe, Hint)
	}
	w.hinted++
	return w.hint(r)
}

// Forget tells the policy that all pages were evicted.
func (w *Worker) Forget() {
	if f, ok := w.decider.(interface{ Forget() }); ok {
		f.Forget()
	}
}

// Counts are the successful calls by kind; and, as if they were kinds, the ranges that were probed, found
// missing by a probe, and hinted.
func (w *Worker) Counts() strategy.Counts {
	calls := map[string]uint64{string(w.hintKind): w.hintCalls, "hinted": w.hinted}
	if w.probeKind != "" {
		calls[string(w.probeKind)] = w.probeCalls
		calls["probed"], calls["missed"] = w.probed, w.missed
	}
	return strategy.Counts{Calls: calls}
}

// failed is the error of a call on a range.
func (w *Worker) failed(call string, r strategy.Range, err error) error {
	return fmt.Errorf("%s of %d bytes at %d of %s: %w", call, r.N, r.Off, w.a.c.Name, err)
}

func (w *Worker) noProbe(r strategy.Range) (bool, error) {
	return false, w.failed("probe", r, fmt.Errorf("policy %s says that it does not probe, and probes cannot be used here: %w", w.a.c.Policy.Name(), strategy.ErrUnsupported))
}

func (w *Worker) cachestat(r strategy.Range) (bool, error) {
	pages, err := w.a.k.cachestat(w.a.c.FD, r.Off, int64(r.N))
	if err != nil {
		return false, w.failed("cachestat", r, err)
	}
	w.probeCalls++
	system := int64(w.a.k.page)
	return pages >= (int64(r.N)+system-1)/system, nil
}

// mincore asks for as many pages at a time as its vector has room for, until one is missing.
func (w *Worker) mincore(r strategy.Range) (bool, error) {
	system := w.a.k.page
	for p := w.data[r.Off : r.Off+int64(r.N)]; len(p) > 0; {
		now := min(len(p), len(w.vec)*system)
		if err := w.a.k.mincore(p[:now], w.vec[:]); err != nil {
			return false, w.failed("mincore", r, err)
		}
		w.probeCalls++
		for _, v := range w.vec[:(now+system-1)/system] {
			if v&1 == 0 {
				return false, nil
			}
		}
		p = p[now:]
	}
	return true, nil
}

func (w *Worker) fadvise(r strategy.Range) error {
	if err := w.a.k.fadvise(w.a.c.FD, r.Off, int64(r.N)); err != nil {
		return w.failed("fadvise WILLNEED", r, err)
	}
	w.hintCalls++
	return nil
}

func (w *Worker) madvise(r strategy.Range) error {
	if err := w.a.k.madvise(w.data[r.Off : r.Off+int64(r.N)]); err != nil {
		return w.failed("madvise WILLNEED", r, err)
	}
	w.hintCalls++
	return nil
}

// gather keeps a range for processMadvise.
func (w *Worker) gather(r strategy.Range) error {
	iov := unix.Iovec{Base: &w.data[r.Off]}
	iov.SetLen(r.N)
	w.pending = append(w.pending, iov)
	return nil
}

var errNothing = errors.New("it advised nothing")

// processMadvise hints what was gathered. The call takes 1024 ranges at the most, and may stop short of some:
// then it is called again for the rest, and fails for what it cannot do.
func (w *Worker) processMadvise() error {
	const most = 1024 // UIO_MAXIOV
	for rest := w.pending; len(rest) > 0; {
		n, err := w.a.k.processMadvise(w.a.pidfd, rest[:min(len(rest), most)])
		if err == nil && n <= 0 {
			err = errNothing
		}
		if err != nil {
			return w.failed("process_madvise WILLNEED", w.rangeOf(rest[0]), fmt.Errorf("%w (it is the first of %d ranges)", err, len(rest)))
		}
		w.hintCalls++
		for n > 0 && len(rest) > 0 {
			length := int(rest[0].Len)
			if n < length {
				rest[0].Base = (*byte)(unsafe.Add(unsafe.Pointer(rest[0].Base), n))
				rest[0].SetLen(length - n)
				break
			}
			n -= length
			rest = rest[1:]
		}
	}
	return nil
}

func (w *Worker) rangeOf(iov unix.Iovec) strategy.Range {
	off := uintptr(unsafe.Pointer(iov.Base)) - uintptr(unsafe.Pointer(unsafe.SliceData(w.data)))
	return strategy.Range{Off: int64(off), N: int(iov.Len)}
}
