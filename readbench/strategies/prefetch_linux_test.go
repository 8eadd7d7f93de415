package strategies_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/testfile"
	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/readtest"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// A prefetching strategy keeps the contract with every policy, one from outside included, and with every call that there is.
func TestPrefetching(t *testing.T) {
	for _, p := range append(prefetch.Policies(), everyOther{}) {
		t.Run(p.Name(), func(t *testing.T) { readtest.Test(t, strategies.Prefetching{Policy: p, Random: true}) })
	}
	t.Run("normal", func(t *testing.T) { readtest.Test(t, strategies.Prefetching{Policy: prefetch.Adaptive()}) })
	for _, s := range []strategies.Prefetching{
		{Policy: prefetch.Loaded(), Random: true, Probe: prefetch.Mincore, Hint: prefetch.Madvise},
		{Policy: prefetch.Loaded(), Random: true, Probe: prefetch.Cachestat, Hint: prefetch.ProcessMadvise},
		{Policy: prefetch.Always(), Random: true, Hint: prefetch.Fadvise},
	} {
		t.Run(string(s.Probe+"+")+string(s.Hint), func(t *testing.T) { readtest.Test(t, s) })
	}
}

func TestNamesAndLabels(t *testing.T) {
	for _, c := range []struct {
		s      strategy.Strategy
		name   string
		labels []string
	}{
		{strategies.Prefetching{Policy: prefetch.Backoff(), Random: true}, "mmap-random-prefetch", []string{"policy=backoff"}},
		{strategies.Prefetching{Policy: prefetch.None()}, "mmap-prefetch", []string{"policy=none"}},
		{strategies.Prefetching{Policy: prefetch.Loaded(), Probe: prefetch.Mincore, Hint: prefetch.Madvise}, "mmap-prefetch",
			[]string{"policy=loaded", "probe=mincore", "hint=madvise"}},
	} {
		if got := c.s.(strategy.Labeler).Labels(); c.s.Name() != c.name || !slices.Equal(got, c.labels) {
			t.Errorf("%s %v, want %s %v", c.s.Name(), got, c.name, c.labels)
		}
	}
}

// open makes a data file and opens a strategy on it.
func open(t *testing.T, s strategy.Strategy, threads int) (*files.File, strategy.Opened) {
	t.Helper()
	dir := t.TempDir()
	testfile.RequireDisk(t, dir)
	path := filepath.Join(dir, "data.bin")
	if _, err := datafile.Create(t.Context(), datafile.Spec{Path: path, Size: 4 << 20, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	f, err := files.Open(context.Background(), load(t, "FILE="+path), false)
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Open(f.File, strategy.Setup{Threads: threads, Batch: 16, MaxRange: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, o
}

// evict empties the page cache of the file.
func evict(t *testing.T, f *files.File, o strategy.Opened) {
	t.Helper()
	fd, err := f.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer fd.Close()
	if _, err := (pagecache.Evictor{Unmap: func() error { return o.(strategy.Mapper).Drop(0, f.Size()) }}).Evict(t.Context(), fd, f.Size()); err != nil {
		t.Fatal(err)
	}
}

// What the counters say is what happened: on an evicted file every probe misses and every miss is hinted, and
// then the pages are there; the same batch again is hit.
func TestCountsTellHitsFromMisses(t *testing.T) {
	for _, probe := range []prefetch.ProbeKind{prefetch.Cachestat, prefetch.Mincore} {
		for _, hint := range []prefetch.HintKind{prefetch.Fadvise, prefetch.Madvise, prefetch.ProcessMadvise} {
			t.Run(string(probe)+"+"+string(hint), func(t *testing.T) {
				s := strategies.Prefetching{Policy: prefetch.Loaded(), Random: true, Probe: probe, Hint: hint}
				f, o := open(t, s, 1)
				r, err := o.Reader(0)
				if err != nil {
					t.Fatal(err)
				}
				evict(t, f, o)
				batch := make([]strategy.Range, 16)
				for i, slot := range rand.New(rand.NewPCG(1, 1)).Perm(len(batch)) {
					batch[i] = strategy.Range{Off: int64(slot)*(256<<10) + 100, N: 16 << 10}
				}
				for round, missed := range []uint64{16, 0} {
					before := r.(strategy.Counter).Counts().Calls
					if err := r.(strategy.Prefetcher).Prefetch(batch); err != nil {
						t.Fatal(err)
					}
					for _, rg := range batch {
						p, err := r.Read(rg)
						if err == nil {
							err = f.Check(p, rg)
						}
						if err != nil {
							t.Fatal(err)
						}
					}
					after := r.(strategy.Counter).Counts().Calls
					hints := missed
					if hint == prefetch.ProcessMadvise {
						hints = min(1, missed)
					}
					for kind, want := range map[string]uint64{"probed": 16, "missed": missed, "hinted": missed, string(probe): 16, string(hint): hints} {
						if got := after[kind] - before[kind]; got != want {
							t.Errorf("round %d: %s is %d more, want %d", round, kind, got, want)
						}
					}
					if len(after) != 5 {
						t.Errorf("it counts %v, want five kinds", after)
					}
				}
			})
		}
	}
}

// Forget reaches the policy: bitmap probes again what it had seen.
func TestForgetReachesThePolicy(t *testing.T) {
	_, o := open(t, strategies.Prefetching{Policy: prefetch.Bitmap(), Random: true}, 1)
	r, err := o.Reader(0)
	if err != nil {
		t.Fatal(err)
	}
	batch := []strategy.Range{{Off: 100, N: 16 << 10}}
	probed := func() uint64 {
		t.Helper()
		before := r.(strategy.Counter).Counts().Calls["probed"]
		if err := r.(strategy.Prefetcher).Prefetch(batch); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Read(batch[0]); err != nil {
			t.Fatal(err)
		}
		return r.(strategy.Counter).Counts().Calls["probed"] - before
	}
	probed() // whatever was resident, it is now
	if first, second := probed(), probed(); second != 0 {
		t.Fatalf("it does not remember: %d probes, then %d", first, second)
	}
	r.(interface{ Forget() }).Forget()
	if n := probed(); n != 1 {
		t.Errorf("after Forget it probes %d ranges, want 1", n)
	}
}

// A reader of none does not prefetch, so it costs what a strategy without policies costs.
func TestNoneIsNoPrefetcher(t *testing.T) {
	_, o := open(t, strategies.Prefetching{Policy: prefetch.None(), Random: true}, 1)
	r, err := o.Reader(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.(strategy.Prefetcher); ok {
		t.Error("its reader prefetches")
	}
}
