package pressure

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	some = Totals{&Stall{1, 2}, &Stall{3, 4}, &Reclaim{5, 6, 7, 8, 9}, &Disk{10, 11}}
	more = Totals{&Stall{100, 200}, &Stall{300, 400}, &Reclaim{500, 600, 700, 800, 900}, &Disk{1000, 1100}}
	sum  = Totals{&Stall{101, 202}, &Stall{303, 404}, &Reclaim{505, 606, 707, 808, 909}, &Disk{1010, 1111}}
)

// Add adds every part, Sub takes it away again, and what is missing in one stays missing.
func TestAddAndSub(t *testing.T) {
	for _, c := range []struct {
		rule      string
		got, want Totals
	}{
		{"a sum", some.Add(more), sum},
		{"the other way round", more.Add(some), sum},
		{"a difference", sum.Sub(more), some},
		{"the other one", sum.Sub(some), more},
		{"below zero in between", some.Sub(more).Add(more), some},
		{"no memory stalls in one", some.Add(Totals{IO: more.IO, Reclaim: more.Reclaim, Disk: more.Disk}), Totals{IO: sum.IO, Reclaim: sum.Reclaim, Disk: sum.Disk}},
		{"nothing in the other", Totals{}.Sub(some), Totals{}},
		{"a counter that wrapped around", Totals{Disk: &Disk{Reads: 5}}.Sub(Totals{Disk: &Disk{Reads: math.MaxUint64}}), Totals{Disk: &Disk{Reads: 6}}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.rule, diff)
		}
	}
	if diff := cmp.Diff(Totals{&Stall{1, 2}, &Stall{3, 4}, &Reclaim{5, 6, 7, 8, 9}, &Disk{10, 11}}, some); diff != "" {
		t.Errorf("an operand changed:\n%s", diff)
	}
}

func TestMeanRead(t *testing.T) {
	for d, want := range map[Disk]float64{{}: 0, {Reads: 4, Bytes: 16384}: 4096, {Reads: 3, Bytes: 4}: 4.0 / 3} {
		if got := d.MeanRead(); got != want {
			t.Errorf("%+v: %v, want %v", d, got, want)
		}
	}
}
