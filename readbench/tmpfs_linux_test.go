package readbench

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// onTmpfs is a suite on a data file on tmpfs.
func onTmpfs(t *testing.T) *Suite {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "readbench")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "data.bin")
	if _, err := datafile.Create(t.Context(), datafile.Spec{Path: path, Size: 32 << 20, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	s := testSuiteOn(t, path)
	if !pagecache.InMemory(s.files[0].Control) {
		t.Skip("/dev/shm is no tmpfs")
	}
	return s
}

// Hot rows need no evicting on tmpfs, and are measured; all others are skipped, with the cause and the remedy in one sentence that
// begins with their own case.
func TestTmpfs(t *testing.T) {
	s := onTmpfs(t)
	for _, st := range []strategy.Strategy{strategies.Pread(), strategies.ReadAt(), strategies.Mmap(), strategies.MmapRandomPrefetch(), strategies.Null()} {
		t.Run("hot "+st.Name(), func(t *testing.T) {
			row := randomRow(s, st, "hot", 2)
			if st.Name() == "null" {
				row.Effect = EffectNone
			}
			res, err := measureRow(t, s, row, 50)
			if err != nil {
				t.Fatal(err)
			}
			if res.Counters.DeviceBytes != 0 || row.Effect == EffectRead && res.After.Resident != res.After.Pages {
				t.Errorf("the device delivered %d bytes, %v", res.Counters.DeviceBytes, res.After)
			}
		})
	}
	for _, tc := range []struct {
		pageCase string
		st       strategy.Strategy
		want     string
	}{
		{"cold", strategies.Pread(), "cold: "},
		{"cold", strategies.MmapRandom(), "cold: "},
		{"mixed50", strategies.Pread(), "mixed50: "},
		{"pressure200", strategies.Pread(), "pressure200: "},
		{"hot", strategies.PreadDirect(), "direct reads: "},
	} {
		t.Run(tc.pageCase+" "+tc.st.Name(), func(t *testing.T) {
			r, err := s.open(randomRow(s, tc.st, tc.pageCase, 1))
			if err == nil {
				r.close()
				t.Fatal("it runs")
			}
			text := err.Error()
			if !errors.Is(err, strategy.ErrUnsupported) || !strings.HasPrefix(text, tc.want) || !strings.Contains(text, "tmpfs") || !strings.Contains(text, "; use ") {
				t.Errorf("%q is no reason to skip that begins with %q", text, tc.want)
			}
			for _, bad := range []string{"\n", "unsupported", "hot: cold", tc.pageCase + ": " + tc.pageCase} {
				if strings.Contains(text, bad) {
					t.Errorf("%q has %q", text, bad)
				}
			}
		})
	}
	fault := randomRow(s, strategies.Mmap(), "hot", 1)
	fault.Effect, fault.Predrawn, fault.Batch, fault.MaxRange = EffectFault, true, 1, 64<<10
	fault.Op = func(w *Worker) (func() error, error) { return func() error { return nil }, nil }
	_, err := s.open(fault)
	wantError(t, err, "as large as they were written")
	if !errors.Is(err, strategy.ErrUnsupported) {
		t.Errorf("%v is no reason to skip", err)
	}
}

// A hot row on tmpfs whose pages were swapped out meanwhile fails, even if no device is said to have delivered any.
func TestTmpfsSwappedOut(t *testing.T) {
	s := onTmpfs(t)
	r, err := s.open(randomRow(s, strategies.Pread(), "hot", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	var res *result.Result
	benchmarkN(t, 10, func(b *testing.B) { res, err = r.measure(b) })
	if err := errors.Join(err, r.state.Judge(res)); err != nil {
		t.Fatal(err)
	}
	res.After.Resident--
	wantError(t, r.state.Judge(res), "swapped out")
}

// The harness alone reads nothing, and does not care whether the kernel tells what is resident.
func TestNullAsksForNoResidency(t *testing.T) {
	s := testSuite(t)
	silent, _, err := os.Pipe() // whose residency nobody tells
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	control := s.files[0].Control
	s.files[0].Control = silent
	defer func() { s.files[0].Control = control }()
	for _, pageCase := range []string{"hot", "cold", "mixed50"} {
		row := randomRow(s, strategies.Null(), pageCase, 1)
		row.Effect = EffectNone
		if _, err := measureRow(t, s, row, 10); err != nil {
			t.Errorf("%s: %v", pageCase, err)
		}
	}
}
