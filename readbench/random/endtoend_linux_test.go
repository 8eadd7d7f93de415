package random_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/benchtest"
)

// One run gives every row, with the evidence that proves it.
func TestAllRows(t *testing.T) {
	u := benchtest.NewUser(t)
	stdout, stderr, exit := u.Benchmark(t, []string{"SIZE=256MiB", "THREADS=1,2"}, "-test.bench=.", "-test.benchtime=3x")
	if exit != 0 {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	results, units := benchtest.Parse(t, stdout)
	rows, skipped := benchtest.Rows(results), benchtest.Skipped(stderr)
	for _, strategy := range []string{"Null", "Mmap", "MmapRandom", "MmapPrefetch", "MmapRandomPrefetch", "Pread", "ReadAt", "PreadDirect",
		"Uring", "UringMmap", "UringDirect", "UringDirectFixed", "UringDirectPipelined"} {
		for _, pageCase := range []string{"hot", "cold"} {
			for _, threads := range []int{1, 2} {
				name := fmt.Sprintf("%s/case=%s/read=16KiB/threads=%d", strategy, pageCase, threads)
				if strings.HasSuffix(strategy, "Prefetch") {
					name = fmt.Sprintf("%s/case=%s/read=16KiB/policy=always/threads=%d", strategy, pageCase, threads)
				}
				if strings.HasPrefix(strategy, "Uring") {
					name = strings.Replace(name, "/threads", "/engine=ring/threads", 1)
				}
				if strategy == "UringMmap" {
					name = strings.Replace(name, "/threads", "/policy=always/threads", 1)
				}
				r := rows[name]
				if r == nil {
					if skipped[name] == "" {
						t.Errorf("%s is missing, and nothing says why", name)
					}
					continue
				}
				for _, unit := range []string{"sec/op", "ops/ms", "dev-B/op", "majflt/op"} {
					benchtest.Value(t, r, unit)
				}
				if strategy == "Null" {
					continue
				}
				benchtest.Value(t, r, "B/s")
				if hints, ok := r.Value("madvise/op"); strings.HasSuffix(strategy, "Prefetch") && hints != 16 ||
					!strings.HasSuffix(strategy, "Prefetch") && ok && hints != 0 {
					t.Errorf("%s made %v hints an op", name, hints)
				}
				if strings.HasPrefix(strategy, "Uring") {
					if n := benchtest.Value(t, r, "pread/op"); n != 0 {
						t.Errorf("%s made %v preads an op", name, n)
					}
					if n := benchtest.Value(t, r, "completed/op"); n < 16 { // more if reads were short, or interrupted
						t.Errorf("%s: %v reads or hints an op", name, n)
					}
				}
				direct := strings.Contains(strategy, "Direct")
				if dev := benchtest.Value(t, r, "dev-B/op"); (dev > 0) != (pageCase == "cold" || direct) {
					t.Errorf("%s made the device deliver %v bytes an op", name, dev)
				}
			}
		}
	}
	for unit, better := range map[string]int{"ops/ms": 1, "dev-B/op": -1, "majflt/op": -1, "madvise/op": -1, "pread/op": -1, "readat/op": -1, "enter/op": -1, "submitted/op": -1, "completed/op": -1} {
		if units.GetBetter(unit) != better {
			t.Errorf("unit %s: better=%d, want %d", unit, units.GetBetter(unit), better)
		}
	}
	for _, key := range []string{"kernel", "go", "cpus", "memory", "filesystem", "device", "read-ahead-kb", "huge-pages", "scheduler", "file-size", "content-check",
		"reads-per-op", "policy-always", "seed", "verify"} {
		if results[0].GetConfig(key) == "" {
			t.Errorf("the configuration lines do not tell %s", key)
		}
	}
}

// Every policy gives a row of each prefetching benchmark, by the same calls, and does what it is named for: hot, no
// probe misses, and only always and what probes a miss hints.
func TestPolicies(t *testing.T) {
	u := benchtest.NewUser(t)
	policies := []string{"adaptive", "none", "always", "loaded", "backoff", "backoff-local", "slowclimb", "runlength", "bitmap"}
	stdout, stderr, exit := u.Benchmark(t, []string{"SIZE=64MiB", "THREADS=2", "CASES=hot,cold", "PROBE=mincore", "HINT=madvise", "POLICIES=" + strings.Join(policies, ",")},
		"-test.bench=Prefetch$", "-test.benchtime=3x", "-test.cpu=1")
	if exit != 0 {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	results, _ := benchtest.Parse(t, stdout)
	var names, want []string
	for _, r := range results {
		names = append(names, string(r.Name.Full()))
	}
	rows, skipped := benchtest.Rows(results), benchtest.Skipped(stderr)
	for _, strategy := range []string{"MmapPrefetch", "MmapRandomPrefetch"} {
		for _, pageCase := range []string{"hot", "cold"} {
			for _, p := range policies {
				name := fmt.Sprintf("%s/case=%s/read=16KiB/policy=%s/probe=mincore/hint=madvise/threads=2", strategy, pageCase, p)
				if skipped[name] == "" {
					want = append(want, name)
				}
				r := rows[name]
				if r == nil || strategy == "MmapPrefetch" { // whose read-ahead makes anything resident
					continue
				}
				hints, _ := r.Value("madvise/op")
				hinted, _ := r.Value("hinted/op")
				probed, _ := r.Value("probed/op")
				missed, _ := r.Value("missed/op")
				if hints != hinted {
					t.Errorf("%s hints %v ranges an op by %v calls of madvise", name, hinted, hints)
				}
				switch {
				case p == "none" && hints+probed != 0,
					p == "always" && (hints != 16 || probed != 0),
					p == "loaded" && (probed != 16 || hinted != missed || pageCase == "hot" && missed != 0),
					pageCase == "hot" && p != "always" && hinted != 0:
					t.Errorf("%s: an op hints %v ranges, probes %v and misses %v", name, hinted, probed, missed)
				}
			}
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("rows\n%s\nwant\n%s\n%s", strings.Join(names, "\n"), strings.Join(want, "\n"), stderr)
	}
	if got := results[0].GetConfig("policy-always"); got != "the hint of the other policies" {
		t.Errorf("policy-always: %s", got)
	}
}

// Configuration lines are the same from run to run: benchstat would split its tables.
func TestConfigurationIsStable(t *testing.T) {
	u := benchtest.NewUser(t)
	var runs []string
	for range 2 {
		stdout, stderr, _ := u.Benchmark(t, []string{"SIZE=64MiB", "THREADS=1", "CASES=hot"}, "-test.bench=Pread$", "-test.benchtime=1x")
		head, _, ok := strings.Cut(stdout, "\nBenchmark")
		if !ok {
			t.Fatal(stdout, stderr)
		}
		runs = append(runs, head)
	}
	if runs[0] != runs[1] {
		t.Errorf("first:\n%s\nthen:\n%s", runs[0], runs[1])
	}
}

// The testing package's own flags work: every -benchtime, -count and -cpu gives the rows that it should.
func TestFlags(t *testing.T) {
	u := benchtest.NewUser(t)
	for _, tc := range []struct {
		flags []string
		lines []string // names of the results
	}{
		{[]string{"-test.benchtime=1x"}, []string{"Pread/case=hot/read=16KiB/threads=3", "Pread/case=cold/read=16KiB/threads=3"}},
		{[]string{"-test.benchtime=7x", "-test.count=2"}, []string{"Pread/case=hot/read=16KiB/threads=3", "Pread/case=hot/read=16KiB/threads=3", "Pread/case=cold/read=16KiB/threads=3", "Pread/case=cold/read=16KiB/threads=3"}},
		{[]string{"-test.benchtime=2x", "-test.cpu=1,2"}, []string{"Pread/case=hot/read=16KiB/threads=3", "Pread/case=hot/read=16KiB/threads=3-2", "Pread/case=cold/read=16KiB/threads=3", "Pread/case=cold/read=16KiB/threads=3-2"}},
		{[]string{"-test.benchtime=10ms"}, []string{"Pread/case=hot/read=16KiB/threads=3", "Pread/case=cold/read=16KiB/threads=3"}},
	} {
		for _, procs := range []string{"threads", "inherit"} {
			flags := tc.flags
			if !strings.Contains(strings.Join(flags, " "), "cpu") {
				flags = append(flags, "-test.cpu=1")
			}
			t.Run(strings.Join(flags, " ")+" "+procs, func(t *testing.T) {
				stdout, stderr, exit := u.Benchmark(t, []string{"SIZE=64MiB", "THREADS=3", "PROCS=" + procs, "METRICS=all"}, append(flags, "-test.bench=Pread$")...)
				results, _ := benchtest.Parse(t, stdout)
				var names []string
				for _, r := range results {
					names = append(names, string(r.Name.Full()))
					if v := benchtest.Value(t, r, "pread/op"); v < 16 {
						t.Errorf("%s: %v preads an op", r.Name, v)
					}
					if v := benchtest.Value(t, r, "p99-sec/op"); v <= 0 {
						t.Errorf("%s: p99 %v", r.Name, v)
					}
				}
				want := slices.Clone(tc.lines)
				for i := range want {
					if procs == "inherit" {
						want[i] = strings.Replace(want[i], "/threads", "/procs=inherit/threads", 1)
					}
				}
				if strings.Contains(strings.Join(flags, " "), "count") { // which warns
					stderr = ""
				}
				if exit != 0 || !slices.Equal(names, want) || stderr != "" {
					t.Errorf("exit %d, results %q, want %q\n%s", exit, names, want, stderr)
				}
			})
		}
	}
}

// A wrong configuration stops the process before anything runs or is written.
func TestBadConfigurationStops(t *testing.T) {
	u := benchtest.NewUser(t)
	for _, tc := range []struct {
		setting, bench string
		want           string
		exit           int
	}{
		{"TREADS=1", ".", `READBENCH_TREADS="1": there is no such variable`, 2},
		{"READ_SIZE=16k", ".", `READBENCH_READ_SIZE="16k"`, 2},
		{"READ_SIZE=1000", ".", `READBENCH_READ_SIZE="1000": it is no multiple of`, 2},
		{"POLICIES=always,adaptiv", ".", `READBENCH_POLICIES="always,adaptiv": there is no prefetch policy "adaptiv"`, 2},
		{"READ_SIZE=1000", "Pread$/hot", "", 0}, // nothing direct is to run
		{"FILE=/nonexistent/file", "PreadDirect", "mkfile", 2},
	} {
		t.Run(tc.setting+" "+tc.bench, func(t *testing.T) {
			stdout, stderr, exit := u.Benchmark(t, []string{"SIZE=64MiB", "THREADS=1", tc.setting}, "-test.bench="+tc.bench, "-test.benchtime=1x")
			if exit != tc.exit || !strings.Contains(stderr, tc.want) {
				t.Errorf("exit %d, want %d; standard error %q, want %q", exit, tc.exit, stderr, tc.want)
			}
			if got := strings.Contains(stdout, "\nBenchmark"); got != (tc.exit == 0) {
				t.Errorf("standard output:\n%s", stdout)
			}
		})
	}
}

// A file that cannot be used stops the process with the remedy before anything runs.
func TestBadFileStops(t *testing.T) {
	u := benchtest.NewUser(t)
	path := filepath.Join(t.TempDir(), "sparse.bin")
	if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, 64<<20)); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, exit := u.Benchmark(t, []string{"FILE=" + path}, "-test.bench=Pread$", "-test.benchtime=1x")
	if exit != 2 || !strings.Contains(stderr, "it is sparse") || !strings.Contains(stderr, "mkfile") || stdout != "" {
		t.Errorf("exit %d\n%s%s", exit, stdout, stderr)
	}
}

// A file of the user's own is read without content checks, and the configuration lines say so.
func TestOwnFile(t *testing.T) {
	u := benchtest.NewUser(t)
	path := filepath.Join(t.TempDir(), "own.db")
	if err := os.WriteFile(path, bytes.Repeat([]byte("readbench"), 8<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, exit := u.Benchmark(t, []string{"FILE=" + path, "THREADS=2"}, "-test.bench=Pread|MmapRandom", "-test.benchtime=5x")
	results, _ := benchtest.Parse(t, stdout)
	if exit != 0 || len(results) == 0 {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	if check := results[0].GetConfig("content-check"); !strings.HasPrefix(check, "off") {
		t.Errorf("content-check: %s", check)
	}
}
