package anytime

import (
	"math"
	"slices"
)

const (
	// recent is the number of rounds whose spread tells where scores are cut off: few, so that it follows a disk that becomes noisy or calm.
	recent = 32
	// cutoff is where, in standard deviations (if x were normal). Huber's 1.345 loses 5 % of normal data; heavy tails want less.
	cutoff = 1.25
	// quartiles is the interquartile range of a normal distribution, in standard deviations.
	quartiles = 1.349
	// sharp stands for 1/0: with it the score is the sign.
	sharp = 1e300
)

// A spread holds the last x in order of size.
type spread struct {
	sorted []float64
}

// per is 1/s for the round to come. As long as the rounds differ in nothing (or most are infinite), the score is the sign.
func (p *spread) per() float64 {
	n := len(p.sorted)
	if n == 0 {
		return sharp
	}
	s := (p.sorted[n-1-n/4] - p.sorted[n/4]) * (cutoff / quartiles)
	if !(s > 1/sharp) || math.IsInf(s, 0) {
		return sharp
	}
	return 1 / s
}

// add takes x in. xs are all rounds before it.
func (p *spread) add(x float64, xs []float64) {
	if p.sorted == nil {
		p.sorted = make([]float64, 0, recent+1)
	}
	if len(p.sorted) == recent {
		i, _ := slices.BinarySearch(p.sorted, xs[len(xs)-recent])
		p.sorted = slices.Delete(p.sorted, i, i+1)
	}
	i, _ := slices.BinarySearch(p.sorted, x)
	p.sorted = slices.Insert(p.sorted, i, x)
}
