package permute

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

var seeds = []uint64{0, 1, 2, 42, math.MaxUint64}

// elements are the first count elements from a position on, in order.
func elements(n, seed, from, count uint64) []uint64 {
	p := New(n, seed)
	all := make([]uint64, 0, count)
	for i := from; uint64(len(all)) < count && i < p.Positions(); i++ {
		if e, _ := p.At(i); e < n {
			all = append(all, e)
		}
	}
	return all
}

// Every one of 0…n−1 comes exactly once: below, at and above powers of two, where the number of positions changes.
func TestAtIsABijection(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 5, 16, 17, 1000, 65536, 65537} {
		for _, seed := range seeds {
			seen := make([]bool, n)
			all := elements(n, seed, 0, n+1)
			if uint64(len(all)) != n {
				t.Fatalf("n %d, seed %d: %d elements", n, seed, len(all))
			}
			for i, e := range all {
				if seen[e] {
					t.Fatalf("n %d, seed %d: element %d is %d, for the second time", n, seed, i, e)
				}
				seen[e] = true
			}
		}
	}
}

// A permutation is a function of n and seed alone; another seed gives another one.
func TestSeedDecides(t *testing.T) {
	const n = 1000
	for i, a := range seeds {
		if !slices.Equal(elements(n, a, 0, n), elements(n, a, 0, n)) {
			t.Errorf("seed %d gives two permutations", a)
		}
		for _, b := range seeds[:i] {
			x, y := elements(n, a, 0, n), elements(n, b, 0, n)
			same := 0
			for j := range x {
				if x[j] == y[j] {
					same++
				}
			}
			if same > n/50 { // of two independent ones, about one element
				t.Errorf("seeds %d and %d agree in %d of %d elements", a, b, same, n)
			}
		}
	}
}

// The order is none that a read-ahead could guess: no long run of neighbours, up or down.
func TestOrderIsNotSequential(t *testing.T) {
	const n = 100_000
	for _, seed := range seeds {
		near := 0
		all := elements(n, seed, 0, n)
		for i, e := range all[1:] {
			if d := int64(e) - int64(all[i]); -2 <= d && d <= 2 {
				near++
			}
		}
		if near > 100 { // of a random order, 4
			t.Errorf("seed %d: %d of %d elements are next to the one before", seed, near, n)
		}
	}
}

// A size that no array could hold: nothing comes twice among many, and nothing is out of range.
func TestLargeDomain(t *testing.T) {
	const n, count = 1<<40 + 7, 100_000
	for _, seed := range seeds {
		for _, from := range []uint64{0, n / 2, n - count} {
			all := elements(n, seed, from, count)
			slices.Sort(all)
			if last := all[count-1]; last >= n {
				t.Errorf("seed %d from %d: %d is not below n", seed, from, last)
			}
			if unique := slices.Compact(slices.Clone(all)); len(unique) != count {
				t.Errorf("seed %d from %d: %d of %d elements come twice", seed, from, count-len(unique), count)
			}
		}
	}
}

// Elements that come soon after one another are no nearer to each other than chance has it. Otherwise a cold
// read would hit what read-ahead fetched for the one before, and rows called cold would be warm: 13 ops,
// windows of 205 slots, 4 GiB.
func TestSpread(t *testing.T) {
	const n, together, window = 52428, 13, 205
	const expected = 2 * window / float64(n)
	const seeds, tolerance, tolerance1 = 20, 0.05, 0.25 // of the mean over all seeds, and of one
	var mean float64
	for seed := range uint64(seeds) {
		near, pairs := 0, 0
		all := elements(n, seed, 0, n)
		for group := range slices.Chunk(all, together) {
			for i, a := range group {
				for _, b := range group[:i] {
					pairs++
					if d := int64(a) - int64(b); -window <= d && d <= window {
						near++
					}
				}
			}
		}
		ratio := float64(near) / float64(pairs) / expected
		mean += ratio / seeds
		if math.Abs(ratio-1) > tolerance1 {
			t.Errorf("seed %d: %.2f times as many pairs among %d consecutive elements are within %d of each other as by chance", seed, ratio, together, window)
		}
	}
	if math.Abs(mean-1) > tolerance {
		t.Errorf("over all seeds: %.3f times as many near pairs as by chance", mean)
	}
}

func BenchmarkAt(b *testing.B) {
	for _, n := range []uint64{1 << 16, 1<<40 + 7} {
		b.Run(fmt.Sprintf("n=%d_elements", n), func(b *testing.B) {
			p := New(n, 1)
			var i, sum uint64
			for b.Loop() {
				element, rest := p.At(i)
				sum += element ^ rest
				if i++; i == p.Positions() {
					i = 0
				}
			}
			if sum == 0 && i > 1 {
				b.Fatal("only zeros")
			}
		})
	}
}

// The high bits of rest are spread evenly: what is drawn with an element, such as where in it to start, favours
// nothing.
func TestRestIsSpread(t *testing.T) {
	const n, buckets, tolerance = 52428, 16, 0.1
	for seed := range uint64(20) {
		p := New(n, seed)
		var count [buckets]int
		for i := range uint64(n) {
			_, rest := p.At(i % p.Positions())
			count[rest>>60]++
		}
		for b, c := range count {
			if got := float64(c) * buckets / n; math.Abs(got-1) > tolerance {
				t.Errorf("seed %d: %.2f times as many as by chance have the high bits %04b", seed, got, b)
			}
		}
	}
}
