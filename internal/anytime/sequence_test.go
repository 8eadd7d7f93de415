package anytime

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestNewRefusesWhatIsNoProbability(t *testing.T) {
	for _, alpha := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
		if s, err := New(alpha); err == nil || s != nil {
			t.Errorf("New(%v) = %v, %v", alpha, s, err)
		}
	}
}

func TestLogRatio(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ a, b, want float64 }{
		{1, 1, 0}, {3, 3, 0}, {math.E, 1, 1}, {1, 0, inf}, {0, 1, -inf}, {0, 0, nan}, {-1, 1, nan}, {1, nan, nan}, {inf, 1, nan}, {1, inf, nan},
	} {
		if got := LogRatio(c.a, c.b); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("LogRatio(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// Nothing is refuted before there is enough to refute it: 2^−5 > 1/40.
func TestAFewRoundsRefuteNothing(t *testing.T) {
	s := newSequence(t, level)
	check := func(n int) {
		if lo, hi := s.Interval(); !math.IsInf(lo, -1) || !math.IsInf(hi, 1) || s.N() != n {
			t.Fatalf("after %d rounds (N %d): %v to %v", n, s.N(), lo, hi)
		}
	}
	check(0)
	if e, p := s.E(0), s.P(); math.Abs(e-1) > 1e-15 || p != 1 {
		t.Errorf("e-value %v and p-value %v without rounds, want 1", e, p)
	}
	if _, ok := s.Estimate(); ok {
		t.Error("an estimate without rounds")
	}
	for n := 1; n <= 5; n++ {
		s.Add(0.7)
		check(n)
	}
	if x, ok := s.Estimate(); !ok || math.Abs(x-0.7) > 1e-9 {
		t.Errorf("estimate %v, %v of rounds that are all 0.7", x, ok)
	}
}

// add adds rounds around a centre, in random order of signs.
func add(s *Sequence, seed uint64, n int, centre, sd float64) {
	r := rand.New(rand.NewPCG(seed, 3))
	for range n {
		s.Add(centre + sd*r.NormFloat64())
	}
}

// The interval follows from E: 0 is refuted when bets on one side have made 2/alpha, no later, and values outside the interval have such an e-value at
// some moment.
func TestIntervalIsWhatBetsRefute(t *testing.T) {
	s := newSequence(t, level)
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		s.Add(0.01 + 0.06*r.NormFloat64())
		lo, hi := s.Interval()
		if s.lower.zero.total() >= s.goal && lo < 0 {
			t.Fatalf("after %d rounds, bets on x > 0 have made %v, but the interval begins at %v", s.N(), s.lower.zero.total(), lo)
		}
		if math.Abs(s.E(0)-s.E(math.Copysign(1e-300, -1))) > 1e-9*s.E(0) {
			t.Fatalf("E(0) is %v as it was followed, %v played through", s.E(0), s.E(-1e-300))
		}
		if e := s.E(lo); s.lower.bound > math.Inf(-1) && e > 1e9 {
			t.Fatalf("after %d rounds the end %v has an e-value of %v: it lags", s.N(), lo, e)
		}
		if x, _ := s.Estimate(); s.N() > 20 && !(lo <= x && x <= hi) {
			t.Fatalf("estimate %v outside %v to %v", x, lo, hi)
		}
	}
	// An end is no further out than a step from where the bets of this moment refute, and never further in than they ever did.
	lo, hi := s.Interval()
	for _, c := range []struct {
		side  string
		total float64
	}{
		{"lower", total(s.lower.against(lo+(hi-lo)/32, s.rounds))},
		{"upper", total(s.upper.against(-hi+(hi-lo)/32, s.rounds))},
	} {
		if c.total >= s.goal {
			t.Errorf("the %s end lags behind what is refuted", c.side)
		}
	}
	if lo <= 0 || hi >= 0.03 {
		t.Errorf("%v to %v for a centre of 0.01", lo, hi)
	}
	if p := s.P(); p > level/2 || p > 1/s.E(0) {
		t.Errorf("p-value %v, e-value %v", p, s.E(0))
	}
}

func total(c capital) float64 { return c.total() }

// What is bet is a martingale: over all 2^n orders of n rounds, given their sizes, the mean capital is exactly what it began with. Sizes with
// ties, zeros, infinities and spreads that depend on the signs before.
func TestMeanOverAllOrdersIsOne(t *testing.T) {
	inf := math.Inf(1)
	for _, sizes := range [][]float64{
		{1, 1, 1, 1, 1, 1, 1, 1},
		{0.1, 3, 0, 0.1, 100, 0.2, 0, 0.1, 5, 1e-9, 0.3, 1},
		{0.1, inf, 0.2, inf, inf, inf, 0.1, 2, inf, 7},
	} {
		const theta = 0.25 // exact in binary
		for _, tested := range []float64{0, theta} {
			mean, most := 0.0, 0.0
			orders := 1 << len(sizes)
			for signs := range orders {
				s := newSequence(t, level)
				for i, size := range sizes {
					s.Add(tested + size*float64(signs>>i&1*2-1))
				}
				e := s.E(tested)
				mean += e / float64(orders)
				most = max(most, e)
			}
			if math.Abs(mean-1) > 1e-12 || most < 1.5 {
				t.Errorf("sizes %v, theta %v: mean e-value %v, want 1; largest %v", sizes, tested, mean, most)
			}
		}
	}
}

// Ties say nothing of the value that they equal, but of all others.
func TestTies(t *testing.T) {
	s := newSequence(t, level)
	for range 1000 {
		s.Add(0)
	}
	lo, hi := s.Interval()
	if e := s.E(0); math.Abs(e-1) > 1e-12 || !(lo < 0 && hi > 0) || s.Contradiction() {
		t.Errorf("1000 ties: e-value of 0 is %v, interval %v to %v", e, lo, hi)
	}
	if lo < -1e-4 || hi > 1e-4 {
		t.Errorf("1000 ties leave %v to %v", lo, hi)
	}
	if o := Decide(lo, hi, 0.01); o != Same {
		t.Errorf("1000 ties are %v", o)
	}
}

// Turns without an op: B in most rounds.
func TestTurnsWithoutOps(t *testing.T) {
	s := newSequence(t, level)
	for i := range 300 {
		switch i % 10 {
		case 0:
			s.Add(LogRatio(0, 0))
		case 1, 2:
			s.Add(LogRatio(1, 1.1))
		default:
			s.Add(LogRatio(5, 0))
		}
	}
	if s.N() != 270 || s.Void() != 30 {
		t.Errorf("%d rounds, %d void", s.N(), s.Void())
	}
	lo, hi := s.Interval()
	if o := Decide(lo, hi, 0.01); o != Faster || !math.IsInf(hi, 1) {
		t.Errorf("%v: %v to %v", o, lo, hi)
	}
	only := newSequence(t, level)
	for range 100 {
		only.Add(math.Inf(-1))
	}
	lo, hi = only.Interval()
	if x, ok := only.Estimate(); Decide(lo, hi, 0.01) != Slower || ok {
		t.Errorf("only infinite rounds: %v to %v, estimate %v, %v", lo, hi, x, ok)
	}
}

// A difference that turns round is no constant: nothing is left, and that is said.
func TestContradictionIsReported(t *testing.T) {
	s := newSequence(t, level)
	add(s, 1, 500, 0.5, 0.05)
	if s.Contradiction() {
		t.Fatal("a contradiction before the change")
	}
	add(s, 2, 5000, -0.5, 0.05)
	lo, hi := s.Interval()
	if !s.Contradiction() || lo < hi || Decide(lo, hi, 0.01) != Contradiction {
		t.Errorf("%v to %v, contradiction %v", lo, hi, s.Contradiction())
	}
}

// One burst does not undo what many rounds have shown.
func TestABurstIsBounded(t *testing.T) {
	s, burst := newSequence(t, level), newSequence(t, level)
	add(s, 1, 300, 0.02, 0.06)
	add(burst, 1, 300, 0.02, 0.06)
	for range 3 {
		burst.Add(-8)
	}
	a, _ := s.Estimate()
	b, _ := burst.Estimate()
	if math.Abs(a-b) > 0.003 || burst.E(0) < s.E(0)/10 {
		t.Errorf("three bursts move the estimate from %v to %v, the e-value from %v to %v", a, b, s.E(0), burst.E(0))
	}
}

// The estimate is that of Huber: near the mean without bursts.
func TestEstimate(t *testing.T) {
	for n := 1; n < 40; n++ {
		s := newSequence(t, level)
		add(s, uint64(n), n, 1, 0.01)
		if x, ok := s.Estimate(); !ok || math.Abs(x-1) > 0.04/math.Sqrt(float64(n)) {
			t.Errorf("%d rounds: %v, %v", n, x, ok)
		}
	}
	s := newSequence(t, level)
	s.Add(1)
	s.Add(3)
	if x, _ := s.Estimate(); x != 2 {
		t.Errorf("estimate of 1 and 3 is %v", x)
	}
}

// Monsters at the beginning do not make the steps of the ends coarse for good.
func TestEarlyMonstersAreForgotten(t *testing.T) {
	s := newSequence(t, level)
	s.Add(-1000)
	s.Add(1000)
	add(s, 1, 1000, 0, 0.06)
	if lo, hi := s.Interval(); hi-lo > 0.03 {
		t.Errorf("%v to %v after 1000 rounds of 6 %%", lo, hi)
	}
}
