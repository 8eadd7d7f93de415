package readbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/cases"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

func scanRow(st strategy.Strategy, pageCase string, threads, reads, size int) Row {
	return Row{Strategy: st, Case: pageCase, Threads: threads, Order: strategy.OrderSequential, Batch: reads, MaxRange: size}
}

// scanLog is what the readers of a scan were asked for and told, in order, each in a log of its own.
type scanLog struct {
	mu   sync.Mutex
	logs [][]string
}

type logReader struct {
	log *scanLog
	id  int
	fd  int
	buf []byte
}

func (r *logReader) note(format string, args ...any) {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	r.log.logs[r.id] = append(r.log.logs[r.id], fmt.Sprintf(format, args...))
}

func (r *logReader) Read(rg strategy.Range) ([]byte, error) {
	r.note("%d", rg.Off/int64(rg.N))
	_, err := unix.Pread(r.fd, r.buf[:rg.N], rg.Off)
	return r.buf[:rg.N], err
}

func (r *logReader) Forget() { r.note("forget") }

type logOpened struct {
	fd    *os.File
	log   *scanLog
	setup strategy.Setup
}

func (o *logOpened) Reader(id int) (strategy.Reader, error) {
	return &logReader{log: o.log, id: id, fd: int(o.fd.Fd()), buf: make([]byte, o.setup.MaxRange)}, nil
}
func (o *logOpened) Close() error { return o.fd.Close() }

func (l *scanLog) Name() string { return "log" }
func (l *scanLog) Open(f *strategy.File, s strategy.Setup) (strategy.Opened, error) {
	fd, err := f.Open(0)
	l.logs = make([][]string, s.Threads)
	return &logOpened{fd, l, s}, err
}

// The cursor goes through the worker's stripe read by read, lives on from op to op and from call to call, and starts
// over at the end: cold, only after the file was evicted, which the reader is told before the next read.
func TestScanOrder(t *testing.T) {
	const size, reads = 16 << 20, 7 // 7 is no divisor of the stripe's 16 or 8 reads of 1 MiB: ops go over the end
	path := exclusive(t, size)
	for _, pageCase := range []string{"hot", "cold"} {
		for _, threads := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/T%d", pageCase, threads), func(t *testing.T) {
				s := testSuiteOn(t, path)
				log := new(scanLog)
				r, err := s.open(scanRow(log, pageCase, threads, reads, 1<<20))
				if err != nil {
					t.Fatal(err)
				}
				stripe := size >> 20 / threads
				for call := range 3 {
					benchmarkN(t, 5, func(b *testing.B) { _, err = r.measure(b) })
					if err != nil {
						t.Fatal(err)
					}
					for id, got := range log.logs {
						if first := got[0] == "forget"; call == 0 && pageCase == "cold" && !first {
							t.Errorf("worker %d was not told that the file was evicted", id)
						}
					}
				}
				for id, got := range log.logs {
					at := 0
					for i, what := range got {
						if what == "forget" {
							continue
						}
						if want := fmt.Sprint(id*stripe + at%stripe); what != want {
							t.Fatalf("worker %d: read %d is of %s, want %s: %v", id, i, what, want, got)
						}
						if startsOver := at > 0 && at%stripe == 0; startsOver && (got[i-1] == "forget") != (pageCase == "cold") {
							t.Errorf("worker %d starts over; before that: %s", id, got[i-1])
						}
						at++
					}
					if at%reads != 0 || at < 3*reads {
						t.Errorf("worker %d: %d reads", id, at)
					}
					if told := slices.Contains(got, "forget"); told != (pageCase == "cold") {
						t.Errorf("worker %d was told of evictions: %v", id, told)
					}
				}
				if err := r.close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A cold scan meets no page that an earlier round or call left: whenever it is about to begin, nothing is resident.
func TestColdScanStartsEvicted(t *testing.T) {
	path := exclusive(t, 16<<20)
	s := testSuiteOn(t, path)
	r, err := s.open(scanRow(strategies.Pread(), "cold", 2, 5, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	r.state = &lookingState{r.state, func() error {
		looks++
		resident, err := pagecache.Resident(s.files[0].Control, 0, s.files.Size())
		if err == nil && resident.Share() > mayStay {
			err = fmt.Errorf("a scan begins with %v", resident)
		}
		return err
	}}
	var res *result.Result
	benchmarkN(t, 20, func(b *testing.B) { res, err = r.measure(b) })
	if err := errors.Join(err, r.close()); err != nil {
		t.Fatal(err)
	}
	if rounds := int(res.Ranges()) / 16; looks < rounds {
		t.Errorf("%d rounds of the file, it was evicted %d times", rounds, looks)
	}
	if per := float64(res.Counters.DeviceBytes) / float64(res.Bytes()); per < 0.99 {
		t.Errorf("the device delivered %.3f bytes for each that was read", per)
	}
}

// lookingState looks at the file after it was brought into its state.
type lookingState struct {
	cases.State
	look func() error
}

func (s *lookingState) Restore(ctx context.Context, when cases.Moment) error {
	return errors.Join(s.State.Restore(ctx, when), s.look())
}

func (s *lookingState) Close() error {
	if c, ok := s.State.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// What each strategy makes the kernel do in a scan: who reads ahead, who hints, and that no byte is hinted twice.
func TestScansCount(t *testing.T) {
	const size, reads, readSize = 64 << 20, 16, 64 << 10
	const hintPiece = 128 << 10 // how much one hint asks for at the most
	path := exclusive(t, size)
	page := os.Getpagesize()
	pages := float64(readSize / page)
	for _, tc := range []struct {
		s                   strategy.Strategy
		pageCase            string
		faults              [2]float64 // major faults a read: least and most
		kind                string     // of the hints
		hints, kernelsBytes bool       // whether there are hints; whether the kernel may read more than was asked for
	}{
		{strategies.MmapRandom(), "cold", [2]float64{0.9 * pages, pages}, "madvise", false, false},
		{strategies.MmapRandomPrefetch(), "cold", [2]float64{0, 0.5}, "madvise", true, false},
		{strategies.MmapRandomWindow(), "cold", [2]float64{0, 0.5}, "madvise", true, true},
		{strategies.Mmap(), "cold", [2]float64{0, pages}, "madvise", false, true},
		{strategies.MmapSequential(), "cold", [2]float64{0, pages}, "madvise", false, true},
		{strategies.Pread(), "cold", [2]float64{0, 0.5}, "fadvise", false, true},
		{strategies.PreadSequential(), "cold", [2]float64{0, 0.5}, "fadvise", false, true},
		{strategies.PreadRandom(), "cold", [2]float64{0, 0.5}, "fadvise", false, false},
		{strategies.PreadWindow(), "cold", [2]float64{0, 0.5}, "fadvise", true, true},
		{strategies.PreadDirect(), "cold", [2]float64{0, 0.5}, "fadvise", false, false},
		{strategies.MmapRandomWindow(), "hot", [2]float64{0, 0.1}, "madvise", true, false},
		{strategies.PreadWindow(), "hot", [2]float64{0, 0.1}, "fadvise", true, false},
	} {
		for _, threads := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/%s/T%d", tc.s.Name(), tc.pageCase, threads), func(t *testing.T) {
				s := testSuiteOn(t, path, "WINDOW=1MiB")
				res, err := measureRow(t, s, scanRow(tc.s, tc.pageCase, threads, reads, readSize), 80) // 80 MiB: more than once through the file
				if err != nil {
					t.Fatal(err)
				}
				n := float64(res.Ranges())
				if faults := float64(res.Counters.MajorFaults) / n; faults < tc.faults[0] || faults > tc.faults[1] {
					t.Errorf("%.2f major faults a read, want %v", faults, tc.faults)
				}
				// A window hints 1 MiB more than is read, at each start.
				hints, starts := float64(res.Counts.Calls[tc.kind]), float64(threads*(res.Intervals+1))
				most := n + starts*(1<<20)/hintPiece
				if tc.hints && (hints < 0.9*n || hints > most) || !tc.hints && hints != 0 {
					t.Errorf("%.0f hints in %.0f reads, want at most %.0f", hints, n, most)
				}
				if per := float64(res.Counters.DeviceBytes) / float64(res.Bytes()); tc.pageCase == "cold" && !tc.kernelsBytes && per > 1.01 {
					t.Errorf("%.3f bytes were delivered for each that was read: who read ahead?", per)
				}
			})
		}
	}
}

// Long ranges are hinted in pieces that the kernel does not cut: a batch of them leaves no page to fault alone.
func TestLongHints(t *testing.T) {
	s := testSuite(t)
	for _, tc := range []struct{ size, hints int }{{16 << 10, 1}, {128 << 10, 1}, {1 << 20, 8}, {1<<20 + 1, 9}} {
		res, err := measureRow(t, s, scanRow(strategies.MmapRandomPrefetch(), "cold", 1, 4, tc.size), 3)
		if err != nil {
			t.Fatal(err)
		}
		hints := float64(res.Counts.Calls["madvise"]) / float64(res.Ranges())
		if hints < float64(tc.hints) || hints > float64(tc.hints)+1 || tc.size%4096 == 0 && hints != float64(tc.hints) {
			t.Errorf("ranges of %d: %.2f hints each, want %d", tc.size, hints, tc.hints)
		}
		if faults := float64(res.Counters.MajorFaults) / float64(res.Ranges()); faults > 0.5 {
			t.Errorf("ranges of %d: %.2f major faults each", tc.size, faults)
		}
	}
}

// A scan needs a read for each worker.
func TestScanRefused(t *testing.T) {
	for _, pageCase := range []string{"hot", "cold"} {
		s := testSuite(t, "SIZE=4MiB")
		_, err := s.open(scanRow(strategies.Pread(), pageCase, 5, 1, 1<<20))
		wantError(t, err, "too few for 5 places")
		if !errors.Is(err, strategy.ErrUnsupported) {
			t.Error("it is not skipped")
		}
	}
}
