package rerank

// How the index is made: all vectors are made once more, coded and summed.

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/readbench/config"
)

// newIndex makes all vectors again, once: it needs no file.
func newIndex(ctx context.Context, c *config.Config, l layout, s *space) (*index, error) {
	x := &index{space: s, layout: l, shortlist: min(c.Shortlist, l.vectors), words: codeWords(l.dim), sum: summerOf(c.Verify)}
	defer notice.Slow("coding %d vectors", l.vectors)()
	x.placeIDs()
	x.codeCentres()
	x.codes = make([]uint64, l.vectors*x.words)
	x.sums = make([]uint64, l.vectors)
	for i := range int64(samples) {
		x.samples = append(x.samples, sample{query: i * (queries / samples)})
	}
	if err := x.codeVectors(ctx); err != nil {
		return nil, err
	}
	for i, s := range x.samples {
		x.samples[i].answer = x.reference(s.query)
	}
	return x, nil
}

// placeIDs sorts the vectors' numbers by cluster.
func (x *index) placeIDs() {
	x.starts = make([]int32, x.clusters+1)
	clusterOf := func(n int) int { return x.cluster(x.key(streamVectors, uint64(n))) }
	for n := range x.vectors {
		x.starts[clusterOf(n)+1]++
	}
	for c := range x.clusters {
		x.starts[c+1] += x.starts[c]
	}
	x.ids = make([]int32, x.vectors)
	next := slices.Clone(x.starts)
	for n := range x.vectors {
		c := clusterOf(n)
		x.ids[next[c]] = int32(n)
		next[c]++
	}
}

func (x *index) codeCentres() {
	x.centres = make([]uint64, x.clusters*x.words)
	v := make([]float32, x.space.dim)
	for c := range x.clusters {
		for i, n := range x.centre[c*len(v) : (c+1)*len(v)] {
			v[i] = float32(n)
		}
		code(x.centres[c*x.words:(c+1)*x.words], v)
	}
}

// codeVectors makes codes and sums of all vectors, and finds the samples' neighbours on the way.
func (x *index) codeVectors(ctx context.Context) error {
	const piece = 1024
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	asked := x.sampleVectors()
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			v := make([]float32, x.space.dim)
			found := make([]nearest, len(asked))
			for ctx.Err() == nil {
				from := int(next.Add(piece)) - piece
				if from >= x.vectors {
					break
				}
				for at := from; at < min(from+piece, x.vectors); at++ {
					n := x.ids[at]
					x.vector(v, int(n))
					code(x.codes[at*x.words:(at+1)*x.words], v)
					x.sums[n] = x.sum(asBytes(v))
					for i, q := range asked {
						found[i].add(rank(squaredDistance(q, v), n))
					}
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for i := range found {
				s := &x.samples[i]
				s.truth = nearestOf(append(s.truth, found[i]...))
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

func (x *index) sampleVectors() [][]float32 {
	vs := make([][]float32, len(x.samples))
	for i, s := range x.samples {
		vs[i] = make([]float32, x.space.dim)
		x.query(vs[i], s.query)
	}
	return vs
}
