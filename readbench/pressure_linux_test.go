package readbench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/memlimit"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// pressed measures a row under pressure; what cannot be limited here is skipped.
func pressed(t *testing.T, row Row, s *Suite, spoil func(*running) error) (*result.Result, error) {
	t.Helper()
	home := memoryGroup(t)
	r, err := s.open(row)
	if err != nil {
		var small *memlimit.TooSmallError
		if errors.Is(err, strategy.ErrUnsupported) || errors.As(err, &small) && small.Own > testSize { // the race detector's memory
			t.Skip(err)
		}
		return nil, err
	}
	dir := memoryGroup(t)
	state := r.state
	r.state = &lookingState{state, func() error { return spoil(r) }}
	var res *result.Result
	benchmarkN(t, 300, func(b *testing.B) {
		if res, err = r.measure(b); err == nil {
			err = errors.Join(state.Judge(res), res.JudgeSyscalls())
		}
	})
	r.state = state
	if err := r.close(); err != nil {
		t.Error(err)
	}
	if now := memoryGroup(t); now != home {
		t.Errorf("this process is in %s, and was in %s", now, home)
	}
	if dir != home {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", dir, err)
		}
	}
	return res, err
}

// memoryGroup is the directory of the control group by which this process's memory is counted, "" if there is none.
func memoryGroup(t *testing.T) string {
	t.Helper()
	c, err := memlimit.Find("/")
	if errors.Is(err, memlimit.ErrUnsupported) {
		return ""
	} else if err != nil {
		t.Fatal(err)
	}
	_, dir, ok := strings.Cut(c.String(), ", this process in ")
	if !ok {
		t.Fatalf("%v does not say in which group this process is", c)
	}
	return dir
}

// lift sets the limit of a group's memory, of either version of control groups, to so many bytes.
func lift(dir string, bytes int64) error {
	for _, name := range []string{"memory.memsw.limit_in_bytes", "memory.limit_in_bytes", "memory.max"} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := os.WriteFile(path, []byte(strconv.FormatInt(bytes, 10)), 0); err != nil {
			return err
		}
	}
	return nil
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
		for _, st := range []strategy.Strategy{strategies.MmapRandom(), strategies.MmapRandomPrefetch(), strategies.PreadRandom()} {
			for _, threads := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s/%s/T%d", tc.pageCase, st.Name(), threads), func(t *testing.T) {
					s := testSuite(t, tc.settings...)
					row := randomRow(s, st, tc.pageCase, threads)
					res, err := pressed(t, row, s, leaveAlone)
					if err != nil {
						t.Fatal(err)
					}
					if res.FileSize < tc.data-256*4096 || res.FileSize > tc.data {
						t.Errorf("%d bytes of data, want %d", res.FileSize, tc.data)
					}
					for _, r := range []pagecache.Residency{res.Before, res.After} {
						if share := r.Share(); share < tc.resident-0.05 || share > tc.resident+0.05 {
							t.Errorf("%v, want %.2f", r, tc.resident)
						}
					}
					if cold := float64(res.Counters.DeviceBytes) / res.Touched(); cold < 1-tc.resident-0.1 || cold > 1-tc.resident+0.1 {
						t.Errorf("%.3f of the pages were delivered by the device", cold)
					}
					if res.GroupFile != 0 && (res.GroupFile < 0.95 || res.GroupFile > 1.05) {
						t.Errorf("the group holds %.2f of the page cache that it was made for", res.GroupFile)
					}
				})
			}
		}
	}
}

// A row whose pages are not held to the limit is failed, not reported.
func TestPressureIsPressure(t *testing.T) {
	s := testSuite(t)
	home := memoryGroup(t)
	_, err := pressed(t, randomRow(s, strategies.Pread(), "pressure200", 1), s, func(r *running) error {
		group := memoryGroup(t)
		if group == home {
			t.Skip("there is no group, whose limit could be lifted")
		}
		return errors.Join(lift(group, 1<<30), pagecache.ReadThrough(t.Context(), r.Files[0].Control, r.Files[0].Size()))
	})
	wantError(t, err, "charged to somebody else")
}

// Direct reads are device reads under pressure, too; scans go round; a row that reads nothing needs no group.
func TestPressureOfOtherRows(t *testing.T) {
	s := testSuite(t)
	for _, row := range []Row{
		randomRow(s, strategies.PreadDirect(), "pressure300", 2),
		scanRow(strategies.Pread(), "pressure300", 2, 16, 64<<10),
	} {
		if _, err := pressed(t, row, s, leaveAlone); err != nil {
			t.Errorf("%s: %v", row.Strategy.Name(), err)
		}
	}
	null := randomRow(s, strategies.Null(), "pressure300", 1)
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
	_, err := s.open(randomRow(s, strategies.Pread(), "pressure1000", 1)) // 26 MB
	if errors.Is(err, strategy.ErrUnsupported) {
		t.Skip(err)
	}
	wantError(t, err, "would work (READBENCH_SIZE")
	var small *memlimit.TooSmallError
	if !errors.As(err, &small) {
		t.Error("the number that would work is not in the error")
	}
}
