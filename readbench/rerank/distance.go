package rerank

import (
	"math"
	"math/bits"
)

// squaredDistance is the square of the Euclidean distance of two vectors of one length. Eight sums, since one would wait
// for itself; it adds up in one order always, so that the same bytes give the same result.
func squaredDistance(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	b = b[:len(a)]
	i := 0
	for ; i+16 <= len(a); i += 16 {
		x, y := (*[16]float32)(a[i:]), (*[16]float32)(b[i:])
		d0 := x[0] - y[0]
		s0 += d0 * d0
		d1 := x[1] - y[1]
		s1 += d1 * d1
		d2 := x[2] - y[2]
		s2 += d2 * d2
		d3 := x[3] - y[3]
		s3 += d3 * d3
		d4 := x[4] - y[4]
		s4 += d4 * d4
		d5 := x[5] - y[5]
		s5 += d5 * d5
		d6 := x[6] - y[6]
		s6 += d6 * d6
		d7 := x[7] - y[7]
		s7 += d7 * d7
		d8 := x[8] - y[8]
		s0 += d8 * d8
		d9 := x[9] - y[9]
		s1 += d9 * d9
		d10 := x[10] - y[10]
		s2 += d10 * d10
		d11 := x[11] - y[11]
		s3 += d11 * d11
		d12 := x[12] - y[12]
		s4 += d12 * d12
		d13 := x[13] - y[13]
		s5 += d13 * d13
		d14 := x[14] - y[14]
		s6 += d14 * d14
		d15 := x[15] - y[15]
		s7 += d15 * d15
	}
	for ; i < len(a); i++ {
		d := a[i] - b[i]
		s0 += d * d
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}

// rank orders vectors by distance, and those at one distance by number: a smaller one is nearer. Distances are not
// negative, so their bits order as they do.
func rank(distance float32, n int32) uint64 {
	return uint64(math.Float32bits(distance))<<32 | uint64(uint32(n))
}

// ranked is the number of a vector from its rank.
func ranked(rank uint64) int32 { return int32(uint32(rank)) }

// hamming is in how many bits two codes of one length differ.
func hamming(a, b []uint64) int {
	b = b[:len(a)]
	n, i := 0, 0
	for ; i+4 <= len(a); i += 4 {
		x, y := (*[4]uint64)(a[i:]), (*[4]uint64)(b[i:])
		n += bits.OnesCount64(x[0]^y[0]) + bits.OnesCount64(x[1]^y[1]) + bits.OnesCount64(x[2]^y[2]) + bits.OnesCount64(x[3]^y[3])
	}
	for ; i < len(a); i++ {
		n += bits.OnesCount64(a[i] ^ b[i])
	}
	return n
}
