package readbench

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// hinter is a strategy for predrawn rows: call is what an op does with its ranges.
func hinter(call func(o *fakeOpened, rs []Range) error) fake {
	return fake{fakeOptions: &fakeOptions{prefetch: call}}
}

func predrawnRow(s fake, pageCase string, threads, batch int, effect Effect) Row {
	return Row{
		Strategy: s, Case: pageCase, Threads: threads, Effect: effect, Batch: batch, MaxRange: 16 << 10, Predrawn: true, PerRange: batch > 1,
		Op: func(w *Worker) (func() error, error) {
			hint := w.Reader().(Prefetcher)
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

func willNeedAll(o *fakeOpened, rs []Range) error {
	for _, r := range rs {
		if err := willNeed(int(o.fd.Fd()), r.Off, int64(r.N)); err != nil {
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
					strategy := hinter(func(o *fakeOpened, rs []Range) error {
						if len(rs) != batch {
							return fmt.Errorf("%d ranges", len(rs))
						}
						sp.mu.Lock()
						sp.seen = append(sp.seen, rs...)
						sp.mu.Unlock()
						return willNeedAll(o, rs)
					})
					r, err := s.open(predrawnRow(strategy, pageCase, threads, batch, EffectHint))
					if err != nil {
						t.Fatal(err)
					}
					sp.seen = nil
					r.state = &lookingState{r.state, func() error { sp.next(); return nil }}
					ops := 20000 / batch // of more ranges than a list of the file has
					var res *result
					benchmarkN(t, ops, func(b *testing.B) { res, err = r.measure(b) })
					sp.next()
					if err := errors.Join(err, r.state.judge(res), r.close()); err != nil {
						t.Fatal(err)
					}
					total := 0
					for _, list := range sp.epochs {
						total += len(list)
						slices.SortFunc(list, func(a, b Range) int { return int(a.Off - b.Off) })
						for i, rg := range list {
							if rg.Off < 0 || rg.N != 16<<10 || rg.Off+int64(rg.N) > s.file.size {
								t.Fatalf("range %v", rg)
							}
							if page := int64(s.file.page); pageCase == "cold" && i > 0 && (list[i-1].Off+int64(list[i-1].N)-1)/page >= rg.Off/page {
								t.Fatalf("%v and %v share a page", list[i-1], rg)
							}
						}
					}
					if total != int(res.ranges()) || res.ops < ops {
						t.Errorf("%d ranges were taken in %d ops, %d are counted", total, res.ops, res.ranges())
					}
					if share := res.coldShare(); pageCase == "cold" && share < 0.99 || pageCase == "hot" && share > 0.01 {
						t.Errorf("%.3f of what was hinted was cold", share)
					}
				})
			}
		}
	}
}

// Every list has whole ops, of which each thread gets one at least, and a lease has whole ops too.
func TestListReset(t *testing.T) {
	for _, batch := range []int{1, 3, 16, 1000} {
		for _, threads := range []int{1, 8, 1024} {
			for _, n := range []int64{int64(batch * threads), int64(batch*threads) + 7, listLength, 1 << 20} {
				if n < int64(batch*threads) || batch*threads > listLength {
					continue
				}
				var l list
				l.reset(&Row{Batch: batch, Threads: threads, MaxRange: 5}, n)
				b := int64(batch)
				if got := int64(len(l.ranges)); got%b != 0 || got > listLength || got > n || got < b*int64(threads) {
					t.Errorf("batch %d, threads %d, of %d: a list of %d", batch, threads, n, got)
				}
				if l.lease < b || l.lease%b != 0 || l.lease > max(b, listLease) {
					t.Errorf("batch %d, threads %d, of %d: leases of %d", batch, threads, n, l.lease)
				}
				for _, r := range l.ranges {
					if r.N != 5 {
						t.Fatalf("range %v", r)
					}
				}
			}
		}
	}
}

// What contradicts the row's name fails it: hints that do nothing, or are of other pages, or of far more than they say.
func TestPredrawnLiars(t *testing.T) {
	var calls sync.Map
	for _, tc := range []struct {
		name     string
		pageCase string
		effect   Effect
		call     func(o *fakeOpened, rs []Range) error
		want     string
	}{
		{"hints that do nothing", "cold", EffectHint, func(*fakeOpened, []Range) error { return nil }, "was cold"},
		{"hints of half", "cold", EffectHint, func(o *fakeOpened, rs []Range) error {
			return willNeed(int(o.fd.Fd()), rs[0].Off, int64(rs[0].N)/2)
		}, "was cold"},
		{"hints of the same place", "cold", EffectHint, func(o *fakeOpened, rs []Range) error {
			return willNeed(int(o.fd.Fd()), 0, int64(rs[0].N))
		}, "was cold"},
		{"hints that evict", "hot", EffectHint, func(o *fakeOpened, rs []Range) error {
			return errors.Join(unix.Fadvise(int(o.fd.Fd()), rs[0].Off, int64(rs[0].N), unix.FADV_DONTNEED), willNeedAll(o, rs))
		}, "pages were reclaimed while it ran"},
		{"hints that read ahead, more later than at first", "cold", EffectHint, func(o *fakeOpened, rs []Range) error {
			n := int64(rs[0].N)
			if before, ok := calls.LoadOrStore(o, 1); ok && before.(int) == 1 { // once behaved, when the pilot looked
				n = min(4<<20, o.size-rs[0].Off)
			}
			return willNeed(int(o.fd.Fd()), rs[0].Off, n)
		}, "was cold"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := testSuite(t)
			_, err := measureRow(t, s, predrawnRow(hinter(tc.call), tc.pageCase, 1, 1, tc.effect), 300)
			wantError(t, err, tc.want)
		})
	}
}

// A call that makes the device deliver much more than was asked for has short lists, and where there would be nothing in
// them the row is skipped with the size of the file that it takes.
func TestPredrawnReadAhead(t *testing.T) {
	s := testSuite(t)
	ahead := hinter(func(o *fakeOpened, rs []Range) error {
		return willNeed(int(o.fd.Fd()), rs[0].Off, min(128<<10, o.size-rs[0].Off))
	})
	r, err := s.open(predrawnRow(ahead, "cold", 1, 1, EffectHint))
	if err != nil {
		t.Fatal(err)
	}
	want := coldListSpoilt * testSize / float64(128<<10)
	if got := float64(r.state.(*coldList).want); got < want/2 || got > want*2 {
		t.Errorf("lists of %.0f calls, want about %.0f", got, want)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
	_, err = s.open(predrawnRow(ahead, "cold", 64, 1, EffectHint))
	wantError(t, err, "take a file of")
	if !errors.Is(err, ErrUnsupported) {
		t.Errorf("it is no reason to skip: %v", err)
	}
}

// Ops that draw where they should take, or take where they should draw, are told so.
func TestWrongWayToDraw(t *testing.T) {
	s := testSuite(t)
	for _, predrawn := range []bool{false, true} {
		row := randomRow(s, Pread(), "hot", 1)
		row.Predrawn = predrawn
		want := "Predrawn"
		row.Op = func(w *Worker) (func() error, error) {
			return func() error {
				if predrawn {
					_, err := w.Draw(make([]Range, 1))
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
