package rerank

import (
	"math"
	"math/bits"
)

// The vectors are made up so that a search for neighbours among them is one: they come in clusters, a cluster is a circle in
// a plane of its own, thickened by noise, and a vector's neighbours are those at about its angle. All places of a circle
// are alike, and the noise has nearly the same length in every vector, so that none is everybody's neighbour, and queries
// that are drawn uniformly read the file uniformly.
//
// A vector is a function of seed and number alone. Coordinates are sums of whole numbers below 2^24, which float32 holds
// exactly: they are the same whatever the compiler makes of them.
const (
	clusterSize = 1024 // vectors of a cluster, on average
	angles      = 1024 // places on a circle
	unit        = 64   // of the fixed-point numbers below
	scale       = 1.0 / (1 << 17)
	thickness   = 40 // of a circle: its noise has up to 128 times this in a coordinate, its axes up to 2048
	gamma       = 0x9e3779b97f4a7c15
)

// stream numbers what is drawn from a seed.
const (
	streamClusters = iota + 1
	streamVectors
	streamQueries
)

// mix is the output function of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// space is where vectors and queries lie. It is read-only and safe for concurrent use.
type space struct {
	seed     uint64
	dim      int
	clusters int
	// centre and the two axes of each cluster, dim numbers each.
	centre, axis1, axis2 []int16
	cos, sin             [angles]int32 // times unit
}

func newSpace(seed uint64, dim, vectors int) *space {
	s := &space{seed: seed, dim: dim, clusters: max(1, vectors/clusterSize)}
	n := s.clusters * dim
	s.centre, s.axis1, s.axis2 = make([]int16, n), make([]int16, n), make([]int16, n)
	key := s.key(streamClusters, 0)
	for i := range n {
		r := mix(key + uint64(i)*gamma)
		s.centre[i], s.axis1[i], s.axis2[i] = coordinate(r), coordinate(r>>12), coordinate(r>>24)
	}
	for i := range angles {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / angles)
		s.sin[i], s.cos[i] = int32(math.Round(unit*sin)), int32(math.Round(unit*cos))
	}
	return s
}

// coordinate makes 12 random bits a number from -2048 to 2047.
func coordinate(r uint64) int16 { return int16(r&4095) - 2048 }

// key is what thing number n of a stream is made of.
func (s *space) key(stream, n uint64) uint64 { return mix(mix(s.seed+stream*gamma) + n*gamma) }

// cluster is the cluster of a vector or query.
func (s *space) cluster(key uint64) int {
	hi, _ := bits.Mul64(key, uint64(s.clusters))
	return int(hi)
}

// vector sets dst, which has dim numbers, to vector n.
func (s *space) vector(dst []float32, n int) { s.point(dst, s.key(streamVectors, uint64(n))) }

// query sets dst, which has dim numbers, to query n.
func (s *space) query(dst []float32, n int64) { s.point(dst, s.key(streamQueries, uint64(n))) }

func (s *space) point(dst []float32, key uint64) {
	at := s.cluster(key) * s.dim
	state := mix(key)
	angle := state % angles
	cos, sin := s.cos[angle], s.sin[angle]
	centre, axis1, axis2 := s.centre[at:at+len(dst)], s.axis1[at:at+len(dst)], s.axis2[at:at+len(dst)]
	for len(dst) > 0 {
		state += gamma
		random := mix(state) // 8 bits for each of 8 coordinates
		d := dst[:min(8, len(dst))]
		c, a1, a2 := centre[:len(d)], axis1[:len(d)], axis2[:len(d)]
		for i := range d {
			noise := thickness * int32(int8(random))
			random >>= 8
			d[i] = float32(unit*(int32(c[i])+noise)+cos*int32(a1[i])+sin*int32(a2[i])) * scale
		}
		dst, centre, axis1, axis2 = dst[len(d):], centre[len(d):], axis1[len(d):], axis2[len(d):]
	}
}

// code sets dst to the signs of a vector, one bit each: what is kept of it in memory.
func code(dst []uint64, v []float32) {
	for i := range dst {
		var word uint64
		for j, x := range v[i*64 : min(i*64+64, len(v))] {
			word |= uint64(math.Float32bits(x)>>31) << (j & 63)
		}
		dst[i] = word
	}
}

// codeWords is how many words the code of a vector has.
func codeWords(dim int) int { return (dim + 63) / 64 }
