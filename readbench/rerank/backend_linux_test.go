package rerank

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/readtest"
	"github.com/readbench/suite/readbench/strategy"
)

// All backends give the answers that the vectors themselves give, however large vectors are and wherever they start.
func TestBackendsAgree(t *testing.T) {
	for _, align := range []config.Align{config.AlignPage, config.AlignPacked} {
		for _, dim := range []int{1, 512, 1025, 2048, 3000} {
			t.Run(fmt.Sprintf("%s/%d", align, dim), func(t *testing.T) {
				noLeaks(t)
				d := dataOf(t, "ALIGN="+string(align), fmt.Sprintf("DIM=%d", dim), "VECTORS=400", "SHORTLIST=110", "VERIFY=full")
				d.pools[1] = tuning{readers: 16} // tuning takes longer than all the rest
				backends, err := d.Backends(1)
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, b := range backends {
					names = append(names, b.Name)
					if err := agree(d, b.Strategy); errors.Is(err, strategy.ErrUnsupported) {
						t.Logf("%s: %v", b.Name, err)
					} else if err != nil {
						t.Errorf("%s: %v", b.Name, err)
					}
				}
				names = slices.Compact(names)
				if want := []string{"serial", "pool", "uring-direct", "uring", "mmap", "mmap-prefetch"}; !slices.Equal(names, want) {
					t.Errorf("backends %v, want %v", names, want)
				}
			})
		}
	}
}

// agree answers queries by a strategy, as a row would; then shortlists with duplicates, and an empty one.
func agree(d *Data, s strategy.Strategy) (err error) {
	runtime.LockOSThread() // a ring is one thread's
	defer runtime.UnlockOSThread()
	o, err := s.Open(d.file(), strategy.Setup{Threads: 1, Batch: d.shortlist, MaxRange: d.bytes(), Depth: depth})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	r, err := o.Reader(0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeReader(r)) }()
	h := newHandler(d.index, d.answers, opened{r})
	if err := h.examine(); err != nil {
		return err
	}
	for query := range int64(6) {
		if err := h.Serve(query); err != nil {
			return err
		}
	}
	once := slices.Clone(h.search.search(7))[:d.shortlist/2]
	want, err := h.rerank(once)
	if err != nil {
		return err
	}
	want = slices.Clone(want)
	if got, err := h.rerank(append(slices.Clone(once), once...)); err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("a shortlist with all vectors twice: %v, %w, want %v", numbers(got), err, numbers(want))
	}
	if got, err := h.rerank(nil); err != nil || len(got) != 0 {
		return fmt.Errorf("an empty shortlist: %v, %w", got, err)
	}
	return nil
}

// The pool keeps the contract of a strategy.
func TestPool(t *testing.T) {
	noLeaks(t)
	for _, readers := range []int{1, 3, 64} {
		t.Run(fmt.Sprint(readers), func(t *testing.T) { readtest.Test(t, Pool(readers)) })
	}
	if _, err := Pool(0).Open(nil, strategy.Setup{}); err == nil {
		t.Error("a pool without readers was opened")
	}
}

// The pool is tuned once for a number of threads, to one of the candidates.
func TestTuning(t *testing.T) {
	noLeaks(t)
	procs := runtime.GOMAXPROCS(0)
	d := dataOf(t, "VECTORS=2000", "DIM=256")
	first, err := d.Pool(2)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.pools) != 1 || !slices.Contains(candidates(2, config.ProcsThreads), tuning{first.readers, first.Procs}) {
		t.Errorf("tuned to %+v", first)
	}
	if again, err := d.Pool(2); err != nil || again != first {
		t.Errorf("%+v, then %+v, %v", first, again, err)
	}
	if now := runtime.GOMAXPROCS(0); now != procs {
		t.Errorf("GOMAXPROCS was %d and is %d", procs, now)
	}
	for _, c := range candidates(2, config.ProcsInherit) {
		if c.procs != 0 {
			t.Errorf("with PROCS=inherit, %+v", c)
		}
	}
}
