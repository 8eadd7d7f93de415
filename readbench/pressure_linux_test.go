package readbench

import (
	"errors"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/readbench/suite/internal/memlimit"
	"github.com/readbench/suite/internal/pagecache"
)

// Names of pressure cases have a whole number above 100, written in one way.
func TestParsePressure(t *testing.T) {
	for name, want := range map[string]int{"pressure101": 101, "pressure110": 110, "pressure10000": 10000, "pressure100": 0, "pressure": 0, "pressure0110": 0, "pressure+110": 0, "pressure10001": 0, "pressure1e3": 0, "mixed10": 0} {
		c, ok := parsePressure(name)
		if ok != (want > 0) || ok && (c.percent != want || c.name() != name) {
			t.Errorf("%q: %v, %v", name, c, ok)
		}
	}
}

// Data is the percentage of the page cache that is left for it: of the whole file, or of what LIMIT leaves.
func TestPressurePlan(t *testing.T) {
	f := &File{path: "data.bin", size: 8 << 30, page: 4096}
	for _, tc := range []struct {
		percent     int
		limit       Size
		data, cache float64 // GiB; 0 if the file is too small
	}{
		{110, 0, 8, 8 / 1.1}, {200, 0, 8, 4}, {110, 4 << 30, 4.4, 4}, {200, 4 << 30, 8, 4}, {201, 4 << 30, 0, 0}, {110, 1 << 20, 1.1 / 1024, 1. / 1024},
	} {
		data, cache, err := pressureCase{tc.percent}.plan(files{f}, tc.limit)
		if (err != nil) != (tc.data == 0) {
			t.Fatalf("pressure%d, LIMIT=%v: %v", tc.percent, tc.limit, err)
		}
		if err != nil {
			wantError(t, err, "set READBENCH_SIZE to")
			if !errors.Is(err, ErrUnsupported) {
				t.Error("it is no reason to skip")
			}
			continue
		}
		const gib = 1 << 30
		if math.Abs(float64(data)-tc.data*gib) > 256*4096 || math.Abs(float64(cache)-tc.cache*gib) > 4096 || data%4096 != 0 || cache%4096 != 0 || data > f.size {
			t.Errorf("pressure%d, LIMIT=%v: %d bytes of data, %d of page cache", tc.percent, tc.limit, data, cache)
		}
	}
}

// pressed measures a row under pressure; what cannot be limited here is skipped.
func pressed(t *testing.T, row Row, s *Suite, spoil func(*running) error) (*result, error) {
	t.Helper()
	r, err := s.open(row)
	if err != nil {
		var small *memlimit.TooSmallError
		if errors.Is(err, ErrUnsupported) || errors.As(err, &small) && small.Own > testSize { // the race detector's memory
			t.Skip(err)
		}
		return nil, err
	}
	dir := ""
	if g := r.state.(*pressureState).group; g != nil {
		dir = g.Dir()
	}
	state := r.state
	r.state = &lookingState{state, func() error { return spoil(r) }}
	var res *result
	benchmarkN(t, 300, func(b *testing.B) {
		if res, err = r.measure(b); err == nil {
			err = errors.Join(state.judge(res), res.judgeSyscalls())
		}
	})
	r.state = state
	if err := r.close(); err != nil {
		t.Error(err)
	}
	if dir != "" {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", dir, err)
		}
	}
	return res, err
}

func leaveAlone(*running) error { return nil }

// Of data twice as large as its memory half is resident, before and after, and the device delivers the other half of the
// reads, for mappings and descriptors, for one thread and several. Afterwards the group is gone.
func TestPressure(t *testing.T) {
	for _, tc := range []struct {
		pageCase string
		settings []string
		data     int64
		resident float64
	}{
		{"pressure200", nil, testSize, 0.5},
		{"pressure125", []string{"LIMIT=192MiB"}, 192 << 20 / 100 * 125, 0.8},
	} {
		for _, strategy := range []Strategy{MmapRandom(), MmapRandomPrefetch(), PreadRandom()} {
			for _, threads := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s/%s/T%d", tc.pageCase, strategy.Name(), threads), func(t *testing.T) {
					s := testSuite(t, tc.settings...)
					row := randomRow(s, strategy, tc.pageCase, threads)
					res, err := pressed(t, row, s, leaveAlone)
					if err != nil {
						t.Fatal(err)
					}
					if res.fileSize < tc.data-256*4096 || res.fileSize > tc.data {
						t.Errorf("%d bytes of data, want %d", res.fileSize, tc.data)
					}
					for _, r := range []pagecache.Residency{res.before, res.after} {
						if share := r.Share(); share < tc.resident-0.05 || share > tc.resident+0.05 {
							t.Errorf("%v, want %.2f", r, tc.resident)
						}
					}
					if cold := float64(res.counters.DeviceBytes) / res.touched(); cold < 1-tc.resident-0.1 || cold > 1-tc.resident+0.1 {
						t.Errorf("%.3f of the pages were delivered by the device", cold)
					}
					if res.groupFile != 0 && (res.groupFile < 0.95 || res.groupFile > 1.05) {
						t.Errorf("the group holds %.2f of the page cache that it was made for", res.groupFile)
					}
				})
			}
		}
	}
}

// A row whose pages are not held to the limit is failed, not reported.
func TestPressureIsPressure(t *testing.T) {
	s := testSuite(t)
	_, err := pressed(t, randomRow(s, Pread(), "pressure200", 1), s, func(r *running) error {
		g := r.state.(*lookingState).caseState.(*pressureState).group
		if g == nil {
			t.Skip("there is no group, whose limit could be lifted")
		}
		return errors.Join(g.Limit(1<<30), pagecache.ReadThrough(t.Context(), r.files[0].control, r.files[0].size))
	})
	wantError(t, err, "charged to somebody else")
}

// Direct reads are device reads under pressure, too; scans go round; a row that reads nothing needs no group.
func TestPressureOfOtherRows(t *testing.T) {
	s := testSuite(t)
	for _, row := range []Row{
		randomRow(s, PreadDirect(), "pressure300", 2),
		scanRow(Pread(), "pressure300", 2, 16, 64<<10),
	} {
		if _, err := pressed(t, row, s, leaveAlone); err != nil {
			t.Errorf("%s: %v", row.Strategy.Name(), err)
		}
	}
	null := randomRow(s, Null(), "pressure300", 1)
	null.Effect = EffectNone
	if _, err := measureRow(t, s, null, 100); err != nil {
		t.Error(err)
	}
	hint := predrawnRow(hinter(willNeedAll), "pressure300", 1, 1, EffectHint)
	_, err := s.open(hint)
	wantError(t, err, "reads only")
}

// A limit below what the process needs is refused with what would work.
func TestPressureTooSmall(t *testing.T) {
	if _, err := memlimit.Find("/"); err != nil {
		t.Skip(err)
	}
	s := testSuite(t)
	_, err := s.open(randomRow(s, Pread(), "pressure1000", 1)) // 26 MB
	if errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	}
	wantError(t, err, "would work (READBENCH_SIZE")
	var small *memlimit.TooSmallError
	if !errors.As(err, &small) {
		t.Error("the number that would work is not in the error")
	}
}
