package anytime

import "math"

// An edge is one end of an interval: the lower end for y = x, and, as the lower end for y = −x, the upper one. Two values are bet
// against at a time: 0, and the next one that the end may move up to. When that one is refuted, the bets against the one after it are
// played from the first round on. The end moves seldom (some 40 times while the interval halves, which takes four times the rounds),
// so that this costs less than the bets of the rounds themselves.
type edge struct {
	sign     float64 // y = sign·x
	bound    float64 // refuted, and all below it; −Inf at first
	next     float64 // above bound; −Inf as long as nothing can be refuted
	capital  capital // of the bets against next
	zero     capital // of the bets against 0
	from, to float64 // the smallest and the largest finite y; +Inf and −Inf at first
}

// smallest is the smallest step of an edge: a millionth, far below what a rate can tell.
const smallest = 1e-6

func newEdge(sign float64) edge {
	return edge{
		sign: sign, bound: math.Inf(-1), next: math.Inf(-1), capital: weights, zero: weights,
		from: math.Inf(1), to: math.Inf(-1),
	}
}

// bet plays a round.
func (e *edge) bet(r round) {
	y := e.sign * r.x
	if !math.IsInf(y, 0) {
		e.from, e.to = min(e.from, y), max(e.to, y)
	}
	e.capital.bet(score(y, e.next, r.per))
	e.zero.bet(score(y, 0, r.per))
	e.capital.settle()
	e.zero.settle()
}

// against is the capital of bets against theta (in units of y), played through all rounds.
func (e *edge) against(theta float64, rounds []round) capital {
	c := weights
	for i, r := range rounds {
		c.bet(score(e.sign*r.x, theta, r.per))
		if i%64 == 63 {
			c.settle()
		}
	}
	c.settle()
	return c
}

// move moves the end up to where its bets have won goal, in steps that suit the width of the interval, which ends at end on the other side.
// It stays below the largest finite y: beyond it, infinite ones would refute everything.
func (e *edge) move(rounds []round, goal, end float64) {
	if e.bound < 0 && e.zero.total() >= goal {
		e.bound = 0 // exactly: "different" must not wait for a step
		if e.next <= 0 {
			e.try(rounds, end)
		}
	}
	if e.bound > math.Inf(-1) && e.next-e.bound > 2*e.step(end) {
		e.try(rounds, end) // the interval is half as wide as when the step was chosen
	}
	for e.capital.total() >= goal && e.bound < end && e.from <= e.to && e.next <= e.to {
		switch {
		case math.IsInf(e.next, -1): // so many rounds that some value can be refuted: start below all of them
			e.next = e.from - max(e.to-e.from, smallest)
			e.capital = e.against(e.next, rounds)
			continue
		case math.IsInf(e.bound, -1):
			e.bound = e.search(e.next, rounds, goal)
		default:
			e.bound = e.next
		}
		e.try(rounds, end)
	}
}

// step is that of the next value to bet against.
func (e *edge) step(end float64) float64 {
	return max(min(end-e.bound, e.to-e.from)/128, smallest)
}

// try begins to bet against the value one step above the bound.
func (e *edge) try(rounds []round, end float64) {
	e.next = e.bound + e.step(end)
	e.capital = e.against(e.next, rounds)
}

// search finds the largest refuted value above one that is, up to a thousandth of the way to the largest y.
func (e *edge) search(refuted float64, rounds []round, goal float64) float64 {
	to := e.to
	for range 10 {
		mid := refuted + (to-refuted)/2
		if c := e.against(mid, rounds); c.total() >= goal {
			refuted = mid
		} else {
			to = mid
		}
	}
	return refuted
}
