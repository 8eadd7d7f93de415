package readbench

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// What the device delivers is the share of the reads that are cold, for as long as one likes: over several epochs, with
// one or several threads, and however few ops.
func TestMixedShare(t *testing.T) {
	for _, tc := range []struct {
		percent, threads, ops int
	}{{1, 1, 2000}, {10, 3, 2000}, {50, 2, 1500}, {50, 1, 1}, {1, 4, 1}} {
		pageCase := fmt.Sprintf("mixed%d", tc.percent)
		for _, st := range []strategy.Strategy{strategies.Pread(), strategies.MmapRandomPrefetch()} {
			t.Run(fmt.Sprintf("%s/T%d/%d/%s", pageCase, tc.threads, tc.ops, st.Name()), func(t *testing.T) {
				s := testSuite(t, "READ_SIZE=4KiB")
				res, err := measureRow(t, s, randomRow(s, st, pageCase, tc.threads), tc.ops)
				if err != nil {
					t.Fatal(err)
				}
				want, readAhead := float64(tc.percent)/100, 0.01
				if st.Name() == "pread" { // reads ahead where it finds neighbours cached
					readAhead = 0.1
				}
				if share := float64(res.Counters.DeviceBytes) / res.Touched(); tc.ops > 100 && (share < want-0.01 || share > want+readAhead) {
					t.Errorf("the device delivered %.4f of the pages", share)
				}
				if tc.ops > 100 && (res.ColdReads < want-0.01 || res.ColdReads > want+0.01) {
					t.Errorf("%.4f are said to be cold", res.ColdReads)
				}
			})
		}
	}
}

// Resident slots are drawn with replacement from the first part of the file, cold ones without from the rest.
func TestMixedDraws(t *testing.T) {
	s := testSuite(t, "SIZE=128MiB") // several epochs in a short run
	const border = 64 << 20
	var sp spans
	st := fake{read: func(o *fakeOpened, rg strategy.Range, p []byte) ([]byte, error) {
		sp.mu.Lock()
		sp.seen = append(sp.seen, rg)
		sp.mu.Unlock()
		_, err := unix.Pread(int(o.fd.Fd()), p[:rg.N], rg.Off)
		return p[:rg.N], err
	}}
	r, err := s.open(randomRow(s, st, "mixed50", 2))
	if err != nil {
		t.Fatal(err)
	}
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
			slot := rg.Off / r.Geometry.SlotSize
			switch {
			case rg.Off+int64(rg.N) <= border:
				hot++
			case rg.Off < border:
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
	s := testSuite(t, "SIZE=64MiB")
	_, err := s.open(randomRow(s, strategies.MmapRandom(), "mixed50", 128))
	wantError(t, err, "take a file of")
	row := scanRow(strategies.Pread(), "mixed10", 1, 4, 4096)
	_, scanErr := s.open(row)
	wantError(t, scanErr, "random reads only")
	for _, err := range []error{err, scanErr} {
		if !errors.Is(err, strategy.ErrUnsupported) {
			t.Errorf("it is no reason to skip: %v", err)
		}
	}
}
