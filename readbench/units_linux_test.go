package readbench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/memlimit"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/testfile"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
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
	environ := []string{config.EnvPrefix + "WARMUP=0s"}
	for _, s := range settings {
		environ = append(environ, config.EnvPrefix+s)
	}
	c, err := Load(environ)
	if err != nil {
		t.Fatal(err)
	}
	var contents []datafile.Content
	fs, err := openFiles(t.Context(), c, func(ctx context.Context, c *config.Config) (paths []string, err error) {
		for seed := range uint64(2) {
			path := filepath.Join(dir, fmt.Sprint(seed))
			_, err := datafile.Create(ctx, datafile.Spec{Path: path, Size: recordsFile, Seed: seed})
			if err != nil {
				return nil, err
			}
			contents = append(contents, datafile.New(seed))
			paths = append(paths, path)
		}
		return paths, nil
	}, nil)
	if err != nil {
		t.Fatal(errors.Join(err, fs.Close()))
	}
	return suiteOf(t, c, fs...), contents
}

// recordsRow draws records, of both files, and reads and checks them; saw is told of each.
func recordsRow(st strategy.Strategy, pageCase string, threads int, contents []datafile.Content, saw func(w *Worker, unit int64)) Row {
	const batch = 4
	return Row{
		Strategy: st, Case: pageCase, Threads: threads,
		Units: 2 * records, Batch: batch, MaxRange: record,
		Op: func(w *Worker) (func() error, error) {
			units := make([]int64, batch)
			var file int
			r := make([]strategy.Range, 1)
			check := func(_ int, p []byte) error { return contents[file].Explain(p, r[0].Off) }
			return func() error {
				for rest := units; len(rest) > 0; {
					n, err := w.DrawUnits(rest)
					if err != nil {
						return err
					}
					for _, unit := range rest[:n] {
						file, r[0] = int(unit/records), strategy.Range{Off: unit % records * record, N: record}
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
	for _, st := range []strategy.Strategy{strategies.Pread(), strategies.MmapRandomPrefetch(), strategies.UringDirect(strategies.EngineRing)} {
		for _, pageCase := range []string{"hot", "cold"} {
			t.Run(st.Name()+"/"+pageCase, func(t *testing.T) {
				s, contents := recordsSuite(t)
				var mu sync.Mutex
				seen := map[[2]int64]bool{}
				var again int
				var reads [2]int64
				row := recordsRow(st, pageCase, 2, contents, func(w *Worker, unit int64) {
					mu.Lock()
					defer mu.Unlock()
					reads[unit/records]++
					if pageCase == "hot" {
						return // memory for what was seen would fault
					}
					key := [2]int64{w.crew.Evictions.N(), unit}
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
				if n := int64(res.Ops) * 4; res.Ranges() != n || res.Bytes() != n*record || res.Touched() < float64(n*record) || res.Touched() > float64(2*n*4096) {
					t.Errorf("%d ops of 4 ranges: %d ranges of %d bytes, whose pages have %.0f", res.Ops, res.Ranges(), res.Bytes(), res.Touched())
				}
				if again > 0 {
					t.Errorf("%d units came twice in an epoch", again)
				}
				if reads[0] < ops || reads[1] < ops {
					t.Errorf("%d and %d reads of the two files", reads[0], reads[1])
				}
			})
		}
	}
}

func TestUnitsUnderPressure(t *testing.T) {
	s, contents := recordsSuite(t)
	row := recordsRow(strategies.MmapRandom(), "pressure200", 1, contents, func(*Worker, int64) {})
	_, err := pressed(t, row, s, func(*running) error { return nil })
	var small *memlimit.TooSmallError
	if errors.As(err, &small) { // the race detector's memory
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.config.Limit = 1 << 20
	if _, err := s.open(row); !errors.Is(err, strategy.ErrUnsupported) {
		t.Errorf("LIMIT with files of the workload's own: %v", err)
	}
}

// A hot row of units whose pages are not there fails as any other does, and so does one whose op finds wrong content.
func TestUnitsThatLie(t *testing.T) {
	s, contents := recordsSuite(t)
	slices.Reverse(contents)
	_, err := measureRow(t, s, recordsRow(strategies.Pread(), "hot", 1, contents, func(*Worker, int64) {}), 10)
	if err == nil {
		t.Error("wrong content was not found")
	}
	slices.Reverse(contents)
	n := 0
	row := recordsRow(strategies.Pread(), "hot", 1, contents, func(*Worker, int64) {
		if n++; n%40 == 0 {
			if err := evict(context.Background(), s.files, nil); err != nil {
				t.Error(err)
			}
		}
	})
	_, err = measureRow(t, s, row, 200)
	wantError(t, err, "in a hot row")
	_, err = s.open(recordsRow(strategies.Pread(), "mixed10", 1, contents, nil))
	wantError(t, err, "places that the core draws")
	_, err = s.open(randomRow(s, strategies.Pread(), "hot", 1))
	wantError(t, err, "without Units")
}

// A driven row works when its Drive says so, be it not at all, and measures each period on its own.
func TestDrive(t *testing.T) {
	s, contents := recordsSuite(t)
	var ops atomic.Int64
	row := recordsRow(strategies.Pread(), "hot", 3, contents, func(*Worker, int64) { ops.Add(1) })
	var periods []Period
	row.Drive = func(_ int, s *Session) error {
		for _, want := range []int64{100, 0, 7} {
			var left atomic.Int64
			left.Store(want)
			p, err := s.Period(func(int) bool { return left.Add(-1) >= 0 }, func() {})
			if err != nil {
				return err
			}
			if last := s.run.(*running).last; last.Ops != int(want) || last.Ranges() != 4*want {
				return fmt.Errorf("a period of %d ops has evidence of %d ops with %d ranges", want, last.Ops, last.Ranges())
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
	row := recordsRow(strategies.Pread(), "hot", 1, contents, func(*Worker, int64) {})
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

// Files of a workload's own are not set by FILE or SIZE, and there are some.
func TestOwnFiles(t *testing.T) {
	for _, env := range []string{"READBENCH_FILE=/x", "READBENCH_SIZE=1GiB"} {
		c, err := Load([]string{env})
		if err != nil {
			t.Fatal(err)
		}
		_, err = openFiles(t.Context(), c, nil, nil)
		wantError(t, err, "files of its own")
		wantError(t, err, env[:len("READBENCH_FILE=")])
	}
	c, err := Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = openFiles(t.Context(), c, func(context.Context, *config.Config) ([]string, error) { return nil, nil }, nil)
	wantError(t, err, "no files to read")
}

// Direct reads of units may be smaller than what a device reads at a time: a reader is asked for no more than its Setup says, also when
// it is looked whether each file's reads reach a device.
func TestSmallUnitsDirect(t *testing.T) {
	s, contents := recordsSuite(t)
	for _, st := range []strategy.Strategy{strategies.PreadDirect(), strategies.UringDirect(strategies.EngineRing), strategies.UringDirectFixed(strategies.EngineRing)} {
		row := recordsRow(st, "cold", 1, contents, nil)
		row.MaxRange = 128
		row.Op = func(w *Worker) (func() error, error) {
			unit := make([]int64, 1)
			return func() error {
				if _, err := w.DrawUnits(unit); err != nil {
					return err
				}
				return w.Fetch(int(unit[0]/records), []strategy.Range{{Off: unit[0] % records * record, N: 128}}, func(int, []byte) error { return nil })
			}, nil
		}
		if _, err := measureRow(t, s, row, 20); err != nil {
			t.Errorf("%s: %v", st.Name(), err)
		}
	}
}

// A strategy whose reads of the second file reach no device is refused, too.
func TestDirectOfEachFile(t *testing.T) {
	s, contents := recordsSuite(t)
	lying := s.files[1].Path()
	st := fake{fakeOptions: &fakeOptions{direct: true}, read: func(o *fakeOpened, rg strategy.Range, p []byte) ([]byte, error) {
		if o.fd.Name() != lying {
			if err := unix.Fadvise(int(o.fd.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
				return nil, err
			}
		}
		_, err := o.fd.ReadAt(p[:rg.N], rg.Off)
		return p[:rg.N], err
	}}
	if err := pagecache.Warm(t.Context(), s.files[1].Control, s.files[1].Size()); err != nil {
		t.Fatal(err)
	}
	_, err := s.open(recordsRow(st, "hot", 1, contents, nil))
	wantError(t, err, "one of "+lying+" reached no device")
}
