package random_test

import (
	"strings"
	"testing"

	"github.com/readbench/suite/internal/benchtest"
)

// Who compares rows by -count is warned: on standard error when the second row begins and at the end, and on top of the
// configuration lines, which benchstat prints above its table.
func TestCountWarns(t *testing.T) {
	u := benchtest.NewUser(t)
	for _, tc := range []struct {
		name, bench, count string
		order              bool // a configuration line
		warnings           int
	}{
		{"several rows, repeated", "(Pread|ReadAt)$", "3", true, 2},
		{"several rows, once", "(Pread|ReadAt)$", "1", false, 0},
		{"one row, repeated", "Pread$", "3", true, 0},
		{"one row of two cases, repeated", "Pread$/hot", "3", true, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cases := "CASES=hot"
			if strings.Contains(tc.bench, "/") {
				cases = "CASES=hot,cold" // of which the pattern leaves one out
			}
			stdout, stderr, exit := u.Benchmark(t, []string{"SIZE=16MiB", "THREADS=1", cases}, "-test.bench="+tc.bench, "-test.benchtime=2x", "-test.count="+tc.count)
			if exit != 0 {
				t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
			}
			results, _ := benchtest.Parse(t, stdout)
			for _, r := range results {
				if order := r.GetConfig("order"); strings.Contains(order, "drift") != tc.order {
					t.Errorf("%s: order: %q", r.Name, order)
				}
			}
			if tc.order && !strings.HasPrefix(stdout, "order: ") {
				t.Errorf("it is not on top:\n%s", stdout)
			}
			if got := strings.Count(stderr, "# readbench: -count="+tc.count+" runs each row "+tc.count+" times in a row"); got != tc.warnings {
				t.Errorf("%d warnings, want %d:\n%s", got, tc.warnings, stderr)
			}
		})
	}
	// One table for runs that differ in how often they repeat.
	lines := map[string]bool{}
	for _, count := range []string{"2", "3"} {
		stdout, _, _ := u.Benchmark(t, []string{"SIZE=16MiB", "THREADS=1", "CASES=hot"}, "-test.bench=Pread$", "-test.benchtime=2x", "-test.count="+count)
		line, _, _ := strings.Cut(stdout, "\n")
		lines[line] = true
	}
	if len(lines) != 1 {
		t.Errorf("benchstat would split its tables by %v", lines)
	}
}
