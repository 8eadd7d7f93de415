package anytime

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Race finds the fastest of many contestants. All that are in it have a turn in each round; who is certainly slower than another drops out,
// and the time goes to the others. Every pair has its Sequence at the level alpha divided by the number of pairs, so that with a probability
// of at least 1−alpha all intervals of all pairs hold at all times, and with them whatever follows from them: who dropped out, who is the
// fastest, every place and every ratio. A round costs less than 1 µs for each pair that is in it. Not safe for concurrent use.
type Race struct {
	resolve float64
	pairs   [][]*Sequence // pairs[i][j] for j < i: ln(rate i / rate j)
	out     []bool
	by      []int // who showed that it is slower; −1 for those in the race
	logs    []float64
}

// A Place is what is known of a contestant.
type Place struct {
	Contestant int
	Out        bool // dropped out: certainly not the fastest
	By         int  // the contestant that it was first certain to be slower than, if it is out, else −1; not always the leader
	// The places that it can have: 1 and more than are certainly faster than it; the number of contestants less those certainly slower.
	Best, Worst int
	// Slower if it is out. Else what the interval says of it against the leader, who comes first in the standings: Same, Undecided
	// or Contradiction. The leader itself is Same, with an interval from 0 to 0.
	Outcome  Outcome
	Lo, Hi   float64 // interval of ln(rate / leader's rate); of one that is out it may still hold 0, if By is not the leader
	Estimate float64 // of ln(rate / leader's rate); NaN if no round was finite
	Rounds   int     // with the leader
}

// NewRace returns a race of k contestants, at least 2. alpha is the error probability of all that it says; contestants
// that differ by no more than resolve (0.01 is one per cent) count as the same.
func NewRace(k int, alpha, resolve float64) (*Race, error) {
	if k < 2 {
		return nil, fmt.Errorf("race of %d contestants: it takes 2 at least", k)
	}
	if !(resolve >= 0) {
		return nil, fmt.Errorf("race with a resolution of %v: it must be 0 or above, like 0.01", resolve)
	}
	r := &Race{resolve: resolve, pairs: make([][]*Sequence, k), out: make([]bool, k), by: slices.Repeat([]int{-1}, k), logs: make([]float64, k)}
	if !(alpha > 0 && alpha < 1) {
		return nil, fmt.Errorf("race with error probability %v: it must lie above 0 and below 1, like 0.05", alpha)
	}
	for i := range r.pairs {
		for range i {
			s, err := New(alpha / float64(Pairs(k)))
			if err != nil {
				return nil, err
			}
			r.pairs[i] = append(r.pairs[i], s)
		}
	}
	return r, nil
}

// Add takes in a round: the rates of all contestants, in their order; those of contestants that are out are not looked at.
func (r *Race) Add(rates []float64) error {
	if len(rates) != len(r.pairs) {
		return fmt.Errorf("round of a race of %d contestants with %d rates", len(r.pairs), len(rates))
	}
	for i, rate := range rates {
		r.logs[i] = logRate(rate)
	}
	for i, row := range r.pairs {
		for j, s := range row {
			if !r.out[i] && !r.out[j] {
				s.Add(r.logs[i] - r.logs[j])
			}
		}
	}
	for i := range r.pairs {
		for j := range i {
			switch r.outcome(i, j) {
			case Slower:
				r.drop(i, j)
			case Faster:
				r.drop(j, i)
			}
		}
	}
	return nil
}

func (r *Race) drop(i, by int) {
	if !r.out[i] {
		r.out[i], r.by[i] = true, by
	}
}

// Out reports whether a contestant has dropped out.
func (r *Race) Out(i int) bool { return r.out[i] }

// Interval is that of ln(rate i / rate j): what is not refuted.
func (r *Race) Interval(i, j int) (lo, hi float64) {
	if i == j {
		return 0, 0
	}
	if i < j {
		lo, hi = r.pairs[j][i].Interval()
		return -hi, -lo
	}
	return r.pairs[i][j].Interval()
}

// Pair is the sequence of ln(rate i / rate j), for j < i.
func (r *Race) Pair(i, j int) *Sequence { return r.pairs[i][j] }

func (r *Race) outcome(i, j int) Outcome {
	if i == j {
		return Same
	}
	lo, hi := r.Interval(i, j)
	return Decide(lo, hi, r.resolve)
}

// Done reports that more rounds are of no use: there is one in the race whom all others in it are the same as, within resolve (or who
// is alone). Pairs that contradict themselves are not waited for, and a race in which everybody is out contradicts itself.
func (r *Race) Done() bool { return !slices.Contains(r.out, false) || len(r.leaders()) > 0 }

// leaders are the contestants in the race to whom everybody else in it is decided.
func (r *Race) leaders() []int {
	var leaders []int
	for i := range r.pairs {
		decided := !r.out[i]
		for j := 0; decided && j < len(r.pairs); j++ {
			decided = r.out[j] || r.outcome(i, j) != Undecided
		}
		if decided {
			leaders = append(leaders, i)
		}
	}
	return leaders
}

// estimate is that of ln(rate i / rate j).
func (r *Race) estimate(i, j int) float64 {
	sign, s := 1.0, (*Sequence)(nil)
	switch {
	case i == j:
		return 0
	case i < j:
		sign, s = -1, r.pairs[j][i]
	default:
		s = r.pairs[i][j]
	}
	theta, ok := s.Estimate()
	if !ok {
		return math.NaN()
	}
	return sign * theta
}

// leader is the one with the highest mean of estimates against those in the race; of those to whom everybody is decided, if there are any.
func (r *Race) leader() int {
	candidates := r.leaders()
	if len(candidates) == 0 {
		for i, out := range r.out {
			if !out {
				candidates = append(candidates, i)
			}
		}
	}
	best, highest := -1, 0.0
	for _, i := range candidates {
		sum := 0.0
		for j, out := range r.out {
			if e := r.estimate(i, j); !out && !math.IsNaN(e) {
				sum += e
			}
		}
		if best < 0 || sum > highest {
			best, highest = i, sum
		}
	}
	return best
}

// Standings are the places of all contestants: the leader, then those in the race, then those that are out, each by its estimate. Nil if nobody is
// in the race any more: a circle, each slower than the next, that only differences which change can bring about.
func (r *Race) Standings() []Place {
	leader := r.leader()
	if leader < 0 {
		return nil
	}
	faster := r.order()
	places := make([]Place, len(r.pairs))
	for i := range places {
		p := Place{
			Contestant: i, Out: r.out[i], By: r.by[i], Best: 1, Worst: len(r.pairs),
			Outcome: r.outcome(i, leader), Estimate: r.estimate(i, leader),
		}
		if p.Out {
			p.Outcome = Slower
		}
		p.Lo, p.Hi = r.Interval(i, leader)
		if i != leader {
			p.Rounds = r.pairs[max(i, leader)][min(i, leader)].N()
		}
		for j := range r.pairs {
			if faster[j][i] {
				p.Best++
			}
			if faster[i][j] {
				p.Worst--
			}
		}
		places[i] = p
	}
	slices.SortStableFunc(places, func(a, b Place) int {
		rank := func(p Place) int {
			switch {
			case p.Contestant == leader:
				return 0
			case !p.Out:
				return 1
			}
			return 2
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), -cmp.Compare(a.Estimate, b.Estimate))
	})
	return places
}

// order says of each pair whether the first is certainly faster than the second: by their interval, or by way of others.
func (r *Race) order() [][]bool {
	k := len(r.pairs)
	faster := make([][]bool, k)
	for i := range faster {
		faster[i] = make([]bool, k)
		for j := range faster[i] {
			faster[i][j] = r.outcome(i, j) == Faster
		}
	}
	for via := range k {
		for i := range k {
			for j := range k {
				faster[i][j] = faster[i][j] || faster[i][via] && faster[via][j]
			}
		}
	}
	return faster
}
