package prefetchmicro_test

import (
	"fmt"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/readbench/suite/internal/benchtest"
)

// One run gives every row, with one call an op (or less, for calls that take several ranges; or one a page), and the
// pages that its case promises.
func TestAllRows(t *testing.T) {
	u := benchtest.NewUser(t)
	rows, skipped := run(t, u, "-test.bench=.", "-test.skip=Faults", "-test.benchtime=300x")
	for _, call := range []struct {
		name, unit string
		hot, cold  float64 // calls of an op on a range of 2 pages
	}{
		{"Mincore", "mincore/op", 1, 1}, {"Cachestat", "cachestat/op", 1, 1}, {"Nowait", "preadv2/op", 2, 0},
		{"MadviseWillneed", "madvise/op", 1, 1}, {"ProcessMadvise", "process_madvise/op", 1. / 16, 1. / 16}, {"FadviseWillneed", "fadvise/op", 1, 1},
		{"Readahead", "readahead/op", 1, 1}, {"PopulateRead", "madvise/op", 1, 1},
	} {
		for _, pageCase := range []string{"hot", "cold"} {
			for _, advice := range []string{"normal", "random"} {
				for _, read := range []string{"4KiB", "16KiB"} {
					for _, threads := range []int{1, 3} {
						name := fmt.Sprintf("%s/case=%s/advice=%s/read=%s/threads=%d", call.name, pageCase, advice, read, threads)
						r := rows[name]
						if r == nil {
							requireCause(t, skipped, name)
							continue
						}
						want := call.hot
						if pageCase == "cold" {
							want = call.cold
						}
						if got := benchtest.Value(t, r, call.unit); read == "4KiB" && (got < 0.98*want || got > 1.02*want+0.02) { // a range in 4096 is one page
							t.Errorf("%s: %v %s", name, got, call.unit)
						}
						if cold := benchtest.Value(t, r, "cold-%"); pageCase == "cold" && cold < 99 || pageCase == "hot" && cold > 1 {
							t.Errorf("%s: %v %% cold", name, cold)
						}
						if _, ok := r.Value("B/s"); ok {
							t.Errorf("%s has a bandwidth, and delivers nothing", name)
						}
					}
				}
			}
		}
	}
	if rows["Null/case=hot/threads=1"] == nil {
		t.Error("nothing tells the cost of the harness")
	}
}

// A row of faults has one for each touch: as few less as the core allows, and of the process's own ones so many more as
// do not depend on how long the row runs.
func TestFaultRows(t *testing.T) {
	const ops, own = 5000, 500
	rows, skipped := run(t, benchtest.NewUser(t), "-test.bench=Faults", fmt.Sprintf("-test.benchtime=%dx", ops))
	for _, pageCase := range []string{"hot", "cold"} {
		for _, mapping := range []string{"shared", "own"} {
			for _, threads := range []int{1, 3} {
				name := fmt.Sprintf("Faults/case=%s/mapping=%s/threads=%d", pageCase, mapping, threads)
				r := rows[name]
				if r == nil {
					requireCause(t, skipped, name)
					continue
				}
				perMs := benchtest.Value(t, r, "ops/ms")
				if perOp := benchtest.Value(t, r, "faults/s") / (perMs * 1e3); perOp < 0.99 || perOp > 1+own/float64(ops) {
					t.Errorf("%s: %v faults an op", name, perOp)
				}
			}
		}
	}
}

// run gives the rows of a run, and why others were skipped, by name.
func run(t *testing.T, u benchtest.User, flags ...string) (rows map[string]*benchfmt.Result, skipped map[string]string) {
	t.Helper()
	stdout, stderr, exit := u.Benchmark(t, []string{"SIZE=64MiB", "THREADS=1,3"}, flags...)
	if exit != 0 {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	results, _ := benchtest.Parse(t, stdout)
	return benchtest.Rows(results), benchtest.Skipped(stderr)
}

func requireCause(t *testing.T, skipped map[string]string, name string) {
	t.Helper()
	if skipped[name] == "" {
		t.Errorf("%s is missing, and nothing says why", name)
	}
}
