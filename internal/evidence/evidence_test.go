package evidence

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	some = Counters{
		DeviceBytes: 1, ReadSyscalls: 2, MajorFaults: 3, MinorFaults: 4, CPU: 5 * time.Second, Switches: 6,
		Disk: Disk{Weighted: 7 * time.Second},
	}
	more = Counters{
		DeviceBytes: 10, ReadSyscalls: 200, MajorFaults: 3000, MinorFaults: 40_000, CPU: 500 * time.Second, Switches: 600_000,
		Disk: Disk{Weighted: 700 * time.Second},
	}
	both = Counters{
		DeviceBytes: 11, ReadSyscalls: 202, MajorFaults: 3003, MinorFaults: 40_004, CPU: 505 * time.Second, Switches: 600_006,
		Disk: Disk{Weighted: 707 * time.Second},
	}
)

// Add adds every counter, and Sub takes every one away again.
func TestAddAndSub(t *testing.T) {
	for _, c := range []struct {
		rule      string
		got, want Counters
	}{
		{"a sum", some.Add(more), both},
		{"the same, the other way round", more.Add(some), both},
		{"a difference", both.Sub(more), some},
		{"the other one", both.Sub(some), more},
		{"adding and taking away", some.Add(more).Sub(more), some},
		{"taking away and adding, below zero in between", some.Sub(more).Add(more), some},
		{"nothing added", some.Add(Counters{}), some},
		{"itself taken away", some.Sub(some), Counters{}},
		{"a counter that wrapped around", Counters{DeviceBytes: 5}.Sub(Counters{DeviceBytes: math.MaxUint64}), Counters{DeviceBytes: 6}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.rule, diff)
		}
	}
}
