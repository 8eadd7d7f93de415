package rerank

import (
	"math"
	"slices"
	"testing"

	"github.com/readbench/suite/readbench/strategy"
)

// Every vector is in the index once, in its cluster, with its code and its sum.
func TestIndex(t *testing.T) {
	x := indexOf(t, load(t, "VECTORS=5000", "DIM=70"))
	if x.clusters != 4 {
		t.Errorf("%d clusters", x.clusters)
	}
	if sorted := slices.Sorted(slices.Values(x.ids)); len(sorted) != 5000 || sorted[0] != 0 || len(slices.Compact(sorted)) != 5000 {
		t.Error("not every vector is there once")
	}
	v, want := make([]float32, 70), make([]uint64, 2)
	for c := range x.clusters {
		for slot := x.starts[c]; slot < x.starts[c+1]; slot++ {
			n := x.ids[slot]
			x.vector(v, int(n))
			code(want, v)
			if got := x.codes[2*slot : 2*slot+2]; !slices.Equal(got, want) || x.sums[n] != sumPages(asBytes(v)) || x.cluster(x.key(streamVectors, uint64(n))) != c {
				t.Fatalf("vector %d: code %x, want %x", n, got, want)
			}
		}
	}
}

// The samples' true neighbours are what sorting all vectors gives, and most of them are in the shortlists.
func TestTruth(t *testing.T) {
	x := indexOf(t, load(t, "VECTORS=9000", "DIM=256"))
	v, q := make([]float32, 256), make([]float32, 256)
	for _, s := range x.samples {
		x.query(q, s.query)
		var all []uint64
		for n := range int32(9000) {
			x.vector(v, int(n))
			all = append(all, rank(squaredDistance(q, v), n))
		}
		if slices.Sort(all); !slices.Equal(s.truth, all[:topK]) {
			t.Errorf("query %d: %v, want %v", s.query, numbers(s.truth), numbers(all))
		}
	}
	if r := x.recall(); r < 0.3 || r > 1 {
		t.Errorf("recall %v", r)
	}
}

// A shortlist are the nearest codes of the nearest clusters, each vector once: all of them, if there are not more.
func TestShortlist(t *testing.T) {
	for _, tc := range []struct {
		vectors, shortlist string
		want               int
	}{{"3000", "350", 350}, {"9000", "100", 100}, {"1", "350", 1}, {"200", "350", 200}, {"200", "200", 200}, {"5000", "4000", 4000}} {
		x := indexOf(t, load(t, "VECTORS="+tc.vectors, "SHORTLIST="+tc.shortlist, "DIM=100"))
		s := newSearcher(x)
		room := cap(s.slots)
		for query := range int64(20) {
			list := s.search(query)
			if sorted := slices.Sorted(slices.Values(list)); len(slices.Compact(sorted)) != tc.want {
				t.Fatalf("%+v: %d vectors", tc, len(list))
			}
			if cap(s.slots) != room {
				t.Fatalf("%+v: room for %d candidates was too little", tc, room)
			}
			var left []uint16 // distances of the candidates that it did not take
			farthest := uint16(0)
			for i, slot := range s.slots {
				if slices.Contains(list, x.ids[slot]) {
					farthest = max(farthest, s.away[i])
				} else {
					left = append(left, s.away[i])
				}
			}
			if len(left) > 0 && slices.Min(left) < farthest {
				t.Errorf("%+v: took one at distance %d, and left one at %d", tc, farthest, slices.Min(left))
			}
		}
	}
}

// Queries read the file evenly: what has been read does not tell what will be.
func TestQueriesReadEvenly(t *testing.T) {
	x := indexOf(t, load(t, "VECTORS=8192", "DIM=512", "SHORTLIST=200"))
	s, counts := newSearcher(x), make([]float64, x.vectors)
	const asked = 2000
	for query := range int64(asked) {
		for _, n := range s.search(query) {
			counts[n]++
		}
	}
	mean := float64(asked) * 200 / float64(x.vectors)
	variance := 0.0
	for _, c := range counts {
		variance += (c - mean) * (c - mean) / float64(len(counts))
	}
	// Beyond what chance makes (as much as the mean), vectors differ in how often they are read by less than a third.
	if excess := math.Sqrt(max(0, variance-mean)) / mean; excess > 0.33 || slices.Min(counts) == 0 {
		t.Errorf("reads of a vector: mean %.1f, variance %.1f, excess %.2f, least %v", mean, variance, excess, slices.Min(counts))
	}
}

// The loops are what plain ones are, for every length.
func TestDistances(t *testing.T) {
	s := newSpace(1, 300, 10)
	a, b := make([]float32, 300), make([]float32, 300)
	s.vector(a, 1)
	s.vector(b, 2)
	for n := range 300 {
		want := 0.0
		for i := range n {
			d := float64(a[i]) - float64(b[i])
			want += d * d
		}
		if got := squaredDistance(a[:n], b[:n]); math.Abs(float64(got)-want) > 1e-4*want {
			t.Errorf("distance over %d: %v, want %v", n, got, want)
		}
		x, y := make([]uint64, codeWords(n)), make([]uint64, codeWords(n))
		code(x, a[:n])
		code(y, b[:n])
		differ := 0
		for i := range n {
			if math.Signbit(float64(a[i])) != math.Signbit(float64(b[i])) {
				differ++
			}
		}
		if got := hamming(x, y); got != differ {
			t.Errorf("%d bits of %d differ, want %d", got, n, differ)
		}
	}
}

// Vectors depend on the seed and on nothing else that can be set.
func TestVectorsAreFixed(t *testing.T) {
	v, w := make([]float32, 9), make([]float32, 9)
	newSpace(1, 9, 5000).vector(v, 77)
	newSpace(1, 9, 5000).vector(w, 77)
	if !slices.Equal(v, w) {
		t.Errorf("%v and %v", v, w)
	}
	newSpace(2, 9, 5000).vector(w, 77)
	if slices.Equal(v, w) {
		t.Error("another seed gives the same vector")
	}
	if want := fixed; !slices.Equal(v, want) {
		t.Errorf("vector 77 of seed 1 is %v, was %v: with other vectors, fileVersion must change", v, want)
	}
}

// Few page reads of a cold epoch are repeats where vectors have pages of their own; where many share one, most are.
func TestColdRepeats(t *testing.T) {
	for _, tc := range []struct {
		align string
		dim   string
		most  float64
		least float64
	}{{"page", "64", 0.10, 0}, {"packed", "1", 1, 0.5}} {
		x := indexOf(t, load(t, "VECTORS=60000", "SHORTLIST=200", "ALIGN="+tc.align, "DIM="+tc.dim))
		if got := x.coldRepeats(); got > tc.most || got < tc.least {
			t.Errorf("%+v: %v", tc, got)
		}
	}
	d := &Data{warm: 0.2}
	if d.checkCold() == nil {
		t.Error("a fifth of the reads may be warm, and cold is not refused")
	}
}

// The layout: where vectors lie, and what is refused.
func TestLayout(t *testing.T) {
	for _, tc := range []struct {
		settings []string
		stride   int64
		size     int64
	}{
		{nil, 4096, 1 << 30},
		{[]string{"DIM=1025", "VECTORS=10"}, 8192, 81920},
		{[]string{"DIM=1025", "VECTORS=10", "ALIGN=packed"}, 4100, 45056},
		{[]string{"DIM=1", "ALIGN=packed"}, 4, 4 * mostDefault},
		{[]string{"DIM=1", "VECTORS=3"}, 4096, 12288},
	} {
		l, err := newLayout(load(t, tc.settings...))
		if err != nil || l.stride != tc.stride || l.size() != tc.size {
			t.Errorf("%v: %+v, %d bytes, %v", tc.settings, l, l.size(), err)
		}
	}
	if r := (layout{dim: 3, stride: 12}).place(5); r != (strategy.Range{Off: 60, N: 12}) {
		t.Error(r)
	}
	names := map[string]bool{}
	for _, settings := range [][]string{nil, {"DIM=2"}, {"VECTORS=5"}, {"ALIGN=packed"}} {
		l, err := newLayout(load(t, settings...))
		if err != nil {
			t.Fatal(err)
		}
		for _, seed := range []uint64{1, 2} {
			path, err := l.path(seed)
			if err != nil {
				t.Skip(err)
			}
			names[path] = true
		}
	}
	if len(names) != 8 {
		t.Errorf("of 8 files, names %v", names)
	}
}

// fixed is vector 77 of seed 1, in 9 dimensions and 4 clusters.
var fixed = []float32{0.6833801, -2.7660904, 0.1237793, -2.148468, -3.1828613, -0.4172287, -3.4081879, -3.2892303, -0.2257843}
