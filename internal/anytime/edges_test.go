package anytime

import (
	"math/rand/v2"
	"testing"
)

// turn works op by op until length is over; the last op is finished and counted.
func turn(length float64, op func() float64) (rate float64) {
	ops, time := 0.0, 0.0
	for time < length {
		ops, time = ops+1, time+op()
	}
	return ops / time
}

// What a duel compares are typical turns. Two contestants whose ops take the same time on average, always 1 or anything (an exponential distribution),
// differ in that by 1 % with 20 ops a turn, and by nothing that is seen with 500. A contestant that does half the work in each hundredth turn loses half a
// per cent of its ops, of which a duel sees next to nothing.
func TestCentreIsThatOfTypicalTurns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	even := func() float64 { return 1 }
	uneven := func() float64 { return r.ExpFloat64() }
	for _, c := range []struct {
		name        string
		length      float64 // in mean ops
		a, b        func() float64
		stalls      float64 // share of B's turns in which it does half the work
		least, most float64
		rounds      int
	}{
		{"20 ops a turn, one uneven", 20, even, uneven, 0, 0.004, 0.025, 20_000},
		{"500 ops a turn, one uneven", 500, even, uneven, 0, -0.001, 0.003, 20_000},
		{"20 ops a turn, both uneven", 20, uneven, uneven, 0, -0.01, 0.01, 20_000},
		{"500 ops a turn, one stalls", 500, uneven, uneven, 0.01, -0.001, 0.003, 20_000},
	} {
		s := newSequence(t, level)
		for range c.rounds {
			b := turn(c.length, c.b)
			if r.Float64() < c.stalls {
				b /= 2
			}
			s.Add(LogRatio(turn(c.length, c.a), b))
		}
		lo, hi := s.Interval()
		x, _ := s.Estimate()
		t.Logf("%s: %+.2f %% (%+.2f to %+.2f)", c.name, 100*x, 100*lo, 100*hi)
		if x < c.least || x > c.most {
			t.Errorf("%s: estimate %v, want %v to %v", c.name, x, c.least, c.most)
		}
	}
}
