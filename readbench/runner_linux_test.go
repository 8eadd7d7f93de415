package readbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readbench/suite/internal/cases"
	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/fadvise"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// exclusive is a file of its own, for tests that spoil it.
func exclusive(t *testing.T, size int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.bin")
	if _, err := datafile.Create(t.Context(), datafile.Spec{Path: path, Size: size, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	return path
}

// meeting is a strategy whose reads return only when all workers are inside one at the same time.
func meeting(parties int, inside func()) fake {
	var (
		mu      sync.Mutex
		waiting int
		open    = make(chan struct{})
	)
	return fake{read: func(o *fakeOpened, rg strategy.Range, p []byte) ([]byte, error) {
		mu.Lock()
		waiting++
		gate := open
		if waiting == parties {
			waiting, open = 0, make(chan struct{})
			inside()
			close(gate)
		}
		mu.Unlock()
		select {
		case <-gate:
		case <-time.After(20 * time.Second):
			return nil, errors.New("the other workers did not come")
		}
		return p[:rg.N], errDone
	}}
}

var errDone = errors.New("met")

// threads=T is T workers at once, with T processors or, if told so, with those of the caller.
func TestThreads(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	for _, threads := range []int{1, 3, 16} {
		for _, procs := range []config.Procs{config.ProcsThreads, config.ProcsInherit} {
			t.Run(fmt.Sprintf("%d/%s", threads, procs), func(t *testing.T) {
				s := testSuite(t, "PROCS="+string(procs))
				want := threads
				if procs == config.ProcsInherit {
					want = before
				}
				met := 0
				st := meeting(threads, func() {
					met++
					if got := runtime.GOMAXPROCS(0); got != want {
						t.Errorf("GOMAXPROCS is %d while measuring, want %d", got, want)
					}
				})
				r, err := s.open(randomRow(s, st, "hot", threads))
				if err != nil {
					t.Fatal(err)
				}
				const ops = 1 << 20 // enough for each worker, in whatever portions RunParallel hands them out
				benchmarkN(t, ops, func(b *testing.B) { _, err = r.measure(b) })
				wantError(t, err, errDone.Error())
				if met != 1 {
					t.Errorf("%d times all %d workers were reading, want once: the first error ends the call", met, threads)
				}
				if got := runtime.GOMAXPROCS(0); got != before {
					t.Errorf("after a failure GOMAXPROCS is %d, it was %d", got, before)
				}
				if err := r.close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// spans records which pages were read in which epoch.
type spans struct {
	mu     sync.Mutex
	seen   []strategy.Range
	epochs [][]strategy.Range
}

func (sp *spans) next() {
	if len(sp.seen) > 0 {
		sp.epochs = append(sp.epochs, sp.seen)
		sp.seen = nil
	}
}

// A file that is truncated while it is mapped fails the row and names the cause; the process lives.
func TestTruncatedWhileMapped(t *testing.T) {
	for _, st := range []strategy.Strategy{strategies.Mmap(), strategies.MmapRandomPrefetch(), strategies.Pread()} {
		t.Run(st.Name(), func(t *testing.T) {
			const size = 16 << 20
			path := exclusive(t, size)
			s := testSuiteOn(t, path)
			r, err := s.open(randomRow(s, st, "hot", 2))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, size/4); err != nil {
				t.Fatal(err)
			}
			more := 1000
			var mu sync.Mutex
			err = r.performEach(2, func() bool {
				mu.Lock()
				defer mu.Unlock()
				more--
				return more > 0
			})
			want := "truncated from 16777216 to 4194304 bytes while it was mapped"
			if st.Name() == "pread" {
				want = "end of file"
			}
			wantError(t, err, want)
			if err := r.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A hot row whose file was evicted behind its back is failed, not reported.
func TestHotIsHot(t *testing.T) {
	s := testSuite(t)
	r, err := s.open(randomRow(s, strategies.Pread(), "hot", 1))
	if err != nil {
		t.Fatal(err)
	}
	r.state = &spoiltState{r.state, func() error { return evict(t.Context(), r.Files, r.Opened) }}
	var res *result.Result
	benchmarkN(t, 10, func(b *testing.B) {
		if res, err = r.measure(b); err == nil {
			err = r.state.Judge(res)
		}
	})
	wantError(t, errors.Join(err, r.close()), "pages left the page cache while it ran")
}

// A hot row of a mapping whose pages are cached, but not entered into the page tables, is failed: it would
// measure faults.
func TestHotIsMapped(t *testing.T) {
	s := testSuite(t)
	r, err := s.open(randomRow(s, strategies.MmapRandom(), "hot", 1))
	if err != nil {
		t.Fatal(err)
	}
	// In folios of one page: few faults map a file of large ones, and few do not matter.
	fd, err := s.files[0].Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer fd.Close()
	if err := errors.Join(evict(t.Context(), r.Files, r.Opened), fadvise.Advise(fd, fadvise.Random), pagecache.Warm(t.Context(), fd, s.files.Size())); err != nil {
		t.Fatal(err)
	}
	r.state = &spoiltState{r.state, func() error { return r.Opened[0].(strategy.Mapper).Drop(0, s.files.Size()) }}
	var res *result.Result
	benchmarkN(t, 100, func(b *testing.B) {
		if res, err = r.measure(b); err == nil {
			err = r.state.Judge(res)
		}
	})
	wantError(t, errors.Join(err, r.close()), "they were not in the page tables")
}

// spoiltState does something to the file after it was brought into its state.
type spoiltState struct {
	cases.State
	spoil func() error
}

func (s *spoiltState) Restore(ctx context.Context, when cases.Moment) error {
	if err := s.State.Restore(ctx, when); err != nil {
		return err
	}
	return s.spoil()
}

// However few ops b.N asks for, each thread runs one; and no thread is idle for longer than the call takes.
func TestEachThreadWorks(t *testing.T) {
	for _, pageCase := range []string{"hot", "cold"} {
		for _, n := range []int{1, 5, 100} {
			const threads = 4
			s := testSuite(t)
			r, err := s.open(randomRow(s, strategies.Pread(), pageCase, threads))
			if err != nil {
				t.Fatal(err)
			}
			var res *result.Result
			benchmarkN(t, n, func(b *testing.B) { res, err = r.measure(b) })
			if err != nil {
				t.Fatal(err)
			}
			sum := 0
			for _, w := range r.workers {
				if w.done < 1 {
					t.Errorf("%s: a thread ran no op of %d", pageCase, n)
				}
				sum += w.done
			}
			if res.Ops != sum || sum < n || sum >= n+threads {
				t.Errorf("%s: %d ops, the threads ran %d, b.N is %d", pageCase, res.Ops, sum, n)
			}
			if res.Idle < 0 || res.Idle > threads*res.Elapsed {
				t.Errorf("%s: %v idle in %v of %d threads", pageCase, res.Idle, res.Elapsed, threads)
			}
			if err := r.close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// rings is how many rings of io_uring this process has open.
func rings(t *testing.T) (n int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if link, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.Contains(link, "io_uring") {
			n++
		}
	}
	return n
}

// An op, or a reader, that ends its goroutine ends the row with an error, and nothing waits for it. Its reader is closed.
func TestGoexit(t *testing.T) {
	for _, threads := range []int{1, 3} {
		for _, pageCase := range []string{"hot", "cold"} {
			s := testSuite(t)
			row := randomRow(s, strategies.Uring(strategies.EngineRing), pageCase, threads)
			row.Op = func(w *Worker) (func() error, error) {
				honest := w.ReadOp()
				return func() error {
					// in its first op, the only one that every worker is sure to run
					if err := honest(); err != nil || w.ID < threads-1 {
						return err
					}
					runtime.Goexit() // as b.Fatal does
					return nil
				}, nil
			}
			_, err := measureRow(t, s, row, 200)
			wantError(t, err, "has ended its goroutine")
			if n := rings(t); n > 0 {
				t.Errorf("%d rings are left", n)
			}
		}
	}
}

// What makes no sense together is refused when a row is opened, with the remedy.
func TestRowRefused(t *testing.T) {
	for _, tc := range []struct {
		name     string
		strategy strategy.Strategy
		settings []string
		pageCase string
		threads  int
		want     string
		skip     bool
	}{
		{"direct reads of an odd size", strategies.PreadDirect(), []string{"READ_SIZE=1000"}, "hot", 1, `READBENCH_READ_SIZE="1000": it is no multiple of`, false},
		{"a read as large as the file", strategies.Pread(), []string{"SIZE=64KiB", "READ_SIZE=65535"}, "hot", 1, "too few for 1 places of 69632; set READBENCH_SIZE to 68KiB or more", true},
		{"fewer places than ops have reads", strategies.Pread(), []string{"SIZE=1MiB"}, "cold", 16, "take a file of 5MiB or more (READBENCH_SIZE, or another READBENCH_FILE)", true},
		{"epochs too short for all threads", strategies.MmapPrefetch(), []string{"SIZE=2MiB"}, "cold", 4, "would warm more than", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := testSuite(t, tc.settings...)
			_, err := s.open(randomRow(s, tc.strategy, tc.pageCase, tc.threads))
			wantError(t, err, tc.want)
			if errors.Is(err, strategy.ErrUnsupported) != tc.skip {
				t.Errorf("skipped: %v, want %v", !tc.skip, tc.skip)
			}
		})
	}
}

// A file larger than the machine's memory cannot be hot, and is not read to find that out.
func TestHotNeedsMemory(t *testing.T) {
	s := testSuite(t)
	s.machine.Memory = testSize - 1
	_, err := s.open(randomRow(s, strategies.Pread(), "hot", 1))
	wantError(t, err, "of memory; set READBENCH_SIZE")
	if !errors.Is(err, strategy.ErrUnsupported) {
		t.Error("it is not skipped")
	}
}

// Names of rows are what benchstat can take apart.
func TestRowName(t *testing.T) {
	row := Row{Strategy: strategies.MmapRandomPrefetch(), Case: "cold", Threads: 16, Labels: []string{"read=16KiB"}}
	for procs, want := range map[config.Procs]string{
		config.ProcsThreads: "case=cold/read=16KiB/policy=always/threads=16",
		config.ProcsInherit: "case=cold/read=16KiB/policy=always/procs=inherit/threads=16",
	} {
		if name, err := row.name(procs); name != want || err != nil {
			t.Errorf("%q, %v; want %q", name, err, want)
		}
	}
	for _, label := range []string{"", "read", "=x", "read=", "a=b/c", "a=b c", "engine=v-2"} {
		row.Labels = []string{label}
		if name, err := row.name(config.ProcsThreads); err == nil {
			t.Errorf("label %q is accepted: %s", label, name)
		}
	}
}
