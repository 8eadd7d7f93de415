package prefetch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/readbench/suite/readbench/strategy"
)

// The policies that share say so by what one worker sees of another's ranges; the others see nothing.
func TestWhatWorkersShare(t *testing.T) {
	for _, c := range []struct {
		policy       string
		first, other string // what worker 0 sees, what worker 1 sees then
		want         string // what worker 1 decides
	}{
		{"backoff", "hhhhh", "hhhhhhhhhhhh", "...h.......h"},       // it goes on at 5
		{"backoff", "hhhhm", "hhhh", "hhh."},                       // a miss of one is a miss of all
		{"backoff-local", "hhhhh", "hhhhhhhhhhhh", "hhh.h...h..."}, // it starts at 0
		{"slowclimb", "hhhhhhhhhh", "hhhhhhhhhhhhhhh", "......h.......h"},
		{"bitmap", "hhmh", "hhhhh", "..h.h"}, // pages that worker 0 saw
		{"runlength", rep("h", 1024), rep("h", 1024), rep("h", 1024)},
		{"adaptive", rep("h", 8192), rep("h", 1024), rep("h", 1024)},
	} {
		p, err := New(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		ds := deciders(p, target(2))
		replay(ds[0], c.first, 16, true)
		if got := replay(ds[1], c.other, 16, true); got != c.want {
			t.Errorf("%s: after worker 0 saw %.20s, worker 1 decides %.40s, want %.40s", c.policy, c.first, got, c.want)
		}
		if got, fresh := replay(deciders(p, target(2))[1], c.other, 16, true), replay(deciders(p, target(1))[0], c.other, 16, true); got != fresh {
			t.Errorf("%s: a file opened anew is not a new start: %.40s, want %.40s", c.policy, got, fresh)
		}
	}
}

// A decision that neither probes nor hints allocates nothing, nor does any other.
func TestDecisionsDoNotAllocate(t *testing.T) {
	for _, p := range Policies() {
		d := deciders(p, target(1))[0]
		if d == nil {
			continue
		}
		truths := []string{rep("h", 1000), rep("m", 100), rep("hhm", 100)}
		ranges := make([]strategy.Range, 1000)
		for i := range ranges {
			ranges[i] = strategy.Range{Off: int64(i) * page, N: page}
		}
		allocs := testing.AllocsPerRun(20, func() {
			for _, truth := range truths {
				for i := range truth {
					if s, ok := d.(Skipper); ok && s.Skip(ranges[i:i+1]) == 1 {
						continue
					}
					if d.Decide(ranges[i]) == Probe {
						d.Learn(ranges[i], truth[i] == 'h')
					}
				}
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", p.Name(), allocs)
		}
	}
}

// Skip never skips more than it is asked for, whatever the state.
func TestSkipStaysWithinTheBatch(t *testing.T) {
	for _, p := range Policies() {
		d := deciders(p, target(1))[0]
		s, ok := d.(Skipper)
		if !ok {
			continue
		}
		ranges := make([]strategy.Range, 23)
		for i := range ranges {
			ranges[i] = strategy.Range{Off: int64(i) * page, N: page}
		}
		for i := range 100_000 {
			n := 1 + i%23
			if got := s.Skip(ranges[:n]); got < 0 || got > n {
				t.Fatalf("%s: Skip of %d ranges = %d", p.Name(), n, got)
			} else if got < n {
				r := strategy.Range{Off: int64(i%1000) * page, N: page}
				if d.Decide(r) == Probe {
					d.Learn(r, i%20_000 > 10)
				}
			}
		}
	}
}

// All workers of a file at the same time; run with -race. What the shared counters lose would show as a wrong
// number.
func TestWorkersAtTheSameTime(t *testing.T) {
	const workers, each = 8, 4096
	for _, p := range Policies() {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			ds := deciders(p, target(workers))
			done := make(chan bool)
			for id, d := range ds {
				go func() {
					defer func() { done <- true }()
					if d != nil {
						replay(d, rep("h", each/4), 16, id%2 == 0) // 1024 pages: the whole file
						replay(d, rep("h", each/4), 16, id%2 == 0)
						replay(d, rep("h", each/4), 16, id%2 == 0)
						replay(d, rep("h", each/4), 16, id%2 == 0)
					}
				}()
			}
			for range ds {
				<-done
			}
			if d, ok := ds[0].(*countingDecider); ok && p.Name() == "backoff" {
				if n := d.c.n.Load(); n != workers*each {
					t.Errorf("without a miss it counted %d ranges, want %d", n, workers*each)
				}
			}
		})
	}
}

func TestNewByName(t *testing.T) {
	for _, p := range Policies() {
		got, err := New(p.Name())
		if err != nil || got.Name() != p.Name() {
			t.Errorf("New(%q) = %v, %v", p.Name(), got, err)
		}
	}
	for _, name := range []string{"", "Backoff", "allways"} {
		p, err := New(name)
		if err == nil || p != nil {
			t.Errorf("New(%q) = %v", name, p)
			continue
		}
		for _, part := range append(Names(), fmt.Sprintf("%q", name)) {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("New(%q): the error does not name %s: %v", name, part, err)
			}
		}
	}
}
