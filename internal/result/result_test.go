package result

import (
	"strings"
	"testing"

	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/strategy"
)

// What a row of probes met, only Counters can tell, and they tell it of each range.
func TestJudgeProbes(t *testing.T) {
	for _, tc := range []struct {
		name    string
		counted bool
		probed  uint64
		want    string // in the error; "" for none
	}{
		{"all are probed", true, 2, ""},
		{"one of two is probed", true, 1, "pread counts 1 probes of 2 ranges"},
		{"nobody counts", false, 0, "no Counters"},
	} {
		res := Result{Shape: &shape.Shape{Effect: shape.Probe, Batch: 1}, Strategy: "pread", Ops: 2, Counted: tc.counted, Counts: strategy.Counts{Probed: tc.probed}}
		err := res.JudgeProbes()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
		}
	}
}
