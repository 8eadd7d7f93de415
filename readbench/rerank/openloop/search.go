package openloop

import (
	"errors"
	"fmt"
	"math"
)

// A Trial runs a load at a rate, in requests per second; long asks for one that is longer than usual.
type Trial func(rate float64, long bool) (Report, error)

// A Step is one trial of a search.
type Step struct {
	Long bool
	Kept bool
	Report
}

// A Finding is what a search found.
type Finding struct {
	Rate   float64 // the highest rate at which the promise is kept, to within a few percent
	Report Report  // of the long trial at that rate
	Steps  []Step  // all trials, in their order
}

// ErrNoRate is wrapped if a promise is kept at no rate.
var ErrNoRate = errors.New("the service level is not kept at any rate")

const (
	fine     = 1.04 // ratio of the rate that is too high and the one that is not, at which a search is fine enough
	back     = 0.04 // the share by which a rate that a long trial does not confirm is lowered, twice; then it doubles
	lowest   = 4    // requests per second, below which a search gives up: a trial would take too long
	highest  = 1e6  // and above which
	confirms = 10   // rates that are tried long, at the most
)

// Find searches for the highest rate at which a promise is kept: from first it doubles or halves until it has one rate that is
// and one that is not, then halves the distance, then confirms the answer by a long trial, going down a little until one does.
// A machine is noisy: a rate fails only if it does so in two trials of three, long ones too. There are at most some 110 trials, however noisy.
func Find(p Promise, first float64, trial Trial) (f Finding, err error) {
	try := func(rate float64, long bool) (bool, error) {
		r, err := trial(rate, long)
		if err != nil {
			return false, fmt.Errorf("%.4g requests per second: %w", rate, err)
		}
		kept := p.Kept(r)
		f.Steps = append(f.Steps, Step{Long: long, Kept: kept, Report: r})
		if kept && long {
			f.Rate, f.Report = rate, r
		}
		return kept, nil
	}
	keeps := func(rate float64, long bool) (bool, error) {
		ok, err := try(rate, long)
		if ok || err != nil {
			return ok, err
		}
		if ok, err = try(rate, long); !ok || err != nil {
			return false, err
		}
		return try(rate, long)
	}
	good := func(rate float64) (bool, error) { return keeps(rate, false) }
	low, high, err := bracket(min(max(first, lowest), highest), good)
	if err != nil {
		return f, err
	}
	for high/low > fine {
		middle := math.Sqrt(low * high)
		ok, err := good(middle)
		switch {
		case err != nil:
			return f, err
		case ok:
			low = middle
		default:
			high = middle
		}
	}
	for i := range confirms {
		ok, err := keeps(low, true)
		if err != nil || ok {
			return f, err
		}
		low *= 1 - min(0.5, back*float64(int(1)<<(i/2)))
		if low < lowest {
			break
		}
	}
	return f, fmt.Errorf("%w: long trials down to %.4g requests per second failed, where short ones did not", ErrNoRate, low)
}

// bracket finds a rate that is good and one that is not, twice as high.
func bracket(rate float64, good func(float64) (bool, error)) (low, high float64, err error) {
	ok, err := good(rate)
	if err != nil {
		return 0, 0, err
	}
	for up := ok; ; {
		next := rate * 2
		if !up {
			next = max(rate/2, lowest)
		}
		switch {
		case next > highest:
			return 0, 0, fmt.Errorf("the service level is kept even at %.4g requests per second, and more than %.4g is not tried", rate, highest)
		case next == rate:
			return 0, 0, fmt.Errorf("%w: not even at %.4g requests per second", ErrNoRate, rate)
		}
		ok, err := good(next)
		switch {
		case err != nil:
			return 0, 0, err
		case up && !ok:
			return rate, next, nil
		case !up && ok:
			return next, rate, nil
		}
		rate = next
	}
}
