package rerank

import (
	"fmt"
	"hash/crc32"

	"github.com/readbench/suite/readbench"
)

// A searcher answers queries for one worker, through the worker's strategy.
type searcher struct {
	x     *index
	w     *readbench.Worker
	short *shortlister
	g     *generator
	query []float32

	list   []int32
	ranges []readbench.Range
	hits   []hit
	take   func(i int, p []byte) error
	full   []uint32 // checksums of the vectors, if all of their bytes are checked

	stats
}

// stats is what a searcher has done since the last call began.
type stats struct {
	queries int
	reads   int
	sample  []answer // of queries whose results are compared when the call is over
}

// answer is the digest of the result of a query.
type answer struct {
	query  int64
	digest uint64
}

// sampled is how many results a worker keeps to be compared: the first ones.
const sampled = 16

func newSearcher(w *readbench.Worker, x *index, shortlist int, full []uint32) *searcher {
	s := &searcher{
		x: x, w: w, short: newShortlister(x, shortlist), g: x.generator.clone(), query: make([]float32, x.dim),
		ranges: make([]readbench.Range, 0, shortlist), hits: make([]hit, shortlist), full: full,
	}
	s.sample = make([]answer, 0, sampled)
	s.take = s.score
	return s
}

// serve answers a query: it generates it, makes its shortlist, reads and scores that, and keeps the best.
func (s *searcher) serve(query int64) error {
	s.g.query(s.query, query)
	found, err := s.rerank(s.short.find(s.query))
	if err != nil {
		return fmt.Errorf("query %d: %w", query, err)
	}
	s.queries++
	s.reads += len(s.list)
	if len(s.sample) < cap(s.sample) {
		s.sample = append(s.sample, answer{query, digest(found)})
	}
	return nil
}

// rerank reads and scores the vectors of a list, which may have some twice, and returns the best, valid until the next call.
func (s *searcher) rerank(list []int32) ([]hit, error) {
	s.list, s.ranges = list, s.ranges[:0]
	for _, i := range list {
		s.ranges = append(s.ranges, readbench.Range{Off: int64(i) * s.x.stride(), N: s.x.size()})
	}
	if len(list) == 0 {
		return nil, nil
	}
	if err := s.w.Prefetch(0, s.ranges); err != nil {
		return nil, err
	}
	if err := s.w.Fetch(0, s.ranges, s.take); err != nil {
		return nil, err
	}
	return best(s.hits[:len(list)]), nil
}

// score checks and scores the i-th vector of the list.
func (s *searcher) score(i int, p []byte) error {
	vector := s.list[i]
	if mark(p) != s.x.marks[vector] || s.full != nil && crc32.Checksum(p, castagnoli) != s.full[vector] {
		return fmt.Errorf("what was read as vector %d, %d bytes at %d, is not that vector", vector, len(p), s.ranges[i].Off)
	}
	s.hits[i] = newHit(distance(s.query, floats(p)), vector)
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
