package rerank

import "testing"

// The parts of a query that are not reading.
func BenchmarkParts(b *testing.B) {
	x := indexOf(b, load(b, "VECTORS=20000"))
	s := newSearcher(x)
	v := make([]float32, x.space.dim)
	x.vector(v, 1)
	for _, part := range []struct {
		name string
		run  func(i int)
	}{
		{"search", func(i int) { s.search(int64(i)) }},
		{"distance", func(int) { sink += uint64(squaredDistance(s.vector, v)) }},
		{"hamming", func(int) { sink += uint64(hamming(s.code, x.codes[:x.words])) }},
		{"check=pages", func(int) { sink += sumPages(asBytes(v)) }},
		{"check=full", func(int) { sink += sumAll(asBytes(v)) }},
		{"vector", func(i int) { x.vector(v, i%x.vectors) }},
	} {
		b.Run(part.name, func(b *testing.B) {
			for i := range b.N {
				part.run(i)
			}
		})
	}
}

// sink takes what is computed, so that it is.
var sink uint64
