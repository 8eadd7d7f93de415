package rerank

import (
	"math"
	"slices"
	"unsafe"
)

// keep is how many vectors a query has as its result.
const keep = 100

// floats are the numbers of a vector as it stands in the file. They are little-endian, as is every machine that Go is tested on but
// s390x, where results would be others, and equal among themselves.
func floats(p []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(p))), len(p)/4)
}

// distance is the square of the Euclidean distance of two vectors of the same length. Four sums run side by side: one alone would
// wait for itself.
func distance(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		d0, d1, d2, d3 := a[0]-b[0], a[1]-b[1], a[2]-b[2], a[3]-b[3]
		s0 += d0 * d0
		s1 += d1 * d1
		s2 += d2 * d2
		s3 += d3 * d3
		a, b = a[4:], b[4:]
	}
	for i := range a {
		d := a[i] - b[i]
		s0 += d * d
	}
	return s0 + s1 + (s2 + s3)
}

// A hit is a vector and its distance, in one word that orders as they do: by distance, then by number.
type hit uint64

// newHit makes a hit; distances are not negative, and then their bits order as they do.
func newHit(distance float32, vector int32) hit {
	return hit(math.Float32bits(distance))<<32 | hit(uint32(vector))
}

// best sorts hits, and returns the keep nearest, each vector once.
func best(hits []hit) []hit {
	slices.Sort(hits)
	hits = slices.Compact(hits)
	return hits[:min(len(hits), keep)]
}

// digest is a number that two results share only if they are the same.
func digest(hits []hit) uint64 {
	h := uint64(len(hits))
	for _, x := range hits {
		h = (h ^ uint64(x)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h
}
