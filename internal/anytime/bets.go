package anytime

// shares are the parts of the capital that are bet, each with its part of the initial capital. A share does best when it is the mean score
// over its mean square. At the end of an interval that is about 3 divided by the root of the number of rounds: 0.8 is for some 10 rounds, 0.1 for
// 1000, 0.0125 for 50,000. Weights halve with each step away from 0.1, since budgets are about 1000 rounds.
var (
	shares  = [...]float64{0.8, 0.4, 0.2, 0.1, 0.05, 0.025, 0.0125}
	weights = capital{1. / 22, 2. / 22, 4. / 22, 8. / 22, 4. / 22, 2. / 22, 1. / 22}
)

// Capital that is larger than most is given away, and below least thrown away: no infinity, and no slow subnormal number.
const most, least = 1e250, 1e-250

// A round is what is kept of one: the log-ratio, and 1/s, by which its score is cut off.
type round struct{ x, per float64 }

// A capital is what the bets of each share have made of their part of 1.
type capital [len(shares)]float64

// bet plays one round, with a score u from −1 to 1. At least every 64 rounds settle has to follow.
func (c *capital) bet(u float64) {
	for j, f := range shares {
		c[j] *= 1 + f*u
	}
}

// settle keeps the capital between least and most, or at 0. A round multiplies it by 0.2 to 1.8.
func (c *capital) settle() {
	for j, v := range c {
		if v < least {
			v = 0
		}
		c[j] = min(v, most)
	}
}

// total is the capital of all shares together: an e-value.
func (c *capital) total() float64 {
	t := 0.0
	for _, v := range c {
		t += v
	}
	return t
}

// score is psi((y−theta)/s), per being 1/s. A round that equals theta says nothing: 0.
func score(y, theta, per float64) float64 {
	u := (y - theta) * per
	switch {
	case u > 1:
		return 1
	case u < -1:
		return -1
	case u != u: // both infinite
		return 0
	}
	return u
}
