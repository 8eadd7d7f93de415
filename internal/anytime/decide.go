package anytime

import "math"

// An Outcome is what an interval says of A and B.
type Outcome int

// Undecided may change with more rounds; the others are final.
const (
	Undecided     Outcome = iota
	Faster                // A is faster than B
	Slower                // A is slower than B
	Same                  // no difference larger than resolve
	Contradiction         // nothing is left in the interval: the difference changed while it was measured
)

// String is the outcome in words.
func (o Outcome) String() string {
	return [...]string{"undecided", "faster", "slower", "same", "contradiction"}[o]
}

// Decide is the rule to stop by. The interval of ln(A / B), lo and hi excluded, says Faster or Slower if 0 is not in it; else Same if it holds nothing but
// ratios from 1/(1+resolve) to 1+resolve; else it is Undecided. A difference that is certain but smaller than resolve is a difference; Largest
// tells its size. With resolve 0 there is no Same.
func Decide(lo, hi, resolve float64) Outcome {
	within := math.Log1p(resolve)
	switch {
	case lo >= hi:
		return Contradiction
	case lo >= 0:
		return Faster
	case hi <= 0:
		return Slower
	case resolve > 0 && lo >= -within && hi <= within:
		return Same
	}
	return Undecided
}

// Largest is the largest difference that the interval of ln(A / B) leaves possible, as a part of the slower one's rate: "no difference larger
// than x". Infinite if an end is.
func Largest(lo, hi float64) float64 { return math.Expm1(max(math.Abs(lo), math.Abs(hi))) }
