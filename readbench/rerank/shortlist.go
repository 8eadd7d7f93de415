package rerank

import "math"

// searcher is the first stage of a query: from the codes in memory, which vectors to read. It belongs to one goroutine.
type searcher struct {
	x        *index
	vector   []float32 // of the query
	code     []uint64
	clusters []uint16 // distance of each cluster's centre; taken is one that was scanned
	slots    []int32  // candidates, as places in the index
	away     []uint16 // their distances
	counts   []int32  // candidates at each distance
	list     []int32  // the shortlist: numbers of vectors
}

const taken = math.MaxUint16

func newSearcher(x *index) *searcher {
	largest := 0
	for c := range x.clusters {
		largest = max(largest, int(x.starts[c+1]-x.starts[c]))
	}
	most := min(x.vectors, max(probes*largest, candidate*x.shortlist+largest))
	return &searcher{
		x: x, vector: make([]float32, x.space.dim), code: make([]uint64, x.words), clusters: make([]uint16, x.clusters),
		slots: make([]int32, 0, most), away: make([]uint16, 0, most), counts: make([]int32, x.space.dim+1),
		list: make([]int32, 0, x.shortlist),
	}
}

// search returns the shortlist of a query: of the vectors in the nearest clusters those with the nearest codes. Of equally
// near ones it takes those that come first in the index. The list is the searcher's own, valid until the next call.
func (s *searcher) search(query int64) []int32 {
	s.x.query(s.vector, query)
	code(s.code, s.vector)
	s.scan()
	return s.choose()
}

// scan measures the codes of the nearest clusters.
func (s *searcher) scan() {
	x, w := s.x, s.x.words
	for c := range s.clusters {
		s.clusters[c] = uint16(min(hamming(s.code, x.centres[c*w:(c+1)*w]), taken-1))
	}
	s.slots, s.away = s.slots[:0], s.away[:0]
	clear(s.counts)
	for probed := 0; probed < x.clusters && (probed < probes || len(s.slots) < candidate*x.shortlist); probed++ {
		best := 0
		for c, d := range s.clusters {
			if d < s.clusters[best] {
				best = c
			}
		}
		s.clusters[best] = taken
		from, to := x.starts[best], x.starts[best+1]
		codes := x.codes[int(from)*w : int(to)*w]
		for slot := from; slot < to; slot++ {
			d := hamming(s.code, codes[:w])
			codes = codes[w:]
			s.counts[d]++
			s.slots, s.away = append(s.slots, slot), append(s.away, uint16(d))
		}
	}
}

// choose takes the nearest candidates.
func (s *searcher) choose() []int32 {
	left, limit := int32(s.x.shortlist), 0
	for ; limit < len(s.counts) && s.counts[limit] <= left; limit++ {
		left -= s.counts[limit]
	}
	list := s.list[:0] // left are those that it takes at distance limit
	for i, d := range s.away {
		switch {
		case int(d) < limit:
		case int(d) == limit && left > 0:
			left--
		default:
			continue
		}
		list = append(list, s.x.ids[s.slots[i]])
	}
	s.list = list
	return list
}
