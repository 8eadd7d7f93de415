package rerank

import (
	"fmt"
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
