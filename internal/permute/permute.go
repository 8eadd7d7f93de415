// Package permute gives permutations of 0…n−1 in O(1) memory: drawing without replacement from any number of things.
//
// A keyed bijection on the next power of two is applied again and again until the result is below n ("cycle walking", Black and
// Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002; fewer than two rounds on average). The bijection
// multiplies by odd numbers and folds the high bits down, each invertible modulo 2^k.
package permute

import "math/bits"

// A Permutation of 0…n−1. It is a value and safe for concurrent use.
type Permutation struct {
	n, mask  uint64
	fold     uint
	mul, add [rounds]uint64
}

const rounds = 3

// New returns the permutation of 0…n−1 with the given seed; n is at least 1.
func New(n, seed uint64) Permutation {
	width := max(bits.Len64(n-1), 1)
	p := Permutation{n: n, mask: 1<<width - 1, fold: uint(width+1) / 2}
	for r := range rounds {
		seed += 0x9e3779b97f4a7c15
		z := (seed ^ seed>>30) * 0xbf58476d1ce4e5b9 // SplitMix64: independent constants from one seed
		z = (z ^ z>>27) * 0x94d049bb133111eb
		p.mul[r] = z ^ z>>31 | 1
		p.add[r] = z * 0xd6e8feb86659fd93
	}
	return p
}

// Len returns n.
func (p *Permutation) Len() uint64 { return p.n }

// At returns element i; i < Len.
func (p *Permutation) At(i uint64) uint64 {
	for {
		for r := range rounds {
			i = (i*p.mul[r] + p.add[r]) & p.mask
			i ^= i >> p.fold
		}
		if i < p.n {
			return i
		}
	}
}
