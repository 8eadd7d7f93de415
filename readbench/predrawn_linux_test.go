package readbench

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/cases"
	"github.com/readbench/suite/internal/fadvise"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// hinter is a strategy for predrawn rows: call is what an op does with its ranges.
func hinter(call func(o *fakeOpened, rs []strategy.Range) error) fake {
	return fake{fakeOptions: &fakeOptions{prefetch: call}}
}

func predrawnRow(s fake, pageCase string, threads, batch int, effect Effect) Row {
	return Row{
		Strategy: s, Case: pageCase, Threads: threads, Effect: effect, Batch: batch, MaxRange: 16 << 10, Predrawn: true, PerRange: batch > 1,
		Op: func(w *Worker) (func() error, error) {
			hint := w.Reader().(strategy.Prefetcher)
			return func() error {
				rs, err := w.Take()
				if err != nil {
					return err
				}
				return hint.Prefetch(rs)
			}, nil
		},
	}
}

func willNeedAll(o *fakeOpened, rs []strategy.Range) error {
	for _, r := range rs {
		if err := fadvise.WillNeed(int(o.fd.Fd()), r.Off, int64(r.N)); err != nil {
			return err
		}
	}
	return nil
}

// An op of a predrawn row takes as many ranges as its row says, of its row's size and inside the file; in cold no page
// comes twice before the file was evicted.
func TestPredrawn(t *testing.T) {
	for _, pageCase := range []string{"hot", "cold"} {
		for _, threads := range []int{1, 3} {
			for _, batch := range []int{1, 16} {
				t.Run(fmt.Sprintf("%s/T%d/%d", pageCase, threads, batch), func(t *testing.T) {
					s := testSuite(t)
					var sp spans
					st := hinter(func(o *fakeOpened, rs []strategy.Range) error {
						if len(rs) != batch {
							return fmt.Errorf("%d ranges", len(rs))
						}
						sp.mu.Lock()
						sp.seen = append(sp.seen, rs...)
						sp.mu.Unlock()
						return willNeedAll(o, rs)
					})
					r, err := s.open(predrawnRow(st, pageCase, threads, batch, EffectHint))
					if err != nil {
						t.Fatal(err)
					}
					sp.seen = nil
					r.state = &lookingState{r.state, func() error { sp.next(); return nil }}
					ops := 20000 / batch // of more ranges than a list of the file has
					var res *result.Result
					benchmarkN(t, ops, func(b *testing.B) { res, err = r.measure(b) })
					sp.next()
					if err := errors.Join(err, r.state.Judge(res), r.close()); err != nil {
						t.Fatal(err)
					}
					total := 0
					for _, list := range sp.epochs {
						total += len(list)
						slices.SortFunc(list, func(a, b strategy.Range) int { return int(a.Off - b.Off) })
						for i, rg := range list {
							if rg.Off < 0 || rg.N != 16<<10 || rg.Off+int64(rg.N) > s.files.Size() {
								t.Fatalf("range %v", rg)
							}
							if page := int64(s.files[0].PageSize()); pageCase == "cold" && i > 0 && (list[i-1].Off+int64(list[i-1].N)-1)/page >= rg.Off/page {
								t.Fatalf("%v and %v share a page", list[i-1], rg)
							}
						}
					}
					if total != int(res.Ranges()) || res.Ops < ops {
						t.Errorf("%d ranges were taken in %d ops, %d are counted", total, res.Ops, res.Ranges())
					}
					if share := res.ColdShare(); pageCase == "cold" && share < 0.99 || pageCase == "hot" && share > 0.01 {
						t.Errorf("%.3f of what was hinted was cold", share)
					}
				})
			}
		}
	}
}

// What contradicts the row's name fails it: hints that do nothing, or are of other pages, or of far more than they say.
func TestPredrawnLiars(t *testing.T) {
	var calls atomic.Int64
	for _, tc := range []struct {
		name     string
		pageCase string
		effect   Effect
		call     func(o *fakeOpened, rs []strategy.Range) error
		want     string
	}{
		{"hints that do nothing", "cold", EffectHint, func(*fakeOpened, []strategy.Range) error { return nil }, "was cold"},
		{"hints of half", "cold", EffectHint, func(o *fakeOpened, rs []strategy.Range) error {
			return fadvise.WillNeed(int(o.fd.Fd()), rs[0].Off, int64(rs[0].N)/2)
		}, "was cold"},
		{"hints of the same place", "cold", EffectHint, func(o *fakeOpened, rs []strategy.Range) error {
			return fadvise.WillNeed(int(o.fd.Fd()), 0, int64(rs[0].N))
		}, "was cold"},
		{"hints that evict", "hot", EffectHint, func(o *fakeOpened, rs []strategy.Range) error {
			return errors.Join(unix.Fadvise(int(o.fd.Fd()), 0, 0, unix.FADV_DONTNEED), willNeedAll(o, rs))
		}, "pages left the page cache while it ran"},
		{"hints that read ahead, more later than at first", "cold", EffectHint, func(o *fakeOpened, rs []strategy.Range) error {
			n := int64(rs[0].N)
			if calls.Add(1) > pilotOps { // behaves while it is looked at
				n = min(4<<20, o.size-rs[0].Off)
			}
			return fadvise.WillNeed(int(o.fd.Fd()), rs[0].Off, n)
		}, "was cold"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := testSuite(t)
			_, err := measureRow(t, s, predrawnRow(hinter(tc.call), tc.pageCase, 1, 1, tc.effect), 300)
			wantError(t, err, tc.want)
		})
	}
}

// A prober counts what it says it found.
type prober struct {
	*fakeReader
	probe          func(o *fakeOpened, r strategy.Range) (missed bool, err error)
	probed, missed uint64
}

func (p *prober) Prefetch(rs []strategy.Range) error {
	missed, err := p.probe(p.o, rs[0])
	p.probed++
	if missed {
		p.missed++
	}
	return err
}

func (p *prober) Counts() strategy.Counts {
	return strategy.Counts{Calls: map[string]uint64{"probe": p.probed}, Probed: p.probed, Missed: p.missed, ReadSyscalls: p.calls}
}

// Probes that say what is not so, or probe nothing, fail the row.
func TestProbeLiars(t *testing.T) {
	honest := func(o *fakeOpened, r strategy.Range) (bool, error) {
		resident, err := pagecache.Resident(o.fd, r.Off, int64(r.N))
		return resident.Resident < resident.Pages, err
	}
	always := func(missed bool) func(*fakeOpened, strategy.Range) (bool, error) {
		return func(*fakeOpened, strategy.Range) (bool, error) { return missed, nil }
	}
	for _, tc := range []struct {
		name     string
		pageCase string
		probe    func(*fakeOpened, strategy.Range) (bool, error)
		each     int // of so many ops one probes
		want     string
	}{
		{"the honest one", "hot", honest, 1, ""},
		{"the honest one", "cold", honest, 1, ""},
		{"everything is there", "cold", always(false), 1, "was cold"},
		{"everything is missing", "hot", always(true), 1, "found pages missing"},
		{"nothing is probed", "hot", honest, 1 << 30, "probes of"},
		{"nothing is probed", "cold", honest, 1 << 30, "probes of"},
		{"one of two is probed", "hot", honest, 2, "probes of"},
		{"one of two is probed", "cold", honest, 2, "probes of"},
	} {
		t.Run(tc.name+"/"+tc.pageCase, func(t *testing.T) {
			s := testSuite(t)
			row := predrawnRow(fake{}, tc.pageCase, 1, 1, EffectProbe)
			row.Strategy = proberStrategy{tc.probe}
			row.Op = func(w *Worker) (func() error, error) {
				p, n := w.Reader().(*prober), 0
				return func() error {
					rs, err := w.Take()
					if n++; err == nil && n%tc.each == 0 {
						err = p.Prefetch(rs)
					}
					return err
				}, nil
			}
			_, err := measureRow(t, s, row, 200)
			if lies := tc.name != "the honest one"; (err != nil) != lies {
				t.Fatalf("the error is %v", err)
			}
			if tc.want != "" {
				wantError(t, err, tc.want)
			}
		})
	}
}

type proberStrategy struct {
	probe func(*fakeOpened, strategy.Range) (bool, error)
}

func (proberStrategy) Name() string { return "prober" }

func (s proberStrategy) Open(f *strategy.File, setup strategy.Setup) (strategy.Opened, error) {
	o, err := fake{}.Open(f, setup)
	if err != nil {
		return nil, err
	}
	return &proberOpened{o.(*fakeOpened), s.probe}, nil
}

type proberOpened struct {
	*fakeOpened
	probe func(*fakeOpened, strategy.Range) (bool, error)
}

func (o *proberOpened) Reader(int) (strategy.Reader, error) {
	return &prober{fakeReader: &fakeReader{o: o.fakeOpened}, probe: o.probe}, nil
}

// A row of faults whose touches are not a fault each fails: if it touches one page again and again, or nothing.
func TestFaultLiars(t *testing.T) {
	for _, pageCase := range []string{"hot", "cold"} {
		for name, touch := range map[string]func(data func(off int64) (byte, error), off int64) (byte, error){
			"honest":             func(data func(int64) (byte, error), off int64) (byte, error) { return data(off) },
			"nothing":            func(func(int64) (byte, error), int64) (byte, error) { return 0, nil },
			"the same page":      func(data func(int64) (byte, error), _ int64) (byte, error) { return data(0) },
			"every second touch": func(data func(int64) (byte, error), off int64) (byte, error) { return data(off >> 17 << 17) },
		} {
			t.Run(pageCase+"/"+name, func(t *testing.T) {
				s := testSuite(t)
				row := Row{
					Strategy: strategies.MmapRandom(), Case: pageCase, Threads: 1, Effect: EffectFault, Batch: 1, MaxRange: 1, Predrawn: true,
					Op: func(w *Worker) (func() error, error) {
						sum := byte(0)
						data := func(off int64) (byte, error) { // the mapping's byte at an offset
							p, err := w.Reader().Read(strategy.Range{Off: off, N: 1})
							if err != nil {
								return 0, err
							}
							return p[0], nil
						}
						return func() error {
							rs, err := w.Take()
							if err != nil {
								return err
							}
							b, err := touch(data, rs[0].Off)
							sum += b
							runtime.KeepAlive(sum)
							return err
						}, nil
					},
				}
				_, err := measureRow(t, s, row, 4000)
				if honest := name == "honest"; (err == nil) != honest {
					t.Errorf("the error is %v", err)
				}
			})
		}
	}
}

// Rows that make no sense are refused before anything is opened.
func TestRowCheck(t *testing.T) {
	good := Row{Strategy: strategies.Pread(), Case: "hot", Threads: 1, Batch: 1, MaxRange: 1}
	op := func(*Worker) (func() error, error) { return nil, nil }
	for name, row := range map[string]Row{
		"no threads":                 {Batch: 1, MaxRange: 1},
		"no ranges":                  {Threads: 1, MaxRange: 1},
		"no bytes":                   {Threads: 1, Batch: 1},
		"a predrawn scan":            {Threads: 1, Batch: 1, MaxRange: 1, Predrawn: true, Order: strategy.OrderSequential, Effect: EffectHint, Op: op},
		"predrawn reads":             {Threads: 1, Batch: 1, MaxRange: 1, Predrawn: true, Op: op},
		"hints that are drawn":       {Threads: 1, Batch: 1, MaxRange: 1, Effect: EffectHint, Op: op},
		"predrawn, and nothing done": {Threads: 1, Batch: 1, MaxRange: 1, Predrawn: true, Effect: EffectNone},
	} {
		if _, err := row.shape(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := good.shape(); err != nil {
		t.Error(err)
	}
}

// A call that makes the device deliver much more than was asked for has short lists, and where there would be nothing in
// them the row is skipped with the size of the file that it takes.
func TestPredrawnReadAhead(t *testing.T) {
	s := testSuite(t)
	ahead := hinter(func(o *fakeOpened, rs []strategy.Range) error {
		return fadvise.WillNeed(int(o.fd.Fd()), rs[0].Off, min(128<<10, o.size-rs[0].Off))
	})
	r, err := s.open(predrawnRow(ahead, "cold", 1, 1, EffectHint))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.state.Restore(t.Context(), cases.CallStart); err != nil {
		t.Fatal(err)
	}
	const spoilt = 0.01 // the share of the file that the calls of one list may deliver beyond their ranges
	want := spoilt * testSize / float64(128<<10)
	if got := float64(r.List.Len()); got < want/2 || got > want*2 {
		t.Errorf("lists of %.0f calls, want about %.0f", got, want)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
	_, err = s.open(predrawnRow(ahead, "cold", 64, 1, EffectHint))
	wantError(t, err, "take a file of")
	if !errors.Is(err, strategy.ErrUnsupported) {
		t.Errorf("it is no reason to skip: %v", err)
	}
}

// Ops that draw where they should take, or take where they should draw, are told so.
func TestWrongWayToDraw(t *testing.T) {
	s := testSuite(t)
	for _, predrawn := range []bool{false, true} {
		row := randomRow(s, strategies.Pread(), "hot", 1)
		row.Predrawn, row.Effect = predrawn, EffectNone
		want := "Predrawn"
		row.Op = func(w *Worker) (func() error, error) {
			return func() error {
				if predrawn {
					_, err := w.Draw(make([]strategy.Range, 1))
					return err
				}
				_, err := w.Take()
				return err
			}, nil
		}
		_, err := measureRow(t, s, row, 1)
		wantError(t, err, want)
	}
}
