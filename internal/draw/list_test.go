package draw

import (
	"testing"

	"github.com/readbench/suite/internal/shape"
)

// Every list has whole ops, of which each thread gets one at least, and a lease has whole ops too.
func TestListReset(t *testing.T) {
	for _, batch := range []int{1, 3, 16, 1000} {
		for _, threads := range []int{1, 8, 1024} {
			for _, n := range []int64{int64(batch * threads), int64(batch*threads) + 7, ListLength, 1 << 20} {
				if n < int64(batch*threads) || batch*threads > ListLength {
					continue
				}
				var l List
				l.reset(&shape.Shape{Batch: batch, Threads: threads, MaxRange: 5}, n)
				b := int64(batch)
				if got := int64(len(l.ranges)); got%b != 0 || got > ListLength || got > n || got < b*int64(threads) {
					t.Errorf("batch %d, threads %d, of %d: a list of %d", batch, threads, n, got)
				}
				if l.lease < b || l.lease%b != 0 || l.lease > max(b, listLease) {
					t.Errorf("batch %d, threads %d, of %d: leases of %d", batch, threads, n, l.lease)
				}
				for _, r := range l.ranges {
					if r.N != 5 {
						t.Fatalf("range %v", r)
					}
				}
			}
		}
	}
}
