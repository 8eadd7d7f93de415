package anytime

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestNewRaceRefuses(t *testing.T) {
	for _, c := range []struct {
		k              int
		alpha, resolve float64
		says           string
	}{
		{1, 0.05, 0.01, "1 contestants"},
		{2, 0, 0.01, "error probability 0"},
		{2, 0.05, -1, "resolution of -1"},
		{2, 0.05, math.NaN(), "resolution of NaN"},
	} {
		if _, err := NewRace(c.k, c.alpha, c.resolve); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("NewRace(%v, %v, %v): %v", c.k, c.alpha, c.resolve, err)
		}
	}
	if err := newRace(t, 3, 0).Add([]float64{1, 2}); err == nil {
		t.Error("a round of two rates in a race of three")
	}
}

func newRace(t testing.TB, k int, resolve float64) *Race {
	t.Helper()
	r, err := NewRace(k, level, resolve)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run runs a race on a disk, contestants in random order in each round, until it is done or rounds are over.
func run(t testing.TB, r *Race, d disk, seed uint64, speeds []float64, rounds int, each func()) (turns int) {
	rnd := rand.New(rand.NewPCG(seed, 4))
	speed := d.run(rand.New(rand.NewPCG(seed, 5)))
	rates := make([]float64, len(speeds))
	for range rounds {
		if r.Done() {
			break
		}
		for _, i := range rnd.Perm(len(speeds)) {
			rates[i] = math.NaN() // not to be looked at
			if !r.Out(i) {
				rates[i] = speeds[i] * math.Exp(speed())
				turns++
			}
		}
		if err := r.Add(rates); err != nil {
			t.Fatal(err)
		}
		each()
	}
	return turns
}

// The slow ones drop out early, the fast ones come in order, and those that differ by less than the resolution are the same.
func TestRace(t *testing.T) {
	speeds := []float64{50, 100, 99.9, 20, 90, 97}
	r := newRace(t, len(speeds), 0.02)
	turns := run(t, r, disks[0], 1, speeds, 20_000, func() {})
	if !r.Done() {
		t.Fatal("not done")
	}
	places := r.Standings()
	var order []int
	for i, p := range places {
		order = append(order, p.Contestant)
		want := Slower
		if i < 2 {
			want = Same
		}
		if p.Outcome != want || p.Out != (i >= 2) || p.Out != (p.By >= 0) || p.Out && speeds[p.By] < speeds[p.Contestant] {
			t.Errorf("place %d: %+v, want %v", i+1, p, want)
		}
		if ratio := math.Log(speeds[p.Contestant] / speeds[places[0].Contestant]); !(p.Lo <= ratio && ratio <= p.Hi) || math.Abs(p.Estimate-ratio) > 0.1 {
			t.Errorf("%+v, but the ratio is %v", p, ratio)
		}
	}
	slices.Sort(order[:2])
	if want := []int{1, 2, 5, 4, 0, 3}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	if p := places[5]; p.Best != 6 || p.Worst != 6 || p.Rounds > 60 {
		t.Errorf("the slowest by far: %+v", p)
	}
	if p := places[0]; p.Best != 1 || p.Worst > 3 || p.Rounds != 0 || p.Lo != 0 || p.Hi != 0 {
		t.Errorf("the leader: %+v", p)
	}
	rounds := r.Pair(2, 1).N()
	if turns > rounds*4 {
		t.Errorf("%d turns in %d rounds: those that are out cost time", turns, rounds)
	}
	if r.Pair(3, 1).N() >= rounds/10 {
		t.Errorf("the slowest was in for %d of %d rounds", r.Pair(3, 1).N(), rounds)
	}
}

// In a race everything that is said at any moment is right, but for one race in twenty: nobody drops out who is as fast as the best, and every place is in
// its range.
func TestRaceErrorAtEveryMoment(t *testing.T) {
	speeds := []float64{100, 100, 100, 95, 100, 80}
	n := streams() / 8
	wrong := 0
	for seed := range uint64(n) {
		r := newRace(t, len(speeds), 0)
		failed := false
		run(t, r, disks[seed%uint64(len(disks))], seed, speeds, 150, func() {
			for i := range speeds {
				failed = failed || speeds[i] == 100 && r.Out(i)
				for j := range i {
					lo, hi := r.Interval(i, j)
					ratio := math.Log(speeds[i] / speeds[j])
					failed = failed || lo >= ratio || hi <= ratio
				}
			}
		})
		for _, p := range r.Standings() {
			switch speeds[p.Contestant] {
			case 100:
				failed = failed || p.Best > 1 || p.Worst < 4
			case 95:
				failed = failed || p.Best > 5 || p.Worst < 5
			default:
				failed = failed || p.Worst < 6
			}
		}
		if failed {
			wrong++
		}
	}
	if float64(wrong) > level*float64(n) {
		t.Errorf("%d of %d races say something wrong", wrong, n)
	}
}

// Slower than one who has dropped out is slower than the best, though the two never met for long enough.
func TestOrderByWayOfOthers(t *testing.T) {
	r := newRace(t, 3, 0.01)
	r.pairs[1][0].lower.bound = 0.1 // 1 is faster than 0
	r.pairs[2][1].lower.bound = 0.1 // 2 is faster than 1
	faster := r.order()
	if !faster[2][0] || faster[0][2] || faster[0][1] {
		t.Errorf("%v", faster)
	}
}

// A circle, each slower than the next, can only come of differences that change: everybody is out, and that is an end.
func TestCircle(t *testing.T) {
	r := newRace(t, 3, 0.01)
	for range 100 {
		for _, p := range []struct{ i, j int }{{1, 0}, {2, 1}} {
			r.pairs[p.i][p.j].Add(1)
		}
		r.pairs[2][0].Add(-1)
	}
	if err := r.Add([]float64{1, 1, 1}); err != nil {
		t.Fatal(err)
	}
	if !r.Done() || r.Standings() != nil || !r.Out(0) || !r.Out(1) || !r.Out(2) {
		t.Errorf("done %v, standings %+v", r.Done(), r.Standings())
	}
}

func BenchmarkRace(b *testing.B) {
	const k = 30
	speeds := make([]float64, k)
	for i := range speeds {
		speeds[i] = 100
	}
	r := newRace(b, k, 0)
	rates := slices.Clone(speeds)
	rnd := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		for i := range rates {
			rates[i] = speeds[i] * math.Exp(0.04*rnd.NormFloat64())
		}
		if err := r.Add(rates); err != nil {
			b.Fatal(err)
		}
		r.Done()
	}
}
