// Package permute gives permutations of 0…n−1 in O(1) memory: drawing without replacement from any number of things.
//
// A keyed bijection on the next power of two is applied again and again until the result is below n ("cycle walking", Black and
// Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002; fewer than two rounds on average). The bijection
// multiplies by odd numbers and folds the high bits down, each invertible modulo 2^k.
package permute

import "math/bits"

// A Permutation of 0…n−1. It is a value and safe for concurrent use.
type Permutation struct {
	n, mask    uint64
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
		n: n, mask: 1<<width - 1, fold: uint(width+1) / 2,
		mul1: next() | 1, add1: next(), mul2: next() | 1, add2: next(), mul3: next() | 1,
	}
}

// At returns element i; i is below n.
func (p *Permutation) At(i uint64) uint64 {
	fold := p.fold & 63 // tells the compiler that the shift is one
	for {
		i = (i*p.mul1 + p.add1) & p.mask
		i ^= i >> fold
		i = (i*p.mul2 + p.add2) & p.mask
		i ^= i >> fold
		i = (i * p.mul3) & p.mask
		if i < p.n {
			return i
		}
	}
}
