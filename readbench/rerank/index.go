package rerank

import (
	"context"
	"math/bits"
	"runtime"
	"sync"
)

// An index is the first stage: in memory, of each vector a code of one bit a dimension, cluster by cluster, and what the
// bytes of the vector are checked against. It is never changed once it is made, and safe for concurrent use.
type index struct {
	*generator
	words   int      // of a code
	codes   []uint64 // member k of cluster c is code number base[c]+k
	base    []int    // and one more
	centres []uint64 // codes of the centres
	marks   []uint32 // of each vector, by its number
}

func newIndex(ctx context.Context, s spec) (*index, error) {
	x := &index{generator: newGenerator(s), words: (s.dim + 63) / 64}
	x.codes, x.marks = make([]uint64, s.vectors*x.words), make([]uint32, s.vectors)
	x.base, x.centres = make([]int, s.clusters+1), make([]uint64, s.clusters*x.words)
	for c := range s.clusters {
		x.base[c+1] = x.base[c] + (s.vectors-c+s.clusters-1)/s.clusters
		code(x.centres[c*x.words:(c+1)*x.words], x.centre(c))
	}
	var wg sync.WaitGroup
	procs := runtime.GOMAXPROCS(0)
	for p := range procs {
		wg.Go(func() {
			g, v, b := x.generator.clone(), make([]float32, s.dim), make([]byte, s.size())
			for i := p; i < s.vectors && ctx.Err() == nil; i += procs {
				g.vector(v, i)
				encode(b, v)
				x.marks[i] = mark(b)
				code(x.code(x.base[i%s.clusters]+i/s.clusters), v)
			}
		})
	}
	wg.Wait()
	return x, ctx.Err()
}

// code is code number i.
func (x *index) code(i int) []uint64 { return x.codes[i*x.words : (i+1)*x.words] }

// code sets dst to the signs of v.
func code(dst []uint64, v []float32) {
	clear(dst)
	for i, x := range v {
		if x >= 0 {
			dst[i/64] |= 1 << (i % 64)
		}
	}
}

// hamming is in how many bits two codes of the same length differ.
func hamming(a, b []uint64) (n int) {
	b = b[:len(a)]
	for ; len(a) >= 4; a, b = a[4:], b[4:] {
		n += bits.OnesCount64(a[0]^b[0]) + bits.OnesCount64(a[1]^b[1]) + bits.OnesCount64(a[2]^b[2]) + bits.OnesCount64(a[3]^b[3])
	}
	for i := range a {
		n += bits.OnesCount64(a[i] ^ b[i])
	}
	return n
}

// probes is how many clusters a query looks at.
const probes = 4

// A shortlister finds shortlists. It is not safe for concurrent use.
type shortlister struct {
	x        *index
	code     []uint64
	nearest  [probes]int // clusters
	distance []int32     // of the codes that were scanned
	count    []int32     // of codes at each distance
	list     []int32
}

func newShortlister(x *index, length int) *shortlister {
	most := x.base[1] * probes // the first cluster is as large as any
	return &shortlister{x: x, code: make([]uint64, x.words), distance: make([]int32, 0, most), count: make([]int32, 64*x.words+1), list: make([]int32, 0, length)}
}

// find returns the vectors whose codes are nearest to the query's, among those of the nearest clusters; as many as the list is
// long, or as there are. It is valid until the next call.
func (s *shortlister) find(query []float32) []int32 {
	x := s.x
	code(s.code, query)
	n := s.nearestClusters()
	s.distance = s.distance[:0]
	clear(s.count)
	for _, c := range s.nearest[:n] {
		for i := x.base[c]; i < x.base[c+1]; i++ {
			d := hamming(s.code, x.code(i))
			s.distance = append(s.distance, int32(d))
			s.count[d]++
		}
	}
	room := int32(cap(s.list))
	last := 0 // distance, at which not all find room
	for ; last < len(s.count) && s.count[last] <= room; last++ {
		room -= s.count[last]
	}
	s.list = s.list[:0]
	at := 0
	for _, c := range s.nearest[:n] {
		for k := range x.base[c+1] - x.base[c] {
			d := int(s.distance[at])
			at++
			if d > last || d == last && room == 0 {
				continue
			}
			if d == last {
				room--
			}
			s.list = append(s.list, int32(c+k*x.clusters))
		}
	}
	return s.list
}

// nearestClusters sets nearest to the clusters whose centres' codes are nearest, and returns how many those are.
func (s *shortlister) nearestClusters() int {
	var distance [probes]int
	n := 0
	for c := range s.x.clusters {
		d := hamming(s.code, s.x.centres[c*s.x.words:(c+1)*s.x.words])
		at := n
		for at > 0 && d < distance[at-1] {
			at--
		}
		if at == probes {
			continue
		}
		n = min(n+1, probes)
		copy(distance[at+1:n], distance[at:])
		copy(s.nearest[at+1:n], s.nearest[at:])
		distance[at], s.nearest[at] = d, c
	}
	return n
}
