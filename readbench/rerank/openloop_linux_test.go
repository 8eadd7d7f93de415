package rerank_test

import (
	"strings"
	"testing"

	"github.com/readbench/suite/internal/benchtest"
)

// An open loop gives a row for each backend, in which every query is accounted for; cold it has none, and says why. The
// service level's row has a rate that kept it.
func TestOpenLoopRows(t *testing.T) {
	u := benchtest.NewUser(t)
	settings := append([]string{"CASES=hot,cold", "RATES=100", "HANDLERS=4", "SLA_STEP=200ms", "SLA_P99=10s"}, small...)
	stdout, stderr, exit := u.Benchmark(t, settings, "-test.bench=(OpenLoop|SLA)/.*/backend=(mmap$|serial)", "-test.benchtime=1x")
	if exit != 0 {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	results, units := benchtest.Parse(t, stdout)
	rows := benchtest.Rows(results)
	for _, name := range []string{
		"OpenLoop/case=hot/backend=serial/rate=100/threads=4", "OpenLoop/case=hot/backend=mmap/rate=100/threads=4",
		"SLA/case=hot/backend=serial/threads=4", "SLA/case=hot/backend=mmap/threads=4",
	} {
		r := rows[name]
		if r == nil {
			t.Errorf("%s is missing\n%s%s", name, stdout, stderr)
			continue
		}
		for _, unit := range []string{"open-p50-sec/op", "open-p99-sec/op", "open-p999-sec/op", "generator-late-p99-sec/op", "served/s"} {
			if v := benchtest.Value(t, r, unit); v <= 0 {
				t.Errorf("%s: %s is %v", name, unit, v)
			}
		}
		if n := benchtest.Value(t, r, "reads/op"); n != 120 {
			t.Errorf("%s reads %v vectors a query", name, n)
		}
		if shed := benchtest.Value(t, r, "shed-%"); strings.HasPrefix(name, "SLA") && shed > 0.1 {
			t.Errorf("%s: %v %% were shed at the rate that was found", name, shed)
		}
		if rate, ok := r.Value("queries/s"); ok != strings.HasPrefix(name, "SLA") || ok && rate < 4 {
			t.Errorf("%s: a rate of %v", name, rate)
		}
	}
	skipped := benchtest.Skipped(stderr)
	for name, cause := range skipped {
		if !strings.Contains(name, "/case=cold/") || !strings.Contains(cause, "in an open loop queries come without pause") {
			t.Errorf("%s is skipped for %s", name, cause)
		}
	}
	if len(skipped) != 4 {
		t.Errorf("%d skips of cold rows, want 4\n%s", len(skipped), stderr)
	}
	if len(results) != 4 {
		t.Errorf("%d rows", len(results))
	}
	for unit, better := range map[string]int{"queries/s": 1, "served/s": 1, "shed-%": -1, "open-p99-ns/op": -1} {
		if units.GetBetter(unit) != better {
			t.Errorf("unit %s: better=%d, want %d", unit, units.GetBetter(unit), better)
		}
	}
	for _, key := range []string{"queue", "sla", "sla-step", "depth"} {
		if results[len(results)-1].GetConfig(key) == "" {
			t.Errorf("the configuration lines do not tell %s", key)
		}
	}
}
