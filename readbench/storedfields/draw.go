package storedfields

import (
	"math/rand/v2"

	"github.com/readbench/suite/internal/permute"
	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/config"
)

// caseCold is the case in which units are chunks.
const caseCold = "cold"

// A drawer draws the documents of an op: it sets at least the first of places, and says how many.
type drawer interface {
	draw(places []place) (int, error)
}

// zipfExponent is near 1, as in what is usual for caches and key-value stores; it must be above 1.
const zipfExponent = 1.01

func newDrawer(w *readbench.Worker, c *Corpus, pageCase string, skew config.Skew, most int) drawer {
	switch {
	case pageCase == caseCold:
		return &coldDrawer{w, c, make([]int64, most)}
	case skew == config.SkewZipf:
		n := uint64(c.Index.Docs)
		z := rand.NewZipf(rand.New(w.Rand()), zipfExponent, 1, n-1)
		return &zipfDrawer{c, z, permute.New(n, zipfOrder), n}
	}
	return &uniformDrawer{w, c, make([]int64, most)}
}

// uniformDrawer draws documents with replacement: units are documents.
type uniformDrawer struct {
	w     *readbench.Worker
	c     *Corpus
	units []int64
}

func (d *uniformDrawer) draw(places []place) (int, error) {
	n, err := d.w.DrawUnits(d.units[:len(places)])
	if err != nil {
		return 0, err
	}
	for i, doc := range d.units[:n] {
		if err := d.c.locate(&places[i], doc); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// coldDrawer draws chunks without replacement, and one document of each: two documents of a chunk share pages, and the
// second one would be warm. Units are chunks.
type coldDrawer struct {
	w     *readbench.Worker
	c     *Corpus
	units []int64
}

func (d *coldDrawer) draw(places []place) (int, error) {
	n, err := d.w.DrawUnits(d.units[:len(places)])
	if err != nil {
		return 0, err
	}
	for i, chunk := range d.units[:n] {
		d.c.locateIn(&places[i], chunk, d.w.Rand().Uint64())
	}
	return n, nil
}

// zipfOrder is the seed of the order in which documents are popular, which is the same for all workers and in all runs.
const zipfOrder = 1

// zipfDrawer draws documents with replacement, few of them often; those lie scattered over the index.
type zipfDrawer struct {
	c     *Corpus
	ranks *rand.Zipf
	order permute.Permutation
	docs  uint64
}

func (d *zipfDrawer) draw(places []place) (int, error) {
	for i := range places {
		if err := d.c.locate(&places[i], int64(d.of(d.ranks.Uint64()))); err != nil {
			return 0, err
		}
	}
	return len(places), nil
}

// of returns the document of a rank. The permutation is one of more elements than there are documents; walking on from one
// that is none comes to one that is, and each is come to from one rank only.
func (d *zipfDrawer) of(rank uint64) uint64 {
	for doc := rank; ; {
		if doc, _ = d.order.At(doc); doc < d.docs {
			return doc
		}
	}
}
