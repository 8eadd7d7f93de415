package random_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/benchtest"
)

// A cause that holds for many rows is told twice: when the first row meets it, with the remedy, and at the end with all rows. Each
// row is either measured or told of. What is measured on tmpfs says so in its configuration lines.
func TestSkipsOnTmpfs(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "readbench")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "own.db")
	if err := os.WriteFile(path, make([]byte, 16<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, exit := benchtest.NewUser(t).Benchmark(t, []string{"FILE=" + path, "THREADS=1,2", "CASES=hot,cold,mixed50"},
		"-test.bench=(Mmap|Pread|ReadAt|Direct)$", "-test.benchtime=2x", "-test.count=2")
	if exit != 0 {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	results, _ := benchtest.Parse(t, stdout)
	rows, skipped := benchtest.Rows(results), benchtest.Skipped(stderr)
	for _, strategy := range []string{"Mmap", "Pread", "ReadAt", "PreadDirect", "UringDirect"} {
		for _, pageCase := range []string{"hot", "cold", "mixed50"} {
			for _, threads := range []int{1, 2} {
				name := fmt.Sprintf("%s/case=%s/read=16KiB/threads=%d", strategy, pageCase, threads)
				if strategy == "UringDirect" {
					name = strings.Replace(name, "/threads", "/engine=ring/threads", 1)
				}
				measured := pageCase == "hot" && !strings.HasSuffix(strategy, "Direct")
				if (rows[name] != nil) != measured || (skipped[name] != "") == measured {
					t.Errorf("%s: measured %t, skipped for %q", name, rows[name] != nil, skipped[name])
				}
			}
		}
	}
	if fs := results[0].GetConfig("filesystem"); fs != "tmpfs" {
		t.Errorf("filesystem: %s", fs)
	}
	causes := 0
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "# readbench: skip Benchmark") {
			causes++
			if strings.Count(line, "; ") != 1 {
				t.Errorf("not one cause with one remedy: %s", line)
			}
		}
		if strings.Contains(line, "unsupported") {
			t.Errorf("not for people: %s", line)
		}
	}
	told := strings.Count(stderr, " rows in all: ")
	if strings.Contains(stderr, "io_uring") { // which may be refused here
		causes, told = causes-1, told-1
	}
	if causes != 1 || told != 1 || strings.Count(stderr, "lies on tmpfs: its pages are the file") != 1 {
		t.Errorf("%d causes, %d of them told with their rows:\n%s", causes, told, stderr)
	}
}
