package anytime

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHolm(t *testing.T) {
	for _, c := range []struct {
		name   string
		e      []float64
		refute []bool
	}{
		{"none", nil, []bool{}},
		{"one", []float64{20}, []bool{true}},
		{"one, not enough", []float64{19.9}, []bool{false}},
		{"two", []float64{40, 0}, []bool{true, false}},
		{"two, not enough", []float64{39.9, 0}, []bool{false, false}},
		// Holm's procedure refutes the first (40 ≥ 2·20), then the second (20 ≥ 20).
		{"step down", []float64{40, 20}, []bool{true, true}},
		// It refutes none of these: 30 < 2·20. But the mean of each set is above 20.
		{"more than Holm", []float64{30, 25}, []bool{true, true}},
		{"equal ones", []float64{20, 20, 20}, []bool{true, true, true}},
		{"equal ones, one without", []float64{30, 30, 0}, []bool{false, false, false}},
		{"in the order given", []float64{0, 1000, 5, 90}, []bool{false, true, false, true}},
	} {
		if got := Holm(c.e, 0.05); !slices.Equal(got, c.refute) {
			t.Errorf("%s: Holm(%v) = %v, want %v", c.name, c.e, got, c.refute)
		}
	}
}

// By the definition: all sets that a hypothesis is in are looked at. And Holm's procedure with 1/e never refutes more.
func TestHolmIsClosedTesting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		e := make([]float64, 1+r.IntN(7))
		for i := range e {
			e[i] = float64(r.IntN(6)) * float64(r.IntN(40))
		}
		got := Holm(e, 0.05)
		for i := range e {
			want := true
			for set := range 1 << len(e) {
				if set>>i&1 == 0 {
					continue
				}
				sum, size := 0.0, 0.0
				for j, v := range e {
					if set>>j&1 == 1 {
						sum, size = sum+v, size+1
					}
				}
				want = want && sum >= size/0.05
			}
			if got[i] != want {
				t.Fatalf("Holm(%v)[%d] = %v, closed testing says %v", e, i, got[i], want)
			}
		}
		descending := slices.Sorted(slices.Values(e))
		slices.Reverse(descending)
		for step, v := range descending {
			if v < float64(len(e)-step)/0.05 {
				break
			}
			if i := slices.Index(e, v); !got[i] {
				t.Fatalf("Holm(%v) keeps %v, which Holm's procedure refutes", e, v)
			}
		}
	}
}

// A family of pairs, three of them without a difference, is looked at after each round by one who waits for a false refutation.
func TestFamilyErrorAtEveryMoment(t *testing.T) {
	thetas := []float64{0, 0.02, 0, 0.1, 0}
	refuted, found := 0, 0
	n := streams() / 4
	for seed := range uint64(n) {
		family := make([]*Sequence, len(thetas))
		duels := make([]duel, len(thetas))
		for i, theta := range thetas {
			family[i] = newSequence(t, level)
			duels[i] = newDuel(disks[i], seed*100+uint64(i), theta, true)
		}
		wrong, right := false, false
		e := make([]float64, len(thetas))
		for range 200 {
			for i, s := range family {
				s.Add(duels[i]())
				e[i] = s.E(0)
			}
			no := Holm(e, level)
			wrong = wrong || no[0] || no[2] || no[4]
			right = right || no[1] && no[3]
		}
		if wrong {
			refuted++
		}
		if right {
			found++
		}
	}
	if float64(refuted) > level*float64(n) {
		t.Errorf("in %d of %d families a true hypothesis is refuted", refuted, n)
	}
	if found < n/2 {
		t.Errorf("both differences were found in %d of %d families only", found, n)
	}
}
