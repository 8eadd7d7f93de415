package duel

import (
	"math"

	"github.com/readbench/suite/internal/anytime"
)

// report fills in the result of a duel that was held.
func (m *match) report(r *Result) {
	r.Rounds, r.Seconds, r.Turn = len(m.rounds), m.spent.Seconds(), m.length.Seconds()
	r.Alpha, r.Resolve, r.samples = m.options.Alpha, m.options.Resolve, m.rounds
	r.Case, r.Threads = m.players[0].shape.Case, m.players[0].shape.Threads
	r.Config = map[string]string{}
	for key, value := range m.players[0].shape.Config {
		r.Config[key] = value
	}
	for i, p := range m.players {
		for key, value := range r.Config {
			if p.shape.Config[key] != value {
				delete(r.Config, key)
			}
		}
		c := Contestant{Label: p.Label, Row: p.Row, Of: p.Spec.describe(), Metrics: p.metrics}
		var nanos int64
		for _, round := range m.rounds {
			if round[i].Rate >= 0 {
				c.Turns++
				c.Ops += round[i].Ops
				nanos += round[i].Nanos
			}
		}
		if nanos > 0 {
			c.Rate = float64(c.Ops) / float64(nanos) * 1e9 * float64(r.Threads)
		}
		r.Contestants = append(r.Contestants, c)
	}
	if r.Race {
		m.reportRace(r)
		return
	}
	theta, ok := m.race.Pair(1, 0).Estimate()
	if !ok {
		theta = math.NaN()
	}
	r.Ratios = []Ratio{m.ratio(0, 1, -theta)}
	r.Outcome = r.Ratios[0].Outcome
	r.Void = m.race.Pair(1, 0).Void()
}

func (m *match) reportRace(r *Result) {
	places := m.race.Standings()
	if places == nil {
		r.Outcome = anytime.Contradiction.String() // a circle
		return
	}
	leader := places[0].Contestant
	outcome := anytime.Faster
	for _, p := range places {
		ratio := m.ratio(p.Contestant, leader, p.Estimate)
		ratio.Outcome, ratio.Best, ratio.Worst, ratio.Out = p.Outcome.String(), p.Best, p.Worst, p.Out
		r.Ratios = append(r.Ratios, ratio)
		if p.Out || p.Contestant == leader {
			continue
		}
		switch {
		case p.Outcome == anytime.Contradiction, outcome == anytime.Contradiction:
			outcome = anytime.Contradiction
		case p.Outcome == anytime.Undecided, outcome == anytime.Undecided:
			outcome = anytime.Undecided
		default:
			outcome = anytime.Same
		}
	}
	r.Outcome = outcome.String()
}

// ratio is that of players i and j, whose logarithm is estimated to be theta.
func (m *match) ratio(i, j int, theta float64) Ratio {
	lo, hi := m.race.Interval(i, j)
	r := Ratio{Label: m.players[i].Label, To: m.players[j].Label, Outcome: anytime.Decide(lo, hi, m.options.Resolve).String(), lo: lo, hi: hi}
	if i == j {
		r.Outcome = anytime.Same.String()
	}
	r.Ratio = finite(math.Exp(theta))
	if i == j || lo < hi {
		r.Low, r.High = finite(math.Exp(lo)), finite(math.Exp(hi))
	}
	if math.IsInf(lo, -1) {
		r.Low = nil
	}
	var ops [2]int
	var nanos [2]int64
	for _, round := range m.rounds {
		if a, b := round[i], round[j]; a.Rate >= 0 && b.Rate >= 0 {
			ops[0], ops[1] = ops[0]+a.Ops, ops[1]+b.Ops
			nanos[0], nanos[1] = nanos[0]+a.Nanos, nanos[1]+b.Nanos
		}
	}
	if ops[0] > 0 && ops[1] > 0 {
		total := float64(ops[0]) / float64(nanos[0]) / (float64(ops[1]) / float64(nanos[1]))
		r.Total = &total
		r.Outside = i != j && lo < hi && (math.Log(total) <= lo || math.Log(total) >= hi)
	}
	return r
}
