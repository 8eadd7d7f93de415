package sequential_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/benchtest"
)

// One run gives every row: each strategy, case and read size, with the read-ahead that its name says.
func TestAllRows(t *testing.T) {
	u := benchtest.NewUser(t)
	stdout, stderr, exit := u.Benchmark(t, []string{"SIZE=64MiB", "READS_PER_OP=8"}, "-test.bench=.", "-test.benchtime=2x")
	if strings.Contains(stderr, "io_uring") {
		t.Skip(stderr)
	}
	if exit != 0 || strings.Contains(stderr, "skip") {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	results, _ := benchtest.Parse(t, stdout)
	rows := benchtest.Rows(results)
	strategies := []string{"Mmap", "MmapSequential", "MmapRandom", "MmapRandomPrefetch", "MmapRandomWindow", "Pread", "PreadSequential", "PreadRandom", "PreadWindow",
		"ReadAt", "PreadDirect", "Uring", "UringMmap", "UringDirect", "UringDirectFixed", "UringDirectPipelined", "UringDirectAhead", "Null"}
	const sizes = 4
	if len(rows) != len(strategies)*2*sizes {
		t.Errorf("%d rows", len(rows))
	}
	for _, strategy := range strategies {
		for _, pageCase := range []string{"hot", "cold"} {
			for _, read := range []string{"16KiB", "64KiB", "128KiB", "1MiB"} {
				name := fmt.Sprintf("%s/case=%s/read=%s/threads=1", strategy, pageCase, read)
				if strategy == "MmapRandomPrefetch" {
					name = strings.Replace(name, "/threads", "/policy=always/threads", 1)
				}
				if strings.HasPrefix(strategy, "Uring") {
					name = strings.Replace(name, "/threads", "/engine=ring/threads", 1)
				}
				if strategy == "UringMmap" {
					name = strings.Replace(name, "/threads", "/policy=always/threads", 1)
				}
				r := rows[name]
				if r == nil {
					t.Errorf("%s is missing", name)
					continue
				}
				if strategy == "Null" {
					continue
				}
				benchtest.Value(t, r, "B/s")
				perByte := benchtest.Value(t, r, "dev-B/B")
				direct := strings.Contains(strategy, "Direct")
				if strings.HasPrefix(strategy, "Uring") {
					if n := benchtest.Value(t, r, "pread/op"); n != 0 {
						t.Errorf("%s: %v preads an op", name, n)
					}
					if n := benchtest.Value(t, r, "completed/op"); n < 8 || n > 8 && strategy != "UringDirectAhead" {
						t.Errorf("%s: %v reads or hints an op", name, n)
					}
				}
				switch noReadAhead := strategy == "MmapRandom" || strategy == "MmapRandomPrefetch" || strategy == "PreadRandom" || direct && strategy != "UringDirectAhead"; {
				case pageCase == "hot" && !direct:
					if perByte > 0.01 {
						t.Errorf("%s: the device delivered %v bytes for each that was read", name, perByte)
					}
				case noReadAhead && (perByte < 0.99 || perByte > 1.05), perByte < 0.99:
					t.Errorf("%s: the device delivered %v bytes for each that was read", name, perByte)
				}
			}
		}
	}
	if n := results[0].GetConfig("reads-per-op"); n != "8" {
		t.Errorf("reads-per-op: %q", n)
	}
}
