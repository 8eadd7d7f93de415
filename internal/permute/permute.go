// Package permute gives permutations of 0…n−1 in O(1) memory: drawing without replacement from any number of things.
//
// A keyed bijection on the next power of two, N, is a list of N positions at which 0…N−1 stand in some order;
// leaving out those that are not below n leaves a permutation of 0…n−1. So whoever walks over the positions
// meets each element once. Leaving out can be done without a branch, which would be mispredicted once for each
// that is left out and cost more than all the rest. (Random access would need "cycle walking", Black and
// Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002, which has such a branch.)
//
// The bijection multiplies by odd numbers and folds the high bits down, each invertible modulo 2^k.
package permute

import "math/bits"

// A Permutation of 0…n−1. It is a value and safe for concurrent use.
type Permutation struct {
	mask       uint64
	fold       uint
	mul1, add1 uint64
	mul2, add2 uint64
	mul3       uint64
}

// New returns the permutation of 0…n−1 with the given seed; n is at least 1.
func New(n, seed uint64) Permutation {
	next := func() uint64 { // SplitMix64: independent constants from one seed
		seed += 0x9e3779b97f4a7c15
		z := (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	width := max(bits.Len64(n-1), 1)
	return Permutation{
		mask: 1<<width - 1, fold: uint(width+1) / 2,
		mul1: next() | 1, add1: next(), mul2: next() | 1, add2: next(), mul3: next() | 1,
	}
}

// Positions is the number of positions: the power of two that is at least n, and 2 for n = 1.
func (p *Permutation) Positions() uint64 { return p.mask + 1 }

// At returns what stands at position i, below Positions: an element, or a number of at least n, which is none.
// The high bits of rest are as good as random, and differ from position to position.
func (p *Permutation) At(i uint64) (element, rest uint64) {
	fold := p.fold & 63 // tells the compiler that the shift is one
	i = (i*p.mul1 + p.add1) & p.mask
	i ^= i >> fold
	i = (i*p.mul2 + p.add2) & p.mask
	i ^= i >> fold
	rest = i * p.mul3
	return rest & p.mask, rest
}
