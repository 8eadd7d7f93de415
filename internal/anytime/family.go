package anytime

import "slices"

// Pairs is the number of pairs of k contestants.
func Pairs(k int) int { return k * (k - 1) / 2 }

// Holm says which of a family of hypotheses are refuted, so that a true one is among them with a probability of at most alpha, however the e-values depend on
// each other. It takes the e-values of this moment, or of the moment at which a pair was stopped (not the largest so far); it may be asked again and
// again, and what it refuted once stays refuted.
//
// A hypothesis is refuted if for every set of hypotheses that it is in, the mean of the e-values is at least 1/alpha (closed testing;
// Vovk and Wang 2021, who call it e-Holm). Of sets of one size the one with the smallest others has the smallest mean, so there are
// only as many to look at as there are hypotheses. It refutes all that Holm's procedure would with p-values 1/e, and more.
//
// Why at every moment: e-values of pairs, each run with coins of its own or in the same rounds, run on or stopped, are martingales in
// what is known of all of them. So is the mean over the true hypotheses. A true one is refuted only if that mean is at least 1/alpha.
func Holm(evalues []float64, alpha float64) []bool {
	ascending := slices.Sorted(slices.Values(evalues))
	refuted := make([]bool, len(evalues))
	for i, e := range evalues {
		sum, size := e, 1.0
		refuted[i] = sum >= size/alpha
		skipped := false
		for _, other := range ascending {
			if other == e && !skipped {
				skipped = true // itself
				continue
			}
			sum, size = sum+other, size+1
			refuted[i] = refuted[i] && sum >= size/alpha
		}
	}
	return refuted
}
