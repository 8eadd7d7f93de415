package rerank_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/benchtest"
)

var small = []string{"VECTORS=24000", "DIM=1024", "SHORTLIST=120"}

// One run gives every row, with the evidence that proves it.
func TestQueryRows(t *testing.T) {
	u := benchtest.NewUser(t)
	stdout, stderr, exit := u.Benchmark(t, append([]string{"THREADS=1,2", "METRICS=all"}, small...), "-test.bench=Query", "-test.benchtime=40x")
	if exit != 0 {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	results, units := benchtest.Parse(t, stdout)
	rows, skipped := benchtest.Rows(results), benchtest.Skipped(stderr)
	for _, backend := range []string{"serial", "pool", "uring-direct/engine=ring", "uring/engine=ring", "mmap", "mmap-prefetch/policy=always"} {
		for _, pageCase := range []string{"hot", "cold"} {
			for _, threads := range []int{1, 2} {
				name := fmt.Sprintf("Query/case=%s/backend=%s/threads=%d", pageCase, backend, threads)
				r := rows[name]
				if r == nil {
					if skipped[name] == "" {
						t.Errorf("%s is missing, and nothing says why\n%s", name, stderr)
					}
					continue
				}
				if n := benchtest.Value(t, r, "reads/op"); n != 120 {
					t.Errorf("%s reads %v vectors a query", name, n)
				}
				if n := benchtest.Value(t, r, "recall"); n < 0.3 || n > 1 {
					t.Errorf("%s: recall %v", name, n)
				}
				if v := benchtest.Value(t, r, "p99-sec/op"); v <= 0 {
					t.Errorf("%s: p99 %v", name, v)
				}
				direct := backend == "serial" || backend == "pool" || strings.HasPrefix(backend, "uring-direct")
				dev := benchtest.Value(t, r, "dev-B/op")
				switch {
				case direct && dev < 120*4096, pageCase == "cold" && dev < 0.85*120*4096, pageCase == "hot" && !direct && dev > 0.01*120*4096:
					t.Errorf("%s: the device delivered %v bytes a query", name, dev)
				}
				if readers, ok := r.Value("pool-readers"); ok != (backend == "pool") || ok && readers < 1 {
					t.Errorf("%s: a pool of %v", name, readers)
				}
				if n, ok := r.Value("pread/op"); (backend == "serial" || backend == "pool") && (!ok || n < 120) {
					t.Errorf("%s: %v preads a query", name, n)
				}
				if n, ok := r.Value("madvise/op"); backend == "mmap-prefetch/policy=always" && (!ok || n != 120) {
					t.Errorf("%s: %v hints a query", name, n)
				}
			}
		}
	}
	for unit, better := range map[string]int{"recall": 1, "reads/op": -1} {
		if units.GetBetter(unit) != better {
			t.Errorf("unit %s: better=%d, want %d", unit, units.GetBetter(unit), better)
		}
	}
	for key, want := range map[string]string{"dim": "1024", "vectors": "24000", "align": "page", "shortlist": "120"} {
		if got := results[0].GetConfig(key); got != want {
			t.Errorf("the configuration lines say %s: %q", key, got)
		}
	}
}

// Under pressure, every policy of mmap-prefetch has a row, and a direct row does not care.
func TestQueryUnderPressure(t *testing.T) {
	u := benchtest.NewUser(t)
	settings := []string{"THREADS=1", "CASES=pressure200", "POLICIES=always,loaded", "ALIGN=packed", "VECTORS=60000", "SHORTLIST=120"}
	stdout, stderr, exit := u.Benchmark(t, settings, "-test.bench=Query/pressure/(serial|prefetch)", "-test.benchtime=60x")
	if strings.Contains(stderr, "# readbench: skip") || strings.Contains(stdout, "this process itself holds") { // the race detector's memory
		t.Skip(stdout, stderr)
	}
	results, _ := benchtest.Parse(t, stdout)
	if exit != 0 || len(results) != 3 {
		t.Fatalf("exit %d, %d rows\n%s%s", exit, len(results), stdout, stderr)
	}
}

// A file that was damaged after it was made fails the row that reads it, and no other result is printed.
func TestDamagedFile(t *testing.T) {
	u := benchtest.NewUser(t)
	settings := []string{"THREADS=1", "CASES=hot", "VERIFY=full", "VECTORS=2000", "SHORTLIST=120"}
	run := func() (string, string, int) {
		return u.Benchmark(t, settings, "-test.bench=Query/hot/=mmap$", "-test.benchtime=20x")
	}
	stdout, stderr, exit := run()
	results, _ := benchtest.Parse(t, stdout)
	if exit != 0 || len(results) != 1 {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	f, err := os.OpenFile(results[0].GetConfig("file"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for n := int64(1); n < 1999; n++ { // all but the first and the last, which are looked at when it is opened
		if _, err := f.WriteAt([]byte{0xff}, n*4096+2000); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr, exit = run()
	if exit == 0 || strings.Contains(stdout, "\nBenchmark") || !strings.Contains(stdout+stderr, "wrong from byte 2000") {
		t.Errorf("exit %d\n%s%s", exit, stdout, stderr)
	}
}
