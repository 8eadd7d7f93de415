package prefetchmicro_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/benchtest"
)

// One run gives every row, with one call an op (or less, for calls that take several ranges; or one a page), and the
// pages that its case promises.
func TestAllRows(t *testing.T) {
	u := benchtest.NewUser(t)
	stdout, stderr, exit := u.Benchmark(t, []string{"SIZE=64MiB", "THREADS=1,3"}, "-test.bench=.", "-test.benchtime=300x")
	if exit != 0 {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	results, _ := benchtest.Parse(t, stdout)
	rows := benchtest.Rows(results)
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
							if !strings.Contains(stderr, "# readbench: skip Benchmark"+name) {
								t.Errorf("%s is missing, and nothing says why", name)
							}
							continue
						}
						want := call.hot
						if pageCase == "cold" {
							want = call.cold
						}
						if got := benchtest.Value(t, r, call.unit); read == "4KiB" && (got < 0.98*want || got > 1.02*want) { // a range in 4096 is one page
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
	for _, pageCase := range []string{"hot", "cold"} {
		for _, mapping := range []string{"shared", "own"} {
			for _, threads := range []int{1, 3} {
				name := fmt.Sprintf("Faults/case=%s/mapping=%s/threads=%d", pageCase, mapping, threads)
				r := rows[name]
				if r == nil {
					t.Errorf("%s is missing", name)
					continue
				}
				ops := benchtest.Value(t, r, "ops/ms")
				if perOp := benchtest.Value(t, r, "faults/s") / (ops * 1e3); perOp < 0.99 || perOp > 1.3 { // the process has some of its own
					t.Errorf("%s: %v faults an op", name, perOp)
				}
			}
		}
	}
	if rows["Null/case=hot/threads=1"] == nil {
		t.Error("nothing tells the cost of the harness")
	}
}
