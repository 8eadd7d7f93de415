package rerank

import (
	"fmt"
	"slices"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/readbench/strategy"
)

// source is where a handler reads from: a readbench.Worker.
type source interface {
	Prefetch(file int, rs []strategy.Range) error
	Fetch(file int, rs []strategy.Range, each func(i int, p []byte) error) error
}

// A Handler answers queries: it finds a query's shortlist in memory, reads its vectors through the strategy of a worker, and
// ranks them by their exact distance. It belongs to that worker's goroutine, and allocates nothing once it is made.
type Handler struct {
	_        cpu.CacheLinePad
	search   *searcher
	src      source
	answers  *answers
	ids      []int32 // of the shortlist that is being read
	ranges   []strategy.Range
	ranks    []uint64 // of its vectors
	each     func(i int, p []byte) error
	counters counters
	_        cpu.CacheLinePad
}

// counters are what a handler did.
type counters struct{ queries, reads uint64 }

func newHandler(x *index, a *answers, src source) *Handler {
	h := &Handler{search: newSearcher(x), src: src, answers: a}
	h.ranges, h.ranks = make([]strategy.Range, x.shortlist), make([]uint64, x.shortlist)
	h.each = h.take
	return h
}

// Serve answers a query, by its number, from 0 to below Queries. An error says that a read failed, that what was read is
// not what the file holds, or that the answer is not the one that another backend gave.
func (h *Handler) Serve(query int64) error {
	top, err := h.answer(query)
	if err != nil {
		return err
	}
	return h.answers.compare(query, top)
}

// answer returns the ranks of the query's nearest vectors, nearest first, valid until the next call.
func (h *Handler) answer(query int64) ([]uint64, error) {
	top, err := h.rerank(h.search.search(query))
	if err != nil {
		return nil, fmt.Errorf("query %d: %w", query, err)
	}
	h.counters.queries++
	return top, nil
}

// rerank reads the vectors of a shortlist and ranks them. One that is there twice is read twice and ranked once.
func (h *Handler) rerank(ids []int32) ([]uint64, error) {
	h.ids = ids
	if len(ids) > len(h.ranges) {
		h.ranges, h.ranks = make([]strategy.Range, len(ids)), make([]uint64, len(ids))
	}
	rs, ranks := h.ranges[:len(ids)], h.ranks[:len(ids)]
	for i, n := range ids {
		rs[i] = h.search.x.place(n)
	}
	if len(ids) > 0 {
		if err := h.src.Prefetch(0, rs); err != nil {
			return nil, err
		}
		if err := h.src.Fetch(0, rs, h.each); err != nil {
			return nil, err
		}
	}
	h.counters.reads += uint64(len(ids))
	return nearestOf(ranks), nil
}

// take ranks one vector.
func (h *Handler) take(i int, p []byte) error {
	n := h.ids[i]
	x := h.search.x
	if x.sum(p) != x.sums[n] {
		return x.explain(n, p)
	}
	v, ok := floats(p)
	if !ok {
		return fmt.Errorf("vector %d came at an address that is no multiple of 4: its numbers cannot be read in place", n)
	}
	h.ranks[i] = rank(squaredDistance(h.search.vector, v), n)
	return nil
}

// explain says what is wrong with what was read as vector n.
func (x *index) explain(n int32, p []byte) error {
	v := make([]float32, x.space.dim)
	x.vector(v, int(n))
	want := asBytes(v)
	if slices.Equal(want, p) {
		return fmt.Errorf("vector %d was wrong when it was checked, and is right now: it changed while it was read", n)
	}
	at := 0
	for at < len(p) && p[at] == want[at] {
		at++
	}
	return fmt.Errorf("vector %d, at %d of the file: wrong from byte %d on: it holds another vector, or is damaged; remove it, and it is made anew",
		n, x.place(n).Off, at)
}

// examine has a handler answer the sample queries, and compares that with the reference.
func (h *Handler) examine() error {
	for _, s := range h.search.x.samples {
		top, err := h.answer(s.query)
		if err != nil {
			return err
		}
		if !slices.Equal(top, s.answer) {
			return fmt.Errorf("query %d: its nearest vectors are %v…, not %v…, as without a file", s.query, numbers(top), numbers(s.answer))
		}
		if err := h.answers.compare(s.query, top); err != nil {
			return err
		}
	}
	return nil
}

// numbers are those of the first few of an answer's vectors.
func numbers(top []uint64) (ns []int32) {
	for _, r := range top[:min(8, len(top))] {
		ns = append(ns, ranked(r))
	}
	return ns
}
