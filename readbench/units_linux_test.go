package readbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/memlimit"
	"github.com/readbench/suite/internal/testfile"
)

// The tests' units are records of 4,000 bytes, side by side in two files, so most of them lie in two pages.
const (
	record      = 4000
	recordsFile = 80 << 20
	records     = recordsFile / record // in each file
)

// recordsSuite returns a suite on two files of records, and what they should hold.
func recordsSuite(t *testing.T, settings ...string) (*Suite, []datafile.Content) {
	t.Helper()
	dir := t.TempDir()
	testfile.RequireDisk(t, dir)
	environ := []string{EnvPrefix + "WARMUP=0s"}
	for _, s := range settings {
		environ = append(environ, EnvPrefix+s)
	}
	c, err := Load(environ)
	if err != nil {
		t.Fatal(err)
	}
	var contents []datafile.Content
	s, err := NewSuiteFiles(t.Context(), c, io.Discard, func(ctx context.Context, c *Config) (fs []*File, err error) {
		for seed := range uint64(2) {
			path := filepath.Join(dir, fmt.Sprint(seed))
			_, err := datafile.Create(ctx, datafile.Spec{Path: path, Size: recordsFile, Seed: seed})
			if err != nil {
				return nil, err
			}
			f, err := OpenUnchecked(path)
			if err != nil {
				return nil, err
			}
			contents = append(contents, datafile.New(seed))
			fs = append(fs, f)
		}
		return fs, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, contents
}

// recordsRow draws records, of both files, and reads and checks them; saw is told of each.
func recordsRow(strategy Strategy, pageCase string, threads int, contents []datafile.Content, saw func(w *Worker, unit int64)) Row {
	const batch = 4
	return Row{
		Strategy: strategy, Case: pageCase, Threads: threads,
		Units: 2 * records, Batch: batch, MaxRange: record,
		Op: func(w *Worker) (func() error, error) {
			units := make([]int64, batch)
			var file int
			r := make([]Range, 1)
			check := func(_ int, p []byte) error { return contents[file].Explain(p, r[0].Off) }
			return func() error {
				for rest := units; len(rest) > 0; {
					n, err := w.DrawUnits(rest)
					if err != nil {
						return err
					}
					for _, unit := range rest[:n] {
						file, r[0] = int(unit/records), Range{unit % records * record, record}
						if err := errors.Join(w.Prefetch(file, r), w.Fetch(file, r, check)); err != nil {
							return err
						}
						saw(w, unit)
					}
					rest = rest[n:]
				}
				return nil
			}, nil
		},
	}
}

// Units of several files are read by any strategy, with the evidence of any row: hot without the device; cold no unit
// twice between two evictions, and all of it from the device; under pressure too.
func TestUnits(t *testing.T) {
	for _, strategy := range []Strategy{Pread(), MmapRandomPrefetch(), UringDirect(EngineRing)} {
		for _, pageCase := range []string{"hot", "cold"} {
			t.Run(strategy.Name()+"/"+pageCase, func(t *testing.T) {
				s, contents := recordsSuite(t)
				var mu sync.Mutex
				seen := map[[2]int64]bool{}
				var again int
				var files [2]int64
				row := recordsRow(strategy, pageCase, 2, contents, func(w *Worker, unit int64) {
					mu.Lock()
					defer mu.Unlock()
					files[unit/records]++
					if pageCase == "hot" {
						return // memory for what was seen would fault
					}
					key := [2]int64{w.run.epoch, unit}
					if seen[key] {
						again++
					}
					seen[key] = true
				})
				const ops = 2000
				res, err := measureRow(t, s, row, ops)
				if err != nil {
					t.Fatal(err)
				}
				if n := int64(res.ops) * 4; res.ranges() != n || res.bytes() != n*record || res.touched() < float64(n*record) || res.touched() > float64(2*n*4096) {
					t.Errorf("%d ops of 4 ranges: %d ranges of %d bytes, whose pages have %.0f", res.ops, res.ranges(), res.bytes(), res.touched())
				}
				if again > 0 {
					t.Errorf("%d units came twice in an epoch", again)
				}
				if files[0] < ops || files[1] < ops {
					t.Errorf("%d and %d reads of the two files", files[0], files[1])
				}
			})
		}
	}
}

func TestUnitsUnderPressure(t *testing.T) {
	s, contents := recordsSuite(t)
	row := recordsRow(MmapRandom(), "pressure200", 1, contents, func(*Worker, int64) {})
	_, err := pressed(t, row, s, func(*running) error { return nil })
	var small *memlimit.TooSmallError
	if errors.As(err, &small) { // the race detector's memory
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.config.Limit = 1 << 20
	if _, err := s.open(row); !errors.Is(err, ErrUnsupported) {
		t.Errorf("LIMIT with files of the workload's own: %v", err)
	}
}

// A hot row of units whose pages are not there fails as any other does, and so does one whose op finds wrong content.
func TestUnitsThatLie(t *testing.T) {
	s, contents := recordsSuite(t)
	slices.Reverse(contents)
	_, err := measureRow(t, s, recordsRow(Pread(), "hot", 1, contents, func(*Worker, int64) {}), 10)
	if err == nil {
		t.Error("wrong content was not found")
	}
	slices.Reverse(contents)
	evict := coldPages{&running{suite: s, files: s.files}}
	n := 0
	row := recordsRow(Pread(), "hot", 1, contents, func(*Worker, int64) {
		if n++; n%40 == 0 {
			if err := evict.evict(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
	_, err = measureRow(t, s, row, 200)
	wantError(t, err, "in a hot row")
	_, err = s.open(recordsRow(Pread(), "mixed10", 1, contents, nil))
	wantError(t, err, "places that the core draws")
	_, err = s.open(randomRow(s, Pread(), "hot", 1))
	wantError(t, err, "without Units")
}

// A driven row works when its Drive says so, be it not at all, and measures each period on its own.
func TestDrive(t *testing.T) {
	s, contents := recordsSuite(t)
	var ops atomic.Int64
	row := recordsRow(Pread(), "hot", 3, contents, func(*Worker, int64) { ops.Add(1) })
	var periods []Period
	row.Drive = func(_ int, s *Session) error {
		for _, want := range []int64{100, 0, 7} {
			var left atomic.Int64
			left.Store(want)
			p, err := s.Period(func(int) bool { return left.Add(-1) >= 0 }, func() {})
			if err != nil {
				return err
			}
			if s.last.ops != int(want) || s.last.ranges() != 4*want {
				return fmt.Errorf("a period of %d ops has evidence of %d ops with %d ranges", want, s.last.ops, s.last.ranges())
			}
			periods = append(periods, p)
		}
		return nil
	}
	r, err := s.open(row)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	benchmarkN(t, 5, func(b *testing.B) {
		if err := r.call(b); err != nil {
			t.Error(err)
		}
	})
	if len(periods) != 3 || ops.Load() != 4*107 {
		t.Errorf("periods %v, %d reads", periods, ops.Load())
	}

	// A worker that fails has the others, who wait for work, told.
	cancelled := make(chan struct{})
	row.Op = func(w *Worker) (func() error, error) {
		return func() error {
			if w.ID == 0 {
				return errors.New("broken")
			}
			return nil
		}, nil
	}
	row.Drive = func(_ int, s *Session) error {
		_, err := s.Period(func(worker int) bool {
			if worker > 0 {
				<-cancelled
			}
			return worker == 0
		}, func() { close(cancelled) })
		return err
	}
	failing, err := s.open(row)
	if err != nil {
		t.Fatal(err)
	}
	defer failing.close()
	benchmarkN(t, 5, func(b *testing.B) { err = failing.call(b) })
	wantError(t, err, "broken")
}

// A workload's own metrics stand in its row.
type countingExtra struct{ resets, reports int }

func (e *countingExtra) Reset() { e.resets++ }

func (e *countingExtra) Report(ops int, elapsed time.Duration, report func(float64, string)) error {
	e.reports++
	report(float64(ops), "own-ops")
	return nil
}

func TestExtra(t *testing.T) {
	s, contents := recordsSuite(t)
	extra := &countingExtra{}
	row := recordsRow(Pread(), "hot", 1, contents, func(*Worker, int64) {})
	row.Extra = extra
	r, err := s.open(row)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	result := testing.Benchmark(func(b *testing.B) {
		if err := r.call(b); err != nil {
			t.Error(err)
		}
	})
	if got := result.Extra["own-ops"]; got != float64(result.N) || extra.resets != extra.reports || extra.reports == 0 {
		t.Errorf("%v own ops of %d; %+v", got, result.N, extra)
	}
	if result.Extra["MB/s"] == 0 {
		t.Error("no MB/s")
	}
}

// Files of a workload's own are regular, not empty, and not set by FILE or SIZE.
func TestOpenUnchecked(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe := empty + "-pipe"
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "it is a named pipe", empty: "0 bytes", t.TempDir(): "not a regular file", empty + "x": "no such file"} {
		_, err := OpenUnchecked(path)
		wantError(t, err, want)
	}
	for _, env := range []string{"READBENCH_FILE=/x", "READBENCH_SIZE=1GiB"} {
		c, err := Load([]string{env})
		if err != nil {
			t.Fatal(err)
		}
		_, err = NewSuiteFiles(t.Context(), c, io.Discard, nil)
		wantError(t, err, "files of its own")
	}
}
