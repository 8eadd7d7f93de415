package readbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/readbench/suite/internal/cases"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// Between two evictions no page is asked for twice, by no worker; every read is inside the file; and the run
// goes on over several epochs.
func TestColdReadsNoPageTwice(t *testing.T) {
	for _, tc := range []struct {
		read    string
		threads int
	}{{"16KiB", 1}, {"16KiB", 4}, {"1000", 3}, {"4096", 2}} {
		t.Run(fmt.Sprintf("%s/T%d", tc.read, tc.threads), func(t *testing.T) {
			s := testSuite(t, "READ_SIZE="+tc.read, "SIZE=64MiB")
			var sp spans
			honest := fake{read: func(o *fakeOpened, rg strategy.Range, p []byte) ([]byte, error) {
				sp.mu.Lock()
				sp.seen = append(sp.seen, rg)
				sp.mu.Unlock()
				_, err := o.fd.ReadAt(p[:rg.N], rg.Off)
				return p[:rg.N], err
			}}
			r, err := s.open(randomRow(s, honest, "cold", tc.threads))
			if err != nil {
				t.Fatal(err)
			}
			r.state = &recordingState{State: r.state, sp: &sp}
			sp.seen = nil
			const ops, fewest = 800, 6 // of epochs
			var res *result.Result
			benchmarkN(t, ops, func(b *testing.B) { res, err = r.measure(b) })
			sp.next()
			if err := errors.Join(err, r.close()); err != nil {
				t.Fatal(err)
			}
			total, page := 0, int64(os.Getpagesize())
			for _, epoch := range sp.epochs {
				total += len(epoch)
				slices.SortFunc(epoch, func(a, b strategy.Range) int { return int(a.Off - b.Off) })
				for i, rg := range epoch {
					if rg.Off < 0 || rg.Off+int64(rg.N) > s.files.Size() {
						t.Fatalf("%v is outside the file", rg)
					}
					if i > 0 && (epoch[i-1].Off+int64(epoch[i-1].N)-1)/page >= rg.Off/page {
						t.Fatalf("%v and %v share a page", epoch[i-1], rg)
					}
				}
			}
			if want := int(res.Ranges()); total != want || res.Ops < ops || len(sp.epochs) < fewest {
				t.Errorf("%d reads in %d epochs, want %d in at least %d", total, len(sp.epochs), want, fewest)
			}
		})
	}
}

// recordingState notes where an epoch ends.
type recordingState struct {
	cases.State
	sp *spans
}

func (s *recordingState) Restore(ctx context.Context, when cases.Moment) error {
	s.sp.next()
	return s.State.Restore(ctx, when)
}

// An op that draws more at once than there may be in an epoch's share gets fewer, in place of waiting for ever.
func TestDrawTooMany(t *testing.T) {
	s := testSuite(t)
	row := randomRow(s, strategies.Pread(), "cold", 1)
	row.Op = func(w *Worker) (func() error, error) {
		ranges := make([]strategy.Range, row.Batch+1)
		return func() error {
			n, err := w.Draw(ranges)
			if err == nil && (n < 1 || n > row.Batch) {
				err = fmt.Errorf("%d ranges were drawn, at most %d may be", n, row.Batch)
			}
			for i := range ranges {
				ranges[i].N = row.MaxRange
			}
			return errors.Join(err, w.Read(ranges[:n]))
		}, nil
	}
	if _, err := measureRow(t, s, row, 10); err != nil {
		t.Error(err)
	}
}

// When epochs turn out to be so short that not every thread gets its share of one, the row ends: later ops make the device
// deliver what the pilot's did not, and there are too few reads in an epoch for an op.
func TestEpochsTooShort(t *testing.T) {
	s := testSuite(t, "READS_PER_OP=128")
	const pilot = 3
	ops := 0
	warming := fake{fakeOptions: &fakeOptions{prefetch: func(o *fakeOpened, _ []strategy.Range) error {
		if ops++; ops != pilot+1 {
			return nil
		}
		_, err := o.fd.ReadAt(make([]byte, s.files.Size()), 0)
		return err
	}}}
	r, err := s.open(randomRow(s, warming, "cold", 1))
	if err == nil {
		benchmarkN(t, 1000, func(b *testing.B) { _, err = r.measure(b) })
		err = errors.Join(err, r.close())
	}
	wantError(t, err, "would warm more than")
	if !errors.Is(err, strategy.ErrUnsupported) {
		t.Error("it is not a reason to skip")
	}
}
