package random_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/readbench/suite/internal/testfile"
)

// A user runs benchmark processes, with a cache directory of their own that is empty at first.
type user struct{ cache string }

func newUser(t *testing.T) user {
	t.Helper()
	dir := t.TempDir()
	testfile.RequireDisk(t, dir)
	return user{dir}
}

// benchmark runs this test binary with READBENCH_ settings and test flags, and returns what it wrote.
func (u user) benchmark(t *testing.T, settings []string, flags ...string) (stdout, stderr string, exit int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^$"}, flags...)...)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "READBENCH_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+u.cache, "READBENCH_WARMUP=1ms")
	for _, s := range settings {
		cmd.Env = append(cmd.Env, "READBENCH_"+s)
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exitErr *exec.ExitError
	if err != nil && !errors.As(err, &exitErr) {
		t.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// parse reads benchmark format strictly: every line is a result, a configuration line, a unit line, or one of
// the testing package's own.
func parse(t *testing.T, text string) (results []*benchfmt.Result, units benchfmt.UnitMetadataMap) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, _, isConfig := strings.Cut(line, ": ")
		isConfig = isConfig && key == strings.ToLower(key) && !strings.ContainsAny(key, " \t#")
		if line != "PASS" && !isConfig && !strings.HasPrefix(line, "Benchmark") && !strings.HasPrefix(line, "Unit ") {
			t.Errorf("standard output has the line %q", line)
		}
	}
	r := benchfmt.NewReader(strings.NewReader(text), "stdout")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			results = append(results, rec.Clone())
		case *benchfmt.SyntaxError:
			t.Error(rec)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return results, r.Units()
}

func value(t *testing.T, r *benchfmt.Result, unit string) float64 {
	t.Helper()
	v, ok := r.Value(unit)
	if !ok {
		t.Errorf("%s has no %s", r.Name, unit)
	}
	return v
}

// One run gives every row, with the evidence that proves it.
func TestAllRows(t *testing.T) {
	u := newUser(t)
	stdout, stderr, exit := u.benchmark(t, []string{"SIZE=256MiB", "THREADS=1,2"}, "-test.bench=.", "-test.benchtime=3x")
	if exit != 0 {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	results, units := parse(t, stdout)
	rows := map[string]*benchfmt.Result{}
	for _, r := range results {
		name := string(r.Name.Full())
		if i := strings.LastIndexByte(name, '-'); i > 0 { // -GOMAXPROCS
			name = name[:i]
		}
		rows[name] = r
	}
	for _, strategy := range []string{"Null", "Mmap", "MmapRandom", "MmapPrefetch", "MmapRandomPrefetch", "Pread", "ReadAt", "PreadDirect"} {
		for _, pageCase := range []string{"hot", "cold"} {
			for _, threads := range []int{1, 2} {
				name := fmt.Sprintf("%s/case=%s/read=16KiB/threads=%d", strategy, pageCase, threads)
				if strings.HasSuffix(strategy, "Prefetch") {
					name = fmt.Sprintf("%s/case=%s/read=16KiB/policy=always/threads=%d", strategy, pageCase, threads)
				}
				r := rows[name]
				if r == nil {
					if !strings.Contains(stderr, "# readbench: skip Benchmark"+name) {
						t.Errorf("%s is missing, and nothing says why", name)
					}
					continue
				}
				for _, unit := range []string{"sec/op", "ops/ms", "dev-B/op", "majflt/op"} {
					value(t, r, unit)
				}
				if strategy == "Null" {
					continue
				}
				value(t, r, "B/s")
				if hints, ok := r.Value("madvise/op"); strings.HasSuffix(strategy, "Prefetch") && hints != 16 ||
					!strings.HasSuffix(strategy, "Prefetch") && ok && hints != 0 {
					t.Errorf("%s made %v hints an op", name, hints)
				}
				direct := strategy == "PreadDirect"
				if dev := value(t, r, "dev-B/op"); (dev > 0) != (pageCase == "cold" || direct) {
					t.Errorf("%s made the device deliver %v bytes an op", name, dev)
				}
			}
		}
	}
	for unit, better := range map[string]int{"ops/ms": 1, "dev-B/op": -1, "majflt/op": -1, "madvise/op": -1, "pread/op": -1, "readat/op": -1} {
		if units.GetBetter(unit) != better {
			t.Errorf("unit %s: better=%d, want %d", unit, units.GetBetter(unit), better)
		}
	}
	for _, key := range []string{"kernel", "go", "cpus", "memory", "filesystem", "device", "read-ahead-kb", "scheduler", "file-size", "content-check",
		"reads-per-op", "seed", "verify"} {
		if results[0].GetConfig(key) == "" {
			t.Errorf("the configuration lines do not tell %s", key)
		}
	}
}

// Configuration lines are the same from run to run: benchstat would split its tables.
func TestConfigurationIsStable(t *testing.T) {
	u := newUser(t)
	var runs []string
	for range 2 {
		stdout, stderr, _ := u.benchmark(t, []string{"SIZE=64MiB", "THREADS=1", "CASES=hot"}, "-test.bench=Pread$", "-test.benchtime=1x")
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
	u := newUser(t)
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
				stdout, stderr, exit := u.benchmark(t, []string{"SIZE=64MiB", "THREADS=3", "PROCS=" + procs, "METRICS=all"}, append(flags, "-test.bench=Pread$")...)
				results, _ := parse(t, stdout)
				var names []string
				for _, r := range results {
					names = append(names, string(r.Name.Full()))
					if v := value(t, r, "pread/op"); v < 16 {
						t.Errorf("%s: %v preads an op", r.Name, v)
					}
					if v := value(t, r, "p99-sec/op"); v <= 0 {
						t.Errorf("%s: p99 %v", r.Name, v)
					}
				}
				want := slices.Clone(tc.lines)
				for i := range want {
					if procs == "inherit" {
						want[i] = strings.Replace(want[i], "/threads", "/procs=inherit/threads", 1)
					}
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
	u := newUser(t)
	for _, tc := range []struct {
		setting, bench string
		want           string
		exit           int
	}{
		{"TREADS=1", ".", `READBENCH_TREADS="1": there is no such variable`, 2},
		{"READ_SIZE=16k", ".", `READBENCH_READ_SIZE="16k"`, 2},
		{"READ_SIZE=1000", ".", `READBENCH_READ_SIZE="1000": it is no multiple of`, 2},
		{"READ_SIZE=1000", "Pread$/hot", "", 0}, // nothing direct is to run
		{"FILE=/nonexistent/file", "PreadDirect", "mkfile", 2},
	} {
		t.Run(tc.setting+" "+tc.bench, func(t *testing.T) {
			stdout, stderr, exit := u.benchmark(t, []string{"SIZE=64MiB", "THREADS=1", tc.setting}, "-test.bench="+tc.bench, "-test.benchtime=1x")
			if exit != tc.exit || !strings.Contains(stderr, tc.want) {
				t.Errorf("exit %d, want %d; standard error %q, want %q", exit, tc.exit, stderr, tc.want)
			}
			if got := strings.Contains(stdout, "\nBenchmark"); got != (tc.exit == 0) {
				t.Errorf("standard output:\n%s", stdout)
			}
		})
	}
}

// A file that cannot be used fails every benchmark with the remedy, and gives no row.
func TestBadFileFails(t *testing.T) {
	u := newUser(t)
	path := filepath.Join(t.TempDir(), "sparse.bin")
	if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, 64<<20)); err != nil {
		t.Fatal(err)
	}
	stdout, _, exit := u.benchmark(t, []string{"FILE=" + path}, "-test.bench=Pread$", "-test.benchtime=1x")
	if exit != 1 || !strings.Contains(stdout, "it is sparse") || strings.Contains(stdout, "ns/op") {
		t.Errorf("exit %d\n%s", exit, stdout)
	}
}

// A file of the user's own is read without content checks, and the configuration lines say so.
func TestOwnFile(t *testing.T) {
	u := newUser(t)
	path := filepath.Join(t.TempDir(), "own.db")
	if err := os.WriteFile(path, bytes.Repeat([]byte("readbench"), 8<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, exit := u.benchmark(t, []string{"FILE=" + path, "THREADS=2"}, "-test.bench=Pread|MmapRandom", "-test.benchtime=5x")
	results, _ := parse(t, stdout)
	if exit != 0 || len(results) == 0 {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	if check := results[0].GetConfig("content-check"); !strings.HasPrefix(check, "off") {
		t.Errorf("content-check: %s", check)
	}
}
