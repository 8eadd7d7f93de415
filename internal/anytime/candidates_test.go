package anytime

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"text/tabwriter"
)

// A candidate is a way to test theta = 0 that could have been taken: a score of each round, and the one-sided capital that the scores make.
type candidate struct {
	name  string
	score func(xs, per []float64) []float64
	bets  func() func(u float64) float64
}

// linear bets are those of the package.
func linear() func(float64) float64 {
	c := weights
	return func(u float64) float64 {
		c.bet(u)
		c.settle()
		return c.total()
	}
}

// hyperbolic bets of the same shares: best where the logarithm of the likelihood ratio is the score.
func hyperbolic() func(float64) float64 {
	c := weights
	return func(u float64) float64 {
		for j, f := range shares {
			c[j] *= 1 + math.Tanh(math.Atanh(f)*u)
		}
		return c.total()
	}
}

// normalMixture is de la Peña's, mixed over a normal distribution. Its scale is that of 300 rounds with the noise of the stream "normal".
func normalMixture() func(float64) float64 {
	const rho2 = 1 / (300 * 0.06 * 0.06)
	sum, squares := 0.0, 0.0
	return func(u float64) float64 {
		sum, squares = sum+u, squares+u*u
		if sum < 0 {
			return 0
		}
		return 2 / math.Sqrt(1+rho2*squares) * math.Exp(rho2*sum*sum/2/(1+rho2*squares)) // half a normal distribution
	}
}

func each(f func(x, per float64) float64) func(xs, per []float64) []float64 {
	return func(xs, per []float64) []float64 {
		us := make([]float64, len(xs))
		for i, x := range xs {
			us[i] = f(x, per[i])
		}
		return us
	}
}

// sequentialRanks are Wilcoxon's: the rank of |x| among those so far.
func sequentialRanks(xs, _ []float64) []float64 {
	us := make([]float64, len(xs))
	var sizes []float64
	for i, x := range xs {
		k, _ := slices.BinarySearch(sizes, math.Abs(x))
		sizes = slices.Insert(sizes, k, math.Abs(x))
		us[i] = math.Copysign(float64(k+1)/float64(i+1), x)
	}
	return us
}

func clipped(at float64) func(xs, per []float64) []float64 {
	return each(func(x, per float64) float64 { return score(x, 0, per*cutoff/at) })
}

var candidates = []candidate{
	{"kept: clipped at 1.25 s", clipped(cutoff), linear},
	{"clipped at 1 s", clipped(1), linear},
	{"clipped at 2 s", clipped(2), linear},
	{"clipped at 4 s", clipped(4), linear},
	{"tanh instead of clipped", each(func(x, per float64) float64 { return math.Tanh(x * per) }), linear},
	{"bets 1 + tanh", clipped(cutoff), hyperbolic},
	{"falling off (Student)", each(func(x, per float64) float64 {
		z := x * per * cutoff
		return 4 * z / (4 + z*z)
	}), linear},
	{"signs", each(func(x, _ float64) float64 { return score(x, 0, sharp) }), linear},
	{"ranks", sequentialRanks, linear},
	{"normal mixture", each(func(x, _ float64) float64 { return x }), normalMixture},
}

// rounds is how many it takes the candidate to find that x is above 0; all of them if it does not.
func (c candidate) rounds(xs []float64) float64 {
	var past spread
	per := make([]float64, len(xs))
	for i, x := range xs {
		per[i] = past.per()
		past.add(x, xs[:i])
	}
	capital := c.bets()
	for i, u := range c.score(xs, per) {
		if capital(u) >= 2/level {
			return float64(i + 1)
		}
	}
	return float64(len(xs))
}

// Of the ways that could have been taken, the one that was is the best over all streams, or so near that what speaks for it in the package
// documentation decides.
func TestCandidates(t *testing.T) {
	n := 40
	if testing.Short() || raceDetector {
		n = 10
	}
	var text tableText
	w := tabwriter.NewWriter(&text, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\t")
	for _, d := range disks {
		fmt.Fprintf(w, "%s\t", d.name)
	}
	fmt.Fprintln(w, "mean\t")
	means := make([]float64, len(candidates))
	for i, c := range candidates {
		fmt.Fprintf(w, "%s\t", c.name)
		for _, d := range disks {
			m := median(n, func(seed uint64) float64 {
				next := newDuel(d, seed, math.Log(1.02), true)
				xs := make([]float64, 2000)
				for i := range xs {
					xs[i] = next()
				}
				return c.rounds(xs)
			})
			fmt.Fprintf(w, "%.0f\t", m)
			means[i] += math.Log(m) / float64(len(disks))
		}
		fmt.Fprintf(w, "%.0f\t\n", math.Exp(means[i]))
	}
	w.Flush()
	t.Logf("rounds until a difference of 2 %% is found (medians of %d duels; geometric mean)\n%s", n, text)
	for i, c := range candidates {
		if n >= 40 && means[0] > means[i]+math.Log(1.1) {
			t.Errorf("%q finds 2 %% in %.0f rounds, the one that was kept in %.0f", c.name, math.Exp(means[i]), math.Exp(means[0]))
		}
	}
}
