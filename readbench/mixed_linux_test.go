package readbench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/pagecache"
)

// Names of mixed cases have a whole number from 1 to 99, written in one way.
func TestParseMixed(t *testing.T) {
	for name, want := range map[string]int{"mixed1": 1, "mixed10": 10, "mixed99": 99, "mixed0": 0, "mixed100": 0, "mixed": 0, "mixed01": 0, "mixed+1": 0, "mixed-1": 0, "mixed1x": 0, "Mixed1": 0, "hot": 0} {
		c, ok := parseMixed(name)
		if ok != (want > 0) || ok && (c.percent != want || c.name() != name) {
			t.Errorf("%q: %v, %v", name, c, ok)
		}
	}
}

// Of each hundred reads exactly the share is cold, at places that differ from hundred to hundred.
func TestMixedPlan(t *testing.T) {
	for _, percent := range []uint64{1, 10, 50, 99} {
		d := &mixed{percent: percent, isCold: make([]bool, 25), hot: uniform{rng: rand.NewPCG(1, percent)}}
		patterns := map[string]bool{}
		for range 100 {
			colds, pattern := 0, ""
			for range 4 {
				n := d.plan(25)
				counted := 0
				for _, cold := range d.isCold {
					if cold {
						counted++
					}
				}
				if counted != n {
					t.Fatalf("%d cold reads, it says %d", counted, n)
				}
				colds += n
				pattern += fmt.Sprint(d.isCold)
			}
			if colds != int(percent) {
				t.Fatalf("%d of a hundred are cold, want %d", colds, percent)
			}
			patterns[pattern] = true
		}
		if len(patterns) < 50 {
			t.Errorf("%d %%: %d patterns in 100 hundreds", percent, len(patterns))
		}
	}
}

// What the device delivers is the share of the reads that are cold, for as long as one likes: over several epochs, with
// one or several threads, and however few ops.
func TestMixedShare(t *testing.T) {
	for _, tc := range []struct {
		pageCase     string
		threads, ops int
	}{{"mixed1", 1, 2000}, {"mixed10", 3, 2000}, {"mixed50", 2, 1500}, {"mixed50", 1, 1}, {"mixed1", 4, 1}} {
		for _, strategy := range []Strategy{Pread(), MmapRandomPrefetch()} {
			t.Run(fmt.Sprintf("%s/T%d/%d/%s", tc.pageCase, tc.threads, tc.ops, strategy.Name()), func(t *testing.T) {
				s := testSuite(t, "READ_SIZE=4KiB")
				res, err := measureRow(t, s, randomRow(s, strategy, tc.pageCase, tc.threads), tc.ops)
				if err != nil {
					t.Fatal(err)
				}
				c, _ := parseMixed(tc.pageCase)
				want, readAhead := float64(c.percent)/100, 0.01
				if strategy.Name() == "pread" { // reads ahead where it finds neighbours cached
					readAhead = 0.1
				}
				if share := float64(res.counters.DeviceBytes) / res.touched(); tc.ops > 100 && (share < want-0.01 || share > want+readAhead) {
					t.Errorf("the device delivered %.4f of the pages", share)
				}
				if tc.ops > 100 && (res.coldReads < want-0.01 || res.coldReads > want+0.01) {
					t.Errorf("%.4f are said to be cold", res.coldReads)
				}
			})
		}
	}
}

// Resident slots are drawn with replacement from the first part of the file, cold ones without from the rest.
func TestMixedDraws(t *testing.T) {
	s := testSuite(t)
	var sp spans
	strategy := fake{read: func(o *fakeOpened, rg Range, p []byte) ([]byte, error) {
		sp.mu.Lock()
		sp.seen = append(sp.seen, rg)
		sp.mu.Unlock()
		_, err := unix.Pread(int(o.fd.Fd()), p[:rg.N], rg.Off)
		return p[:rg.N], err
	}}
	r, err := s.open(randomRow(s, strategy, "mixed50", 2))
	if err != nil {
		t.Fatal(err)
	}
	state := r.state.(*mixedState)
	state.want = 500 // several epochs in a short run
	sp.seen = nil
	r.state = &lookingState{r.state, func() error { sp.next(); return nil }}
	benchmarkN(t, 200, func(b *testing.B) { _, err = r.measure(b) })
	sp.next()
	if err := errors.Join(err, r.close()); err != nil {
		t.Fatal(err)
	}
	if len(sp.epochs) < 3 {
		t.Errorf("%d epochs", len(sp.epochs))
	}
	hot, colds := 0, 0
	for _, epoch := range sp.epochs {
		seen := map[int64]bool{}
		for _, rg := range epoch {
			slot := rg.Off / r.slotSize
			switch {
			case rg.Off+int64(rg.N) <= state.border:
				hot++
			case rg.Off < state.border:
				t.Fatalf("%v lies in both parts", rg)
			case seen[slot]:
				t.Fatalf("%v is read twice before it was evicted", rg)
			default:
				seen[slot] = true
				colds++
			}
		}
	}
	if hot < colds-100 || hot > colds+100 {
		t.Errorf("%d hot and %d cold reads", hot, colds)
	}
}

// The resident part stays while the row runs, whoever wants its pages that nobody maps: the strategy here, a daemon elsewhere. If
// they are gone all the same, the row fails.
func TestMixedHoldsTheResidentPart(t *testing.T) {
	for _, tc := range []struct {
		name string
		held bool
		want string
	}{
		{"as it is", true, ""},
		{"without its page tables", false, "pages left the page cache"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := testSuite(t)
			var state *mixedState
			strategy := fake{read: func(o *fakeOpened, rg Range, p []byte) ([]byte, error) {
				_, err := unix.Pread(int(o.fd.Fd()), p[:rg.N], rg.Off)
				if state != nil && !tc.held {
					err = errors.Join(err, state.held.Drop(0, state.border))
				}
				return p[:rg.N], errors.Join(err, unix.Fadvise(int(o.fd.Fd()), 0, 1<<20, unix.FADV_DONTNEED))
			}}
			r, err := s.open(randomRow(s, strategy, "mixed50", 1))
			if err != nil {
				t.Fatal(err)
			}
			state = r.state.(*mixedState)
			benchmarkN(t, 50, func(b *testing.B) {
				res, measureErr := r.measure(b)
				if err = measureErr; err == nil {
					err = r.state.judge(res)
				}
			})
			if closeErr := r.close(); closeErr != nil {
				t.Error(closeErr)
			}
			if tc.want == "" && err != nil {
				t.Error(err)
			} else if tc.want != "" {
				wantError(t, err, tc.want)
			}
			if r, err := (pagecache.Evictor{}).Evict(t.Context(), s.File().control, s.File().size); err != nil || r.Resident > 0 {
				t.Errorf("after the row: %v, %v", r, err)
			}
		})
	}
}

// A strategy that spoils the share has its row failed; a kernel that does, skipped.
func TestMixedSpoilt(t *testing.T) {
	for _, tc := range []struct {
		name string
		s    fake
		want string
	}{
		{"a cache of its own", fake{open: readWhole, read: fromCache}, "of the reads were cold"},
		{"a cache of its own, mixed1", fake{open: readWhole, read: fromCache}, "of the reads were cold"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := testSuite(t)
			pageCase, ops := "mixed50", 50
			if strings.HasSuffix(tc.name, "mixed1") {
				pageCase, ops = "mixed1", 500
			}
			_, err := measureRow(t, s, randomRow(s, tc.s, pageCase, 1), ops)
			wantError(t, err, tc.want)
		})
	}
	s := testSuite(t)
	s.File().size = 64 << 20
	_, err := s.open(randomRow(s, MmapRandom(), "mixed50", 128))
	wantError(t, err, "take a file of")
	row := scanRow(Pread(), "mixed10", 1, 4, 4096)
	_, scanErr := s.open(row)
	wantError(t, scanErr, "random reads only")
	for _, err := range []error{err, scanErr} {
		if !errors.Is(err, ErrUnsupported) {
			t.Errorf("it is no reason to skip: %v", err)
		}
	}
}
