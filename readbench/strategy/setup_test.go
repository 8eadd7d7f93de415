package strategy_test

import (
	"fmt"
	"testing"

	"github.com/readbench/suite/readbench/strategy"
)

// Stripes do not overlap, lie in the file, have as many reads each, and leave out less than one read a worker.
func TestStripe(t *testing.T) {
	for _, size := range []int64{100, 4096, 1 << 20, 1<<20 + 1, 1<<30 - 1} {
		for _, readSize := range []int{1, 100, 1000, 4096, 1 << 20} {
			for _, threads := range []int{1, 2, 3, 16} {
				t.Run(fmt.Sprintf("%d/%d/T%d", size, readSize, threads), func(t *testing.T) {
					s := strategy.Setup{Threads: threads, Order: strategy.OrderSequential, MaxRange: readSize}
					f := strategy.NewFile("", size, nil)
					at := int64(0)
					for w := range threads {
						from, to := s.Stripe(f, w)
						if from != at || to < from || (to-from)%int64(readSize) != 0 {
							t.Fatalf("worker %d: from %d to %d", w, from, to)
						}
						at = to
					}
					if left := size - at; left < 0 || left >= int64(readSize)*int64(threads) {
						t.Errorf("%d bytes are left out", left)
					}
				})
			}
		}
	}
	if from, to := (strategy.Setup{Threads: 2, MaxRange: 10}).Stripe(strategy.NewFile("", 100, nil), 1); from != 0 || to != 100 {
		t.Errorf("in random order a worker reads from %d to %d", from, to)
	}
}
