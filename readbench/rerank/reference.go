package rerank

// What a query is answered by without any backend, and how good the shortlists are.

import "slices"

// reference is a handler's answer to a query without any backend: from vectors that are made again.
func (x *index) reference(query int64) []uint64 {
	s := newSearcher(x)
	var ranks []uint64
	v := make([]float32, x.space.dim)
	for _, n := range s.search(query) {
		x.vector(v, int(n))
		ranks = append(ranks, rank(squaredDistance(s.vector, v), n))
	}
	return nearestOf(ranks)
}

// recall is the share of the samples' true neighbours that the shortlists hold.
func (x *index) recall() float64 {
	found, all := 0, 0
	for _, s := range x.samples {
		for _, r := range s.truth {
			if _, ok := slices.BinarySearch(s.answer, r); ok {
				found++
			}
		}
		all += len(s.truth)
	}
	return float64(found) / float64(all)
}
