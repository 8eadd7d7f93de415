package rerank

import "slices"

// nearest gathers ranks and keeps at least the topK smallest.
type nearest []uint64

func (b *nearest) add(r uint64) {
	if *b = append(*b, r); len(*b) >= 16*topK {
		*b = nearestOf(*b)
	}
}

// nearestOf sorts ranks in place and returns the topK smallest, each vector once.
func nearestOf(ranks []uint64) []uint64 {
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	return ranks[:min(topK, len(ranks))]
}
