package storedfields

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/readbench/suite/internal/permute"
)

// Documents and chunks are found where they are, in every segment.
func TestLocate(t *testing.T) {
	c := openCorpus(t, filepath.Join("lucene", "testdata", "10.6", "segments"))
	var p place
	ids := map[int64]int{}
	for doc := range c.Index.Docs {
		if err := c.locate(&p, doc); err != nil {
			t.Fatal(err)
		}
		if p.doc != doc || p.seg.DocBase > doc || doc >= p.seg.DocBase+int64(p.seg.Docs) || p.local() < p.chunk.DocBase || p.local() >= p.chunk.DocBase+p.chunk.Docs {
			t.Fatalf("document %d is said to be in segment %s, chunk %+v", doc, p.seg.Name, p.chunk)
		}
		ids[p.id()]++
	}
	if int64(len(ids)) != c.chunks {
		t.Fatalf("documents of %d chunks, there are %d", len(ids), c.chunks)
	}
	for id := range c.chunks {
		seen := map[int64]bool{}
		for n := range uint64(ids[id]) {
			c.locateIn(&p, id, n+uint64(ids[id])*3)
			if p.id() != id {
				t.Fatalf("chunk %d is said to be %d", id, p.id())
			}
			seen[p.doc] = true
			doc := p.doc
			if err := c.locate(&p, doc); err != nil || p.id() != id {
				t.Fatalf("document %d of chunk %d is in chunk %d: %v", doc, id, p.id(), err)
			}
		}
		if len(seen) != ids[id] {
			t.Fatalf("%d documents of chunk %d, it has %d", len(seen), id, ids[id])
		}
	}
}

// Zipf draws are skewed as the exponent says, the same for each seed, and of all documents.
func TestZipf(t *testing.T) {
	c := openCorpus(t, filepath.Join("lucene", "testdata", "10.6", "segments"))
	n := uint64(c.Index.Docs)
	draws := func(seed uint64) []int {
		d := &zipfDrawer{c, rand.NewZipf(rand.New(rand.NewPCG(seed, 0)), zipfExponent, 1, n-1), permute.New(n, zipfOrder), n}
		counts := make([]int, n)
		places := make([]place, 10)
		for range 20000 {
			k, err := d.draw(places)
			if err != nil || k != len(places) {
				t.Fatal(k, err)
			}
			for _, p := range places {
				counts[p.doc]++
			}
		}
		return counts
	}
	a, b := draws(1), draws(1)
	drawn, most, mostDoc := 0, 0, 0
	for doc, k := range a {
		if k != b[doc] {
			t.Fatal("two draws of one seed differ")
		}
		if k > 0 {
			drawn++
		}
		if k > most {
			most, mostDoc = k, doc
		}
	}
	// The first rank has 1/H of the draws, H = Σ rank^-1.01: about 1/(ln n + 0.6).
	if share := float64(most) / 200000; share < 0.08 || share > 0.25 {
		t.Errorf("the most popular document has %.3f of the draws", share)
	}
	if drawn < int(n)*9/10 {
		t.Errorf("%d of %d documents were drawn", drawn, n)
	}
	if mostDoc == 0 {
		t.Error("the most popular document is the first one: popularity is not scattered")
	}
	// Each document has one rank.
	d := &zipfDrawer{c: c, order: permute.New(n, zipfOrder), docs: n}
	seen := make([]bool, n)
	for rank := range n {
		doc := d.of(rank)
		if doc >= n || seen[doc] {
			t.Fatalf("rank %d is document %d, as another one is", rank, doc)
		}
		seen[doc] = true
	}
}
