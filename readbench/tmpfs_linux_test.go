package readbench

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/pagecache"
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
	if !pagecache.InMemory(s.File().control) {
		t.Skip("/dev/shm is no tmpfs")
	}
	return s
}

// Hot rows need no evicting on tmpfs, and are measured; all others are skipped, with the cause and the remedy in one sentence that
// begins with their own case.
func TestTmpfs(t *testing.T) {
	s := onTmpfs(t)
	for _, strategy := range []Strategy{Pread(), ReadAt(), Mmap(), MmapRandomPrefetch(), Null()} {
		t.Run("hot "+strategy.Name(), func(t *testing.T) {
			row := randomRow(s, strategy, "hot", 2)
			if strategy.Name() == "null" {
				row.Effect = EffectNone
			}
			res, err := measureRow(t, s, row, 50)
			if err != nil {
				t.Fatal(err)
			}
			if res.counters.DeviceBytes != 0 || row.Effect == EffectRead && res.after.Resident != res.after.Pages {
				t.Errorf("the device delivered %d bytes, %v", res.counters.DeviceBytes, res.after)
			}
		})
	}
	for _, tc := range []struct {
		pageCase string
		strategy Strategy
		want     string
	}{
		{"cold", Pread(), "cold: evicting"},
		{"cold", MmapRandom(), "cold: evicting"},
		{"mixed50", Pread(), "mixed50: evicting"},
		{"pressure200", Pread(), "pressure200: evicting"},
		{"hot", PreadDirect(), "a direct read of"},
	} {
		t.Run(tc.pageCase+" "+tc.strategy.Name(), func(t *testing.T) {
			r, err := s.open(randomRow(s, tc.strategy, tc.pageCase, 1))
			if err == nil {
				r.close()
				t.Fatal("it runs")
			}
			text := err.Error()
			if !errors.Is(err, ErrUnsupported) || !strings.HasPrefix(text, tc.want) || !strings.Contains(text, "tmpfs") || !strings.Contains(text, "; use ") {
				t.Errorf("%q is no reason to skip that begins with %q", text, tc.want)
			}
			for _, bad := range []string{"\n", "unsupported", "hot: cold", tc.pageCase + ": " + tc.pageCase} {
				if strings.Contains(text, bad) {
					t.Errorf("%q has %q", text, bad)
				}
			}
		})
	}
	fault := randomRow(s, Mmap(), "hot", 1)
	fault.Effect, fault.Predrawn, fault.Batch, fault.MaxRange = EffectFault, true, 1, 64<<10
	fault.Op = func(w *Worker) (func() error, error) { return func() error { return nil }, nil }
	_, err := s.open(fault)
	wantError(t, err, "as large as they were written")
	if !errors.Is(err, ErrUnsupported) {
		t.Errorf("%v is no reason to skip", err)
	}
}

// A hot row on tmpfs whose pages were swapped out meanwhile fails, even if no device is said to have delivered any.
func TestTmpfsSwappedOut(t *testing.T) {
	s := onTmpfs(t)
	r, err := s.open(randomRow(s, Pread(), "hot", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	var res *result
	benchmarkN(t, 10, func(b *testing.B) { res, err = r.measure(b) })
	if err := errors.Join(err, r.state.judge(res)); err != nil {
		t.Fatal(err)
	}
	res.after.Resident--
	wantError(t, r.state.judge(res), "swapped out")
}

// The harness alone reads nothing, and does not care whether the kernel tells what is resident.
func TestNullAsksForNoResidency(t *testing.T) {
	s := testSuite(t)
	silent, _, err := os.Pipe() // whose residency nobody tells
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	control := s.File().control
	s.File().control = silent
	defer func() { s.File().control = control }()
	for _, pageCase := range []string{"hot", "cold", "mixed50"} {
		row := randomRow(s, Null(), pageCase, 1)
		row.Effect = EffectNone
		if _, err := measureRow(t, s, row, 10); err != nil {
			t.Errorf("%s: %v", pageCase, err)
		}
	}
}
