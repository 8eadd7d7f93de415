package draw

import (
	"math/bits"
	"math/rand/v2"

	"github.com/readbench/suite/readbench/strategy"
)

// A Uniform draws with replacement. The high word of a random number times n is uniform over 0…n−1 (Lemire, "Fast
// random integer generation in an interval", ACM TOMACS 2019; its bias of n/2^64 is left), and the low word is
// uniform for each of them.
type Uniform struct {
	Geometry
	RNG *rand.PCG
}

// Draw sets all offsets.
func (u *Uniform) Draw(rs []strategy.Range) (int, error) {
	for i := range rs {
		slot, rest := bits.Mul64(u.RNG.Uint64(), uint64(u.Slots))
		rs[i].Off = u.offset(int64(slot), rest)
	}
	return len(rs), nil
}
