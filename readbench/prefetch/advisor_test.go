package prefetch

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/readbench"
)

// fake is a kernel whose calls cost what it says, and fail as it says. Its file is all zeros.
type fake struct {
	clock    atomic.Int64             // ns; it goes on only by what calls cost
	cost     map[string]time.Duration // of a call, or of a range of process_madvise
	fails    map[string]error
	resident func(page int64) bool
	hinted   []readbench.Range // in order, by whatever call
	calls    map[string]int
	partial  int // bytes that process_madvise advises at the most in one call, 0 for all
	data     []byte
	open     int // descriptors
}

func newFake(pages int) *fake {
	return &fake{
		data: make([]byte, pages*page), cost: map[string]time.Duration{
			"cachestat": 300, "mincore": 1000, "fadvise": 400, "process_madvise": 450, "madvise": 650, "direct": 80 * time.Microsecond,
		},
		fails: map[string]error{}, calls: map[string]int{}, resident: func(int64) bool { return true },
	}
}

func (f *fake) call(name string, ranges int) error {
	f.calls[name]++
	f.clock.Add(int64(f.cost[name]) * int64(ranges))
	return f.fails[name]
}

func (f *fake) offset(p *byte) int64 {
	return int64(uintptr(unsafe.Pointer(p)) - uintptr(unsafe.Pointer(unsafe.SliceData(f.data))))
}

func (f *fake) kernel() *kernel {
	return &kernel{
		page: page,
		cachestat: func(_ int, off, n int64) (pages int64, err error) {
			for p := off / page; p*page < off+n; p++ {
				if f.resident(p) {
					pages++
				}
			}
			return pages, f.call("cachestat", 1)
		},
		mincore: func(p, vec []byte) error {
			for i := range (len(p) + page - 1) / page {
				vec[i] = 0xfe // the other bits mean nothing
				if f.resident(f.offset(&p[0])/page + int64(i)) {
					vec[i] |= 1
				}
			}
			return f.call("mincore", 1)
		},
		fadvise: func(_ int, off, n int64) error {
			f.hinted = append(f.hinted, readbench.Range{Off: off, N: int(n)})
			return f.call("fadvise", 1)
		},
		madvise: func(p []byte) error {
			f.hinted = append(f.hinted, readbench.Range{Off: f.offset(&p[0]), N: len(p)})
			return f.call("madvise", 1)
		},
		processMadvise: func(_ int, iov []unix.Iovec) (n int, err error) {
			for _, v := range iov {
				length := int(v.Len)
				if f.partial > 0 {
					length = min(length, f.partial-n)
				}
				if length > 0 {
					f.hinted = append(f.hinted, readbench.Range{Off: f.offset(v.Base), N: length})
				}
				n += length
			}
			return n, f.call("process_madvise", len(iov))
		},
		pidfdOpen: func() (int, error) {
			if err := f.call("pidfd_open", 0); err != nil {
				return -1, err
			}
			f.open++
			return 99, nil
		},
		closeFD: func(int) error { f.open--; return f.call("close", 0) },
		visible: func(int) error { return f.fails["visible"] },
		read:    func(int, []byte, int64) error { return f.call("read", 0) },
		direct: func(int) (func(int64) error, func() error, error) {
			if err := f.fails["open direct"]; err != nil {
				return nil, nil, err
			}
			f.open++
			return func(int64) error { return f.call("direct", 1) }, func() error { f.open--; return nil }, nil
		},
		now: func() time.Time { return time.Unix(0, f.clock.Load()) },
	}
}

func (f *fake) config(p Policy) Config {
	return Config{Policy: p, Data: f.data, FD: 3, Name: "data.bin", PageSize: page, Workers: 1, Faults: 5}
}

func (f *fake) advisor(t *testing.T, c Config) *Advisor {
	t.Helper()
	a, err := newAdvisor(c, f.kernel())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil || f.open != 0 {
			t.Errorf("closing: %v; %d descriptors are left open", err, f.open)
		}
	})
	f.hinted, f.calls = nil, map[string]int{}
	return a
}

// The cheapest call is taken; about the same is the same, and then the order decides; what is refused is left out and said.
func TestChoice(t *testing.T) {
	refused := func(err error, names ...string) func(*fake) {
		return func(f *fake) {
			for _, name := range names {
				f.fails[name] = err
			}
		}
	}
	costs := func(name string, cost time.Duration) func(*fake) { return func(f *fake) { f.cost[name] = cost } }
	for _, c := range []struct {
		rule    string
		change  func(*fake)
		probe   ProbeKind
		hint    HintKind
		leftOut []string
	}{
		{"all there is", func(*fake) {}, Cachestat, Fadvise, nil},
		{"mincore is clearly cheaper", costs("mincore", 200), Mincore, Fadvise, nil},
		{"mincore is hardly cheaper", costs("mincore", 290), Cachestat, Fadvise, nil},
		{"they cost the same", costs("mincore", 300), Cachestat, Fadvise, nil},
		{"process_madvise is clearly cheaper", costs("process_madvise", 200), Cachestat, ProcessMadvise, nil},
		{"process_madvise is hardly cheaper", costs("process_madvise", 380), Cachestat, Fadvise, nil},
		{"madvise is clearly cheaper", costs("madvise", 100), Cachestat, Madvise, nil},
		{"a kernel before 6.5", refused(unix.ENOSYS, "cachestat"), Mincore, Fadvise, []string{"without cachestat", "function not implemented"}},
		{"a kernel before 5.10", refused(unix.ENOSYS, "cachestat", "process_madvise", "pidfd_open"), Mincore, Fadvise, []string{"without cachestat", "without process_madvise", "pidfd_open"}},
		{"process_madvise needs a capability", refused(unix.EPERM, "process_madvise"), Cachestat, Fadvise, []string{"without process_madvise", "operation not permitted"}},
		{"fadvise is filtered", refused(unix.EPERM, "fadvise"), Cachestat, ProcessMadvise, []string{"without fadvise"}},
		{"madvise gives EINVAL", refused(unix.EINVAL, "madvise", "fadvise"), Cachestat, ProcessMadvise, []string{"without madvise", "without fadvise", "invalid argument"}},
		{"no direct reads", refused(unix.EINVAL, "open direct"), Cachestat, Fadvise, []string{"opening it for direct reads", "100µs is assumed"}},
		{"direct reads fail", refused(unix.EINVAL, "direct"), Cachestat, Fadvise, []string{"a direct read", "100µs is assumed"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := newFake(64)
			c.change(f)
			a := f.advisor(t, f.config(Loaded()))
			probe, hint := a.Kinds()
			if probe != c.probe || hint != c.hint {
				t.Errorf("it takes %s and %s, want %s and %s", probe, hint, c.probe, c.hint)
			}
			said := errors.Join(a.LeftOut()...)
			if (said == nil) != (c.leftOut == nil) {
				t.Errorf("it says %v", said)
			}
			for _, part := range c.leftOut {
				if !strings.Contains(said.Error(), part) || !strings.Contains(said.Error(), "data.bin") {
					t.Errorf("it does not say %q: %v", part, said)
				}
			}
			for _, part := range []string{"probe " + string(c.probe), "hint " + string(c.hint)} {
				if !strings.Contains(a.String(), part) {
					t.Errorf("String does not say %q: %s", part, a)
				}
			}
			tg := a.Target()
			if tg.Probe != f.cost[string(probe)] || tg.Hint != f.cost[string(hint)] {
				t.Errorf("it measured %v and %v, the kernel took %v and %v", tg.Probe, tg.Hint, f.cost[string(probe)], f.cost[string(hint)])
			}
			if f.fails["direct"] == nil && f.fails["open direct"] == nil && tg.Read != f.cost["direct"] {
				t.Errorf("the device takes %v, want %v", tg.Read, f.cost["direct"])
			}
		})
	}
}

// cachestat that says nothing is resident of what was just read is not believed; neither is mincore.
func TestUntruthfulProbesAreLeftOut(t *testing.T) {
	f := newFake(64)
	f.resident = func(int64) bool { return false }
	a, err := newAdvisor(f.config(Loaded()), f.kernel())
	if err == nil {
		t.Fatal(a)
	}
	if !errors.Is(err, readbench.ErrUnsupported) || strings.Count(err.Error(), "read a moment ago") != 2 || f.open != 0 {
		t.Errorf("%d descriptors are open; %v", f.open, err)
	}
}

// Where residency cannot be asked, the policies that ask are unsupported, and those that do not ask run.
func TestWithoutAnyProbe(t *testing.T) {
	for _, p := range Policies() {
		f := newFake(64)
		f.fails["visible"] = errors.New("hidden")
		a, err := newAdvisor(f.config(p), f.kernel())
		if _, ok := p.(Probeless); !ok {
			if !errors.Is(err, readbench.ErrUnsupported) || !strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s: %v", p.Name(), err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", p.Name(), err)
			continue
		}
		if probe, _ := a.Kinds(); probe != "" || !strings.Contains(a.String(), "probe none") {
			t.Errorf("%s: it probes with %q: %v", p.Name(), probe, a)
		}
		if w := a.Worker(0); w != nil {
			if err := w.Prefetch([]readbench.Range{{Off: 0, N: 100}}); err != nil {
				t.Errorf("%s: %v", p.Name(), err)
			}
			if got, want := w.Counts().Calls, map[string]uint64{"fadvise": 1, "hinted": 1}; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: it counts %v, want %v", p.Name(), got, want)
			}
		}
		a.Close()
	}
}

// What is asked for is taken, whatever it costs, or is an error: never something else.
func TestAskedFor(t *testing.T) {
	for _, probe := range probeKinds {
		for _, hint := range hintKinds {
			f := newFake(64)
			c := f.config(Loaded())
			c.Probe, c.Hint = probe, hint
			a := f.advisor(t, c)
			if p, h := a.Kinds(); p != probe || h != hint {
				t.Errorf("asked for %s and %s it takes %s and %s", probe, hint, p, h)
			}
			for _, kind := range []string{string(probe), string(hint)} {
				f := newFake(64)
				f.fails[kind] = unix.EPERM
				a, err := newAdvisor(c, f.kernel())
				if !errors.Is(err, readbench.ErrUnsupported) || !errors.Is(err, unix.EPERM) || !strings.Contains(fmt.Sprint(err), kind) {
					t.Errorf("asked for %s and %s, of which %s is refused: %v, %v", probe, hint, kind, a, err)
				}
			}
		}
	}
}

// A probe or a hint that fails in use is an error that says what, where and why. Nothing else is called in its place.
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
			err := w.Prefetch([]readbench.Range{{Off: 5 * page, N: 100}, {Off: 9 * page, N: 100}})
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
			if err := w.Prefetch([]readbench.Range{{Off: 7 * page, N: 100}}); err != nil {
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
		if err := w.Prefetch([]readbench.Range{{Off: 10, N: 2 * page}, {Off: 8 * page, N: 1}, {Off: 63 * page, N: page}}); err != nil {
			t.Fatal(err)
		}
		advised := map[int64]int{}
		for _, r := range f.hinted {
			for b := range int64(r.N) {
				advised[r.Off+b]++
			}
		}
		want := map[int64]int{}
		for _, r := range []readbench.Range{{Off: 0, N: 3 * page}, {Off: 8 * page, N: page}, {Off: 63 * page, N: page}} {
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
	if err := w.Prefetch([]readbench.Range{{Off: 0, N: 1}}); !errors.Is(err, errNothing) {
		t.Errorf("a call that advises nothing: %v", err)
	}
}

// A batch of more ranges than process_madvise takes in one call is hinted in several.
func TestLargeBatches(t *testing.T) {
	f := newFake(4096)
	c := f.config(Always())
	c.Hint = ProcessMadvise
	w := f.advisor(t, c).Worker(0)
	rs := make([]readbench.Range, 2500)
	for i := range rs {
		rs[i] = readbench.Range{Off: int64(i) * page, N: page}
	}
	if err := w.Prefetch(rs); err != nil {
		t.Fatal(err)
	}
	if f.calls["process_madvise"] != 3 || len(f.hinted) != 2500 {
		t.Errorf("%d calls for %d ranges, want 3 for 2500", f.calls["process_madvise"], len(f.hinted))
	}
}

// One page that is missing makes a range a miss, at either end and beyond what mincore's vector holds; a miss hints all of it.
func TestOneMissingPage(t *testing.T) {
	for _, probe := range probeKinds {
		for _, c := range []struct {
			rule    string
			r       readbench.Range
			missing int64 // page
			miss    bool
			want    readbench.Range
		}{
			{"the first page, of which 1 byte is read", readbench.Range{Off: 5*page - 1, N: 100}, 4, true, readbench.Range{Off: 4 * page, N: 2 * page}},
			{"the last page, of which 1 byte is read", readbench.Range{Off: 4 * page, N: page + 1}, 5, true, readbench.Range{Off: 4 * page, N: 2 * page}},
			{"the page before", readbench.Range{Off: 4 * page, N: page}, 3, false, readbench.Range{}},
			{"the page after", readbench.Range{Off: 4 * page, N: page}, 5, false, readbench.Range{}},
			{"page 300 of a long range", readbench.Range{Off: page, N: 600 * page}, 301, true, readbench.Range{Off: page, N: 600 * page}},
			{"the last page of the file, which has 100 bytes", readbench.Range{Off: 700*page + 50, N: 50}, 700, true, readbench.Range{Off: 700 * page, N: 100}},
		} {
			f := newFake(1024)
			config := f.config(Loaded())
			config.Data = f.data[:700*page+100]
			config.Probe = probe
			w := f.advisor(t, config).Worker(0)
			f.resident = func(p int64) bool { return p != c.missing }
			if err := w.Prefetch([]readbench.Range{c.r}); err != nil {
				t.Fatal(err)
			}
			var want []readbench.Range
			if c.miss {
				want = []readbench.Range{c.want}
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

func (wrong) Open(Target) func(int) Decider           { return func(int) Decider { return wrong{} } }
func (wrong) Decide(readbench.Range) (unknown Action) { return 7 }

func TestUnknownActionIsAnError(t *testing.T) {
	f := newFake(64)
	err := f.advisor(t, f.config(wrong{})).Worker(0).Prefetch([]readbench.Range{{Off: 0, N: 1}})
	if err == nil || !strings.Contains(err.Error(), "Action(7)") {
		t.Errorf("%v", err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for rule, change := range map[string]func(*Config){
		"no policy":             func(c *Config) { c.Policy = nil },
		"no mapping":            func(c *Config) { c.Data = nil },
		"no page size":          func(c *Config) { c.PageSize = 0 },
		"an uneven page size":   func(c *Config) { c.PageSize = 5000 },
		"no workers":            func(c *Config) { c.Workers = 0 },
		"no faults":             func(c *Config) { c.Faults = 0 },
		"a probe of some name":  func(c *Config) { c.Probe = "peek" },
		"a hint of some name":   func(c *Config) { c.Hint = "shout" },
		"a file that is closed": nil,
	} {
		f := newFake(64)
		c := f.config(Loaded())
		if change == nil {
			f.fails["read"] = unix.EBADF
		} else {
			change(&c)
		}
		if a, err := newAdvisor(c, f.kernel()); err == nil || a != nil || f.open != 0 {
			t.Errorf("%s: %v, %v, %d open", rule, a, err, f.open)
		}
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
				rs := make([]readbench.Range, 16)
				for i := range rs {
					rs[i] = readbench.Range{Off: int64(i) * page, N: 2 * page}
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
