package anytime

import (
	"math"
	"math/rand/v2"
)

// A disk makes a run of a simulated disk: a function that gives the logarithm of its speed in one turn after the other.
type disk struct {
	name string
	run  func(r *rand.Rand) func() float64
}

func independent(draw func(r *rand.Rand) float64) func(r *rand.Rand) func() float64 {
	return func(r *rand.Rand) func() float64 { return func() float64 { return draw(r) } }
}

// disks are streams of speeds as disks have them, and worse.
var disks = []disk{
	// As measured with turns of 5 ms: the log-ratio of two turns has a standard deviation of 6 %.
	{"normal", independent(func(r *rand.Rand) float64 { return 0.06 / math.Sqrt2 * r.NormFloat64() })},
	{"skewed", independent(func(r *rand.Rand) float64 { return -0.06 / math.Sqrt2 * r.ExpFloat64() })},
	// Student's t with 2 degrees of freedom: no variance. Cauchy: no mean.
	{"t2", independent(func(r *rand.Rand) float64 { return 0.03 * r.NormFloat64() / math.Sqrt(r.ExpFloat64()) })},
	{"cauchy", independent(func(r *rand.Rand) float64 { return 0.02 * math.Tan(math.Pi*(r.Float64()-0.5)) })},
	// Now and then a neighbour takes the disk for some turns: a third of the speed, or a tenth.
	{"bursts", func(r *rand.Rand) func() float64 {
		left := 0
		return func() float64 {
			v := 0.03 * r.NormFloat64()
			if left > 0 {
				left--
				v -= r.ExpFloat64()
			} else if r.Float64() < 0.02 {
				left = 1 + int(8*r.ExpFloat64())
			}
			return v
		}
	}},
	// Autocorrelated speed, of 0.95 from turn to turn.
	{"ar1", func(r *rand.Rand) func() float64 {
		level := 0.0
		return func() float64 {
			level = 0.95*level + 0.05*r.NormFloat64()
			return level + 0.03*r.NormFloat64()
		}
	}},
	// A fast, calm state and a slow, noisy one, of 200 turns on average.
	{"regimes", func(r *rand.Rand) func() float64 {
		noisy := false
		return func() float64 {
			if r.Float64() < 0.005 {
				noisy = !noisy
			}
			if noisy {
				return -0.5 + 0.2*r.NormFloat64()
			}
			return 0.03 * r.NormFloat64()
		}
	}},
	// A swing of ±30 % in 250 turns, on a slope.
	{"drift", func(r *rand.Rand) func() float64 {
		t := 0.0
		return func() float64 {
			t++
			return 0.3*math.Sin(t/40) - 0.0005*t + 0.03*r.NormFloat64()
		}
	}},
	// Slows down within each round of two turns, as if its period were that of the rounds.
	{"resonance", func(r *rand.Rand) func() float64 {
		second := true
		return func() float64 {
			second = !second
			v := 0.03 * r.NormFloat64()
			if second {
				v -= 0.02
			}
			return v
		}
	}},
}

// A duel gives the log-ratio of one round after the other.
type duel func() float64

// newDuel lets A, whose rates are exp(theta) times those of B, take turns with B on a disk, in random order or A always first.
func newDuel(d disk, seed uint64, theta float64, random bool) duel {
	r := rand.New(rand.NewPCG(seed, 1))
	speed := d.run(rand.New(rand.NewPCG(seed, 2)))
	return func() float64 {
		first, second := speed(), speed()
		if random && r.Uint64()&1 == 0 {
			first, second = second, first // B has the first turn
		}
		return LogRatio(math.Exp(first+theta), math.Exp(second))
	}
}
