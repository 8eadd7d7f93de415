package prefetch

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/readbench/strategy"
)

// A probe or a hint that fails in use is an error that says what, where and why. Nothing else is called in its
// place.
func TestFailuresInUse(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		probe  ProbeKind
		hint   HintKind
		fails  string
	}{
		{Loaded(), Cachestat, Fadvise, "cachestat"},
		{Loaded(), Mincore, Fadvise, "mincore"},
		{Always(), Cachestat, Fadvise, "fadvise"},
		{Always(), Cachestat, Madvise, "madvise"},
		{Always(), Cachestat, ProcessMadvise, "process_madvise"},
	} {
		for _, errno := range []error{unix.EINVAL, unix.EPERM, unix.ENOSYS, unix.EIO} {
			f := newFake(64)
			config := f.config(c.policy)
			config.Probe, config.Hint = c.probe, c.hint
			w := f.advisor(t, config).Worker(0)
			f.fails[c.fails] = errno
			err := w.Prefetch([]strategy.Range{{Off: 5 * page, N: 100}, {Off: 9 * page, N: 100}})
			if !errors.Is(err, errno) || !strings.Contains(err.Error(), c.fails) || !strings.Contains(err.Error(), "4096 bytes at 20480 of data.bin") {
				t.Errorf("%s gives %v: %v", c.fails, errno, err)
			}
			if f.calls[c.fails] != 1 || len(f.calls) != 1 {
				t.Errorf("%s gives %v: these were called: %v", c.fails, errno, f.calls)
			}
			for kind, n := range w.Counts().Calls {
				if kind == c.fails && n != 0 {
					t.Errorf("%s failed, and is counted", kind)
				}
			}
			f.fails[c.fails] = nil // nothing of the failed batch is left for the next one
			f.hinted = nil
			if err := w.Prefetch([]strategy.Range{{Off: 7 * page, N: 100}}); err != nil {
				t.Error(err)
			}
			for _, r := range f.hinted {
				if r.Off != 7*page {
					t.Errorf("%s: after a failure it hints %v", c.fails, r)
				}
			}
		}
	}
}

// process_madvise may stop anywhere; it is called again for the rest, and each byte is advised once.
func TestPartialProcessMadvise(t *testing.T) {
	for _, partial := range []int{0, 1, page, page + 1, 3 * page, 5*page - 1} {
		f := newFake(64)
		c := f.config(Always())
		c.Hint = ProcessMadvise
		w := f.advisor(t, c).Worker(0)
		f.partial = partial
		if partial == 1 {
			f.partial = 100 // a few bytes at a time
		}
		if err := w.Prefetch([]strategy.Range{{Off: 10, N: 2 * page}, {Off: 8 * page, N: 1}, {Off: 63 * page, N: page}}); err != nil {
			t.Fatal(err)
		}
		advised := map[int64]int{}
		for _, r := range f.hinted {
			for b := range int64(r.N) {
				advised[r.Off+b]++
			}
		}
		want := map[int64]int{}
		for _, r := range []strategy.Range{{Off: 0, N: 3 * page}, {Off: 8 * page, N: page}, {Off: 63 * page, N: page}} {
			for b := range int64(r.N) {
				want[r.Off+b] = 1
			}
		}
		if !reflect.DeepEqual(advised, want) {
			t.Errorf("at most %d bytes a call: %d bytes are advised, want %d, each once", f.partial, len(advised), len(want))
		}
		if got := w.Counts().Calls["process_madvise"]; got != uint64(f.calls["process_madvise"]) {
			t.Errorf("%d calls are counted, %d were made", got, f.calls["process_madvise"])
		}
	}
	f := newFake(64)
	c := f.config(Always())
	c.Hint = ProcessMadvise
	w := f.advisor(t, c).Worker(0)
	w.a.k.processMadvise = func(int, []unix.Iovec) (int, error) { return 0, nil }
	if err := w.Prefetch([]strategy.Range{{Off: 0, N: 1}}); !errors.Is(err, errNothing) {
		t.Errorf("a call that advises nothing: %v", err)
	}
}

// A batch of more ranges than process_madvise takes in one call is hinted in several.
func TestLargeBatches(t *testing.T) {
	f := newFake(4096)
	c := f.config(Always())
	c.Hint = ProcessMadvise
	w := f.advisor(t, c).Worker(0)
	rs := make([]strategy.Range, 2500)
	for i := range rs {
		rs[i] = strategy.Range{Off: int64(i) * page, N: page}
	}
	if err := w.Prefetch(rs); err != nil {
		t.Fatal(err)
	}
	if f.calls["process_madvise"] != 3 || len(f.hinted) != 2500 {
		t.Errorf("%d calls for %d ranges, want 3 for 2500", f.calls["process_madvise"], len(f.hinted))
	}
}

// One page that is missing makes a range a miss, at either end and beyond what mincore's vector holds; a miss
// hints all of it.
func TestOneMissingPage(t *testing.T) {
	for _, probe := range probeKinds {
		for _, c := range []struct {
			rule    string
			r       strategy.Range
			missing int64 // page
			miss    bool
			want    strategy.Range
		}{
			{"the first page, of which 1 byte is read", strategy.Range{Off: 5*page - 1, N: 100}, 4, true, strategy.Range{Off: 4 * page, N: 2 * page}},
			{"the last page, of which 1 byte is read", strategy.Range{Off: 4 * page, N: page + 1}, 5, true, strategy.Range{Off: 4 * page, N: 2 * page}},
			{"the page before", strategy.Range{Off: 4 * page, N: page}, 3, false, strategy.Range{}},
			{"the page after", strategy.Range{Off: 4 * page, N: page}, 5, false, strategy.Range{}},
			{"page 300 of a long range", strategy.Range{Off: page, N: 600 * page}, 301, true, strategy.Range{Off: page, N: 600 * page}},
			{"the last page of the file, which has 100 bytes", strategy.Range{Off: 700*page + 50, N: 50}, 700, true, strategy.Range{Off: 700 * page, N: 100}},
		} {
			f := newFake(1024)
			config := f.config(Loaded())
			config.Data = f.data[:700*page+100]
			config.Probe = probe
			w := f.advisor(t, config).Worker(0)
			f.resident = func(p int64) bool { return p != c.missing }
			if err := w.Prefetch([]strategy.Range{c.r}); err != nil {
				t.Fatal(err)
			}
			var want []strategy.Range
			if c.miss {
				want = []strategy.Range{c.want}
			}
			if !reflect.DeepEqual(f.hinted, want) {
				t.Errorf("%s, missing: %s: hinted %v, want %v", probe, c.rule, f.hinted, want)
			}
			counts := w.Counts().Calls
			if counts["probed"] != 1 || counts["missed"] != uint64(len(want)) || counts[string(probe)] != uint64(f.calls[string(probe)]) {
				t.Errorf("%s, %s: it counts %v, calls were %v", probe, c.rule, counts, f.calls)
			}
		}
	}
}

// wrong decides on something that there is not.
type wrong struct{ loaded }

func (wrong) Open(Target) func(int) Decider          { return func(int) Decider { return wrong{} } }
func (wrong) Decide(strategy.Range) (unknown Action) { return 7 }

func TestUnknownActionIsAnError(t *testing.T) {
	f := newFake(64)
	err := f.advisor(t, f.config(wrong{})).Worker(0).Prefetch([]strategy.Range{{Off: 0, N: 1}})
	if err == nil || !strings.Contains(err.Error(), "Action(7)") {
		t.Errorf("%v", err)
	}
}

// Nothing allocates, neither a batch that is skipped nor one that is probed and hinted in every way.
func TestPrefetchDoesNotAllocate(t *testing.T) {
	for _, p := range Policies() {
		for _, probe := range probeKinds {
			for _, hint := range hintKinds {
				f := newFake(64)
				c := f.config(p)
				c.Probe, c.Hint = probe, hint
				w := f.advisor(t, c).Worker(0)
				if w == nil {
					continue
				}
				n := 0
				f.resident = func(int64) bool { n++; return n%7 != 0 }
				w.a.k.fadvise = func(int, int64, int64) error { return nil }
				w.a.k.madvise = func([]byte) error { return nil }
				w.a.k.processMadvise = func(_ int, iov []unix.Iovec) (n int, err error) {
					for _, v := range iov {
						n += int(v.Len)
					}
					return n, nil
				}
				rs := make([]strategy.Range, 16)
				for i := range rs {
					rs[i] = strategy.Range{Off: int64(i) * page, N: 2 * page}
				}
				if allocs := testing.AllocsPerRun(100, func() {
					if err := w.Prefetch(rs); err != nil {
						t.Fatal(err)
					}
				}); allocs != 0 {
					t.Errorf("%s, %s, %s: %v allocations a batch", p.Name(), probe, hint, allocs)
				}
			}
		}
	}
}
