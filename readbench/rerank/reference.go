package rerank

import (
	"context"
	"fmt"
	"hash/crc32"
	"runtime"
	"sync"
)

// reference answers queries without a file: from vectors that it makes itself. It is not safe for concurrent use.
type reference struct {
	x     *index
	g     *generator
	short *shortlister
	query []float32
	v     []float32
	hits  []hit
}

func newReference(x *index, shortlist int) *reference {
	return &reference{x: x, g: x.generator.clone(), short: newShortlister(x, shortlist), query: make([]float32, x.dim), v: make([]float32, x.dim)}
}

// answer is what any backend must find.
func (r *reference) answer(query int64) []hit {
	r.g.query(r.query, query)
	return r.best(r.short.find(r.query))
}

// best scores the vectors of a list.
func (r *reference) best(list []int32) []hit {
	r.hits = r.hits[:0]
	for _, i := range list {
		r.g.vector(r.v, int(i))
		r.hits = append(r.hits, newHit(distance(r.query, r.v), i))
	}
	return best(r.hits)
}

// check compares an answer with the reference's.
func (r *reference) check(a answer) error {
	if want := digest(r.answer(a.query)); a.digest != want {
		return fmt.Errorf("query %d: its result is not the one that the same vectors give in memory", a.query)
	}
	return nil
}

// recallQueries is of how many queries the exact answer is found out: each takes scoring all vectors.
const recallQueries = 8

// recall is the share of the truly nearest vectors that are in the results of some queries.
func recall(ctx context.Context, x *index, shortlist int) (float64, error) {
	shares := make([]float64, recallQueries)
	var wg sync.WaitGroup
	work := make(chan int64)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			r := newReference(x, shortlist)
			for q := range work {
				shares[q] = r.recall(q * int64(x.clusters/recallQueries+1))
			}
		})
	}
	for q := range int64(recallQueries) {
		if ctx.Err() == nil {
			work <- q
		}
	}
	close(work)
	wg.Wait()
	sum := 0.0
	for _, share := range shares {
		sum += share
	}
	return sum / recallQueries, ctx.Err()
}

// recall is the share of the truly nearest vectors that are in the result of a query.
func (r *reference) recall(query int64) float64 {
	found := map[hit]bool{}
	for _, h := range r.answer(query) {
		found[h] = true
	}
	all := make([]hit, r.x.vectors)
	for i := range all {
		r.g.vector(r.v, i)
		all[i] = newHit(distance(r.query, r.v), int32(i))
	}
	nearest, hits := best(all), 0
	for _, h := range nearest {
		if found[h] {
			hits++
		}
	}
	return float64(hits) / float64(len(nearest))
}

// checksums are those of all vectors' bytes.
func checksums(ctx context.Context, x *index) ([]uint32, error) {
	sums := make([]uint32, x.vectors)
	var wg sync.WaitGroup
	procs := runtime.GOMAXPROCS(0)
	for p := range procs {
		wg.Go(func() {
			g, v, b := x.generator.clone(), make([]float32, x.dim), make([]byte, x.size())
			for i := p; i < x.vectors && ctx.Err() == nil; i += procs {
				g.vector(v, i)
				encode(b, v)
				sums[i] = crc32.Checksum(b, castagnoli)
			}
		})
	}
	wg.Wait()
	return sums, ctx.Err()
}
