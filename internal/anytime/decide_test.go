package anytime

import (
	"math"
	"testing"
)

func TestDecide(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		lo, hi, resolve float64
		want            Outcome
	}{
		{-inf, inf, 0.01, Undecided},
		{-0.02, 0.02, 0.01, Undecided},
		{-0.005, 0.02, 0.01, Undecided},
		{-0.005, 0.005, 0.01, Same},
		{-0.005, 0.005, 0, Undecided},
		{-math.Log1p(0.01), math.Log1p(0.01), 0.01, Same},
		{0.01, 0.02, 0.01, Faster},
		{0, 0.02, 0.01, Faster}, // 0 itself is refuted
		{0.001, 0.002, 0.01, Faster},
		{-0.02, 0, 0.01, Slower},
		{-inf, -1, 0.01, Slower},
		{0.5, inf, 0.01, Faster},
		{0.2, 0.1, 0.01, Contradiction},
		{0.1, 0.1, 0.01, Contradiction},
	} {
		if got := Decide(c.lo, c.hi, c.resolve); got != c.want {
			t.Errorf("Decide(%v, %v, %v) = %v, want %v", c.lo, c.hi, c.resolve, got, c.want)
		}
	}
}

func TestLargest(t *testing.T) {
	for _, c := range []struct{ lo, hi, want float64 }{
		{-math.Log(1.008), math.Log(1.002), 0.008},
		{-math.Log(1.002), math.Log(1.008), 0.008},
		{math.Log(1.04), math.Log(1.05), 0.05},
		{math.Inf(-1), math.Log(1.05), math.Inf(1)},
	} {
		if got := Largest(c.lo, c.hi); got != c.want && math.Abs(got-c.want) > 1e-12 {
			t.Errorf("Largest(%v, %v) = %v, want %v", c.lo, c.hi, got, c.want)
		}
	}
}
