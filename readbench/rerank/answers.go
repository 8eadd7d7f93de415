package rerank

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// answers remembers what every query was answered by whoever answered it first: all other backends must say the same. It
// is safe for concurrent use, and shared by all rows of a process.
type answers struct {
	digests []atomic.Uint64 // by query; 0: not answered yet
}

func newAnswers() *answers { return &answers{make([]atomic.Uint64, queries)} }

// compare returns an error if the query was answered differently before.
func (a *answers) compare(query int64, top []uint64) error {
	d := digest(top)
	known := &a.digests[query]
	if was := known.Load(); was == d || was == 0 && known.CompareAndSwap(0, d) || known.Load() == d {
		return nil
	}
	return fmt.Errorf("query %d: its %d nearest vectors are not those of the backends before, though each vector's bytes are right", query, len(top))
}

// digest makes a number of an answer, which is not 0.
func digest(top []uint64) uint64 {
	d := uint64(len(top))
	for _, r := range top {
		d = (d ^ r) * sumMul
		d ^= d >> 29
	}
	return max(1, d)
}

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

// examine has a handler answer the sample queries, and compares that with the reference.
func (h *Handler) examine() error {
	for _, s := range h.search.x.samples {
		top, err := h.answer(s.query)
		if err != nil {
			return err
		}
		if !slices.Equal(top, s.answer) {
			return fmt.Errorf("query %d: its nearest vectors are %v…, not %v…, as without a file", s.query, numbers(top), numbers(s.answer))
		}
		if err := h.answers.compare(s.query, top); err != nil {
			return err
		}
	}
	return nil
}

// numbers are those of the first few of an answer's vectors.
func numbers(top []uint64) (ns []int32) {
	for _, r := range top[:min(8, len(top))] {
		ns = append(ns, ranked(r))
	}
	return ns
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
