package duel

import (
	"math"

	"github.com/readbench/suite/internal/turns"
)

// What came of a duel, beside the outcomes of package anytime (faster, slower, same, undecided, contradiction).
const (
	Failed  = "failed"  // a contestant's evidence fails, or it does not do its part: there is no verdict
	Skipped = "skipped" // a contestant cannot run here
)

// A Result is what came of a duel. Its JSON is what the format json has one of for each duel.
type Result struct {
	Title string `json:"title"` // what contestants have in common
	Race  bool   `json:"race"`
	// Outcome of a pair: faster or slower (the first contestant is, certainly), same, undecided, contradiction. Of a race: faster (one is certainly
	// faster than all others), same (no contender is faster than the leader by more than is asked for), undecided, contradiction. Of both: failed, skipped.
	Outcome     string            `json:"outcome"`
	Absent      []Absent          `json:"absent,omitempty"` // who failed or was skipped
	Ratios      []Ratio           `json:"ratios,omitempty"` // of a pair: one, of the first to the second. Of a race: of each to the leader, the leader first
	Contestants []Contestant      `json:"contestants,omitempty"`
	Rounds      int               `json:"rounds"`
	Void        int               `json:"void,omitempty"` // rounds of a pair in which neither did an op
	Seconds     float64           `json:"seconds"`        // of all rounds
	Turn        float64           `json:"turn_seconds"`   // length of a turn
	Alpha       float64           `json:"alpha"`          // error probability of all that this duel says
	Resolve     float64           `json:"resolve"`        // part of a rate
	Case        string            `json:"case"`
	Threads     int               `json:"threads"`
	Config      map[string]string `json:"config,omitempty"` // configuration lines that all have in common

	samples [][]turns.Result // by round and contestant; rate −1 of those that are out
}

// An Absent contestant has no part in the result.
type Absent struct {
	Label   string `json:"label"`
	Skipped bool   `json:"skipped"` // it cannot run here; else it failed
	Cause   string `json:"cause"`
}

// A Contestant is one that took part to its end.
type Contestant struct {
	Label   string             `json:"label"`
	Row     string             `json:"row"`
	Of      string             `json:"of"` // test binary or package, and what was varied
	Turns   int                `json:"turns"`
	Ops     int                `json:"ops"`
	Rate    float64            `json:"ops_per_second"`    // of all turns: ops by time that a worker worked, times workers
	Metrics map[string]float64 `json:"metrics,omitempty"` // of its row, by unit, warm-up turns included
}

// A Ratio is that of two contestants' rates.
type Ratio struct {
	Label   string `json:"label"`
	To      string `json:"to"`
	Outcome string `json:"outcome"` // of Label against To: faster, slower, same, undecided, contradiction
	// The estimate, and the interval that holds the true one. Nil: nothing is known, or nothing is left.
	Ratio *float64 `json:"ratio"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	// Total is the ratio of all ops by all time, in rounds in which both took part; nil if one did nothing. If it lies outside of the interval, rare
	// stalls differ, of which typical turns tell nothing.
	Total   *float64 `json:"total"`
	Outside bool     `json:"total_outside"`
	// In a race: the places that Label can have, and whether it dropped out.
	Best  int  `json:"best,omitempty"`
	Worst int  `json:"worst,omitempty"`
	Out   bool `json:"out,omitempty"`

	lo, hi float64 // interval of the logarithm
}

func (r *Result) leave(label string, f *fault) {
	r.Absent = append(r.Absent, Absent{label, f.skip, f.Error()})
}

// giveUp says how a duel ends that was not held.
func (r *Result) giveUp() {
	r.Outcome = Skipped
	for _, a := range r.Absent {
		if !a.Skipped {
			r.Outcome = Failed
		}
	}
}

// Failed reports whether a contestant failed, be it in a race that was held without it.
func (r *Result) Failed() bool {
	for _, a := range r.Absent {
		if !a.Skipped {
			return true
		}
	}
	return r.Outcome == Failed
}

// finite is x, or nil where JSON has no number for it.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
