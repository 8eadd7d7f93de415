package storedfields_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/benchtest"
)

// One run gives every row, with the evidence that proves it.
func TestAllRows(t *testing.T) {
	u := benchtest.NewUser(t)
	stdout, stderr, exit := u.Benchmark(t, []string{"DOCS=32768", "THREADS=1,2", "TOPK=10"}, "-test.bench=.", "-test.benchtime=3x")
	if exit != 0 {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	results, units := benchtest.Parse(t, stdout)
	rows, skipped := benchtest.Rows(results), benchtest.Skipped(stderr)
	type kind struct{ name, labels string }
	kinds := []kind{{"RetrieveMmap", ""}, {"RetrieveMmapRandom", ""}, {"RetrievePread", ""}, {"RetrievePreadDirect", ""},
		{"RetrieveUring", "/engine=ring"}, {"RetrieveUringDirect", "/engine=ring"}}
	for _, name := range []string{"PrefetchThenReadMmap", "PrefetchThenReadMmapRandom", "PrefetchOnlyMmap", "PrefetchOnlyMmapRandom"} {
		for _, form := range []string{"block", "span"} {
			kinds = append(kinds, kind{name, "/prefetch=" + form + "/policy=always"})
		}
	}
	for _, k := range kinds {
		for _, pageCase := range []string{"hot", "cold"} {
			for threads := 1; threads <= 2; threads++ {
				name := fmt.Sprintf("%s/case=%s/topk=10%s/threads=%d", k.name, pageCase, k.labels, threads)
				r := rows[name]
				if r == nil {
					if skipped[name] == "" {
						t.Errorf("%s is missing, and nothing says why", name)
					}
					continue
				}
				for _, unit := range []string{"sec/op", "ops/ms", "docs/s", "dev-B/op", "majflt/op"} {
					benchtest.Value(t, r, unit)
				}
				only, direct := strings.HasPrefix(k.name, "PrefetchOnly"), strings.Contains(k.name, "Direct")
				dev := benchtest.Value(t, r, "dev-B/doc")
				if (dev > 0) != (pageCase == "cold" || direct) {
					t.Errorf("%s made the device deliver %v bytes a document", name, dev)
				}
				// A chunk has 82 KB; a document takes two reads of 12 KB in all.
				block := strings.Contains(k.labels, "block")
				if pageCase == "cold" && strings.HasSuffix(k.name, "Random") && ((dev > 80000) != block || dev > 90000 || dev < 12000) {
					t.Errorf("%s made the device deliver %v bytes a document", name, dev)
				}
				if only {
					continue
				}
				if used := benchtest.Value(t, r, "used-B/doc"); used < 9000 || used > 15000 {
					t.Errorf("%s used %v bytes a document", name, used)
				}
				if n := benchtest.Value(t, r, "reads/doc"); n < 1.5 || n > 2.1 {
					t.Errorf("%s took %v reads a document", name, n)
				}
				if n := benchtest.Value(t, r, "headers/doc"); n < 0.9 || n > 1 {
					t.Errorf("%s took %v headers a document", name, n)
				}
			}
		}
	}
	for unit, better := range map[string]int{"docs/s": 1, "dev-B/doc": -1, "used-B/doc": -1, "reads/doc": -1, "headers/doc": -1, "blocks/doc": -1} {
		if units.GetBetter(unit) != better {
			t.Errorf("unit %s: better=%d, want %d", unit, units.GetBetter(unit), better)
		}
	}
	for key, want := range map[string]string{
		"index": "built: 32768 documents of 4KiB, random", "index-shape": "32768 documents, 1639 chunks, 1 segments, BEST_SPEED",
		"document-check": "crc32c of every document", "skew": "uniform", "content-check": "by the workload",
	} {
		if got := results[0].GetConfig(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

// A user's own index is read as one that was built is, zipf draws and all policies too, and how much of the time decoding
// takes is told if asked.
func TestOwnIndexRows(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("lucene", "testdata", "10.6", "segments"))
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "index")
	if err := os.CopyFS(own, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	u := benchtest.NewUser(t)
	stdout, stderr, exit := u.Benchmark(t, []string{"LUCENE_INDEX=" + own, "LUCENE_CHECK=full", "CASES=hot", "THREADS=2", "TOPK=5,100", "SKEW=zipf", "METRICS=all",
		"VERIFY=full", "POLICIES=none,backoff"}, "-test.bench=(RetrieveMmap|RetrievePread|PrefetchThenReadMmap)$", "-test.benchtime=50x")
	results, _ := benchtest.Parse(t, stdout)
	if exit != 0 || len(results) != 2*(1+1+4) {
		t.Fatalf("exit %d, %d results\n%s%s", exit, len(results), stdout, stderr)
	}
	for _, r := range results {
		if share := benchtest.Value(t, r, "decompress-%"); share <= 0 {
			t.Errorf("%s: %v %% of the time went into decoding", r.Name, share)
		}
	}
	for key, want := range map[string]string{"index": own, "document-check": "crc32c of every document"} {
		if got := results[0].GetConfig(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if !strings.HasPrefix(results[0].GetConfig("skew"), "zipf, exponent 1.01") {
		t.Errorf("skew: %s", results[0].GetConfig("skew"))
	}

	// Without VERIFY=full there is nothing to compare with, and the configuration says so.
	stdout, stderr, exit = u.Benchmark(t, []string{"LUCENE_INDEX=" + own, "CASES=hot", "THREADS=1", "TOPK=10"}, "-test.bench=RetrievePread$", "-test.benchtime=5x")
	results, _ = benchtest.Parse(t, stdout)
	if exit != 0 || len(results) != 1 || !strings.HasPrefix(results[0].GetConfig("document-check"), "structure only") {
		t.Errorf("exit %d\n%s%s", exit, stdout, stderr)
	}

	// What is damaged stops the run by name.
	fdx := filepath.Join(own, "_2.fdx")
	p, err := os.ReadFile(fdx)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fdx, p[:len(p)-1], 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, exit = u.Benchmark(t, []string{"LUCENE_INDEX=" + own}, "-test.bench=RetrievePread$", "-test.benchtime=5x")
	if out := stdout + stderr; exit == 0 || !strings.Contains(out, "_2.fdx") || !strings.Contains(out, "READBENCH_LUCENE_INDEX=") {
		t.Errorf("exit %d\n%s", exit, out)
	}
}
