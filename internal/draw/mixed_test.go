package draw

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Of each hundred reads exactly the share is cold, at places that differ from hundred to hundred.
func TestMixedPlan(t *testing.T) {
	for _, percent := range []int{1, 10, 50, 99} {
		d := NewMixed(percent, 25, new(Stock), rand.NewPCG(1, uint64(percent)), nil, new(Evictions))
		patterns := map[string]bool{}
		for range 100 {
			colds, pattern := 0, ""
			for range 4 {
				n := d.plan(25)
				counted := 0
				for _, cold := range d.isCold {
					if cold {
						counted++
					}
				}
				if counted != n {
					t.Fatalf("%d cold reads, it says %d", counted, n)
				}
				colds += n
				pattern += fmt.Sprint(d.isCold)
			}
			if colds != percent {
				t.Fatalf("%d of a hundred are cold, want %d", colds, percent)
			}
			patterns[pattern] = true
		}
		if len(patterns) < 50 {
			t.Errorf("%d %%: %d patterns in 100 hundreds", percent, len(patterns))
		}
	}
}
