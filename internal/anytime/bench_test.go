package anytime

import (
	"fmt"
	"testing"
)

// What a round costs, on average over a duel of so many, the moves of the ends included.
func BenchmarkAdd(b *testing.B) {
	for _, rounds := range []int{100, 1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("rounds=%d", rounds), func(b *testing.B) {
			next := newDuel(disks[0], 1, 0.02, true)
			xs := make([]float64, rounds)
			for i := range xs {
				xs[i] = next()
			}
			var s *Sequence
			i := rounds
			for b.Loop() {
				if i == rounds {
					i, s = 0, newSequence(b, level)
				}
				s.Add(xs[i])
				i++
			}
		})
	}
}

// What a progress line costs.
func BenchmarkEstimate(b *testing.B) {
	for _, rounds := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("rounds=%d", rounds), func(b *testing.B) {
			next := newDuel(disks[0], 1, 0.02, true)
			s := newSequence(b, level)
			for range rounds {
				s.Add(next())
			}
			for b.Loop() {
				s.Estimate()
			}
		})
	}
}
