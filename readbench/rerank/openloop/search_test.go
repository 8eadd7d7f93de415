package openloop

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var promise = Promise{P99: 50 * time.Millisecond, Shed: 0.001}

// server is a simulated one: one server with exponential times of service (M/M/1), of which the quantiles of the latency are
// known: the q-th is -ln(1-q)/(capacity-rate). See Kleinrock, Queueing Systems, volume 1.
type server struct {
	capacity float64 // requests per second
	noise    float64 // probability that a trial that would be kept is not
	rng      *rand.Rand
}

// best is the highest rate at which the promise is kept.
func (s server) best() float64 { return s.capacity - 4.605/promise.P99.Seconds() }

func (s server) trial(rate float64, long bool) (Report, error) {
	r := Report{Rate: rate, Arrived: 1000, Served: 1000, P99: time.Hour}
	if rate < s.capacity {
		r.P99 = time.Duration(4.605 / (s.capacity - rate) * float64(time.Second))
	}
	if s.noise > 0 && s.rng.Float64() < s.noise {
		r.P99 = time.Hour
	}
	return r, nil
}

// The search comes to within 4 percent of the highest rate, from anywhere, in few steps.
func TestFind(t *testing.T) {
	for _, capacity := range []float64{100, 250, 1000, 30000} {
		for _, first := range []float64{1, 16, 200, 100000} {
			s := server{capacity: capacity}
			f, err := Find(promise, first, s.trial)
			if err != nil {
				t.Fatal(err)
			}
			if best := s.best(); f.Rate > best || f.Rate < best/fine {
				t.Errorf("capacity %v, from %v: %v, the best is %v", capacity, first, f.Rate, best)
			}
			if len(f.Steps) > 60 || !f.Steps[len(f.Steps)-1].Long || f.Report.Rate != f.Rate {
				t.Errorf("%d steps, the last one %+v; the report is of %v", len(f.Steps), f.Steps[len(f.Steps)-1], f.Report.Rate)
			}
		}
	}
}

// A machine that spoils one trial in ten, whatever the rate, costs a few percent, and no endless search.
func TestFindOnANoisyMachine(t *testing.T) {
	far := 0
	for seed := range uint64(100) {
		s := server{capacity: 250, noise: 0.1, rng: rand.New(rand.NewPCG(seed, 0))}
		f, err := Find(promise, 16, s.trial)
		if err != nil {
			t.Fatal(err)
		}
		if f.Rate > s.best() {
			t.Errorf("seed %d: %v, the best is %v", seed, f.Rate, s.best())
		}
		if f.Rate < 0.88*s.best() {
			far++
		}
		if len(f.Steps) > 110 {
			t.Errorf("seed %d: %d steps", seed, len(f.Steps))
		}
	}
	if far > 10 {
		t.Errorf("%d of 100 searches are more than 12 %% off", far)
	}
}

func TestFindGivesUp(t *testing.T) {
	if _, err := Find(promise, 16, server{capacity: 50}.trial); !errors.Is(err, ErrNoRate) {
		t.Errorf("a server that is never fast enough: %v", err)
	}
	if f, err := Find(promise, 16, server{capacity: 1e9}.trial); err == nil || !strings.Contains(err.Error(), "is not tried") || len(f.Steps) > 30 {
		t.Errorf("a server without bound: %d steps, %v", len(f.Steps), err)
	}
	broken := errors.New("broken")
	if _, err := Find(promise, 16, func(float64, bool) (Report, error) { return Report{}, broken }); !errors.Is(err, broken) {
		t.Errorf("a trial that fails: %v", err)
	}
	shortOnly := func(rate float64, long bool) (Report, error) {
		s := server{capacity: 250}
		if long {
			s.capacity = 1
		}
		return s.trial(rate, long)
	}
	if _, err := Find(promise, 16, shortOnly); !errors.Is(err, ErrNoRate) {
		t.Errorf("no long trial confirms: %v", err)
	}
}

func TestPromise(t *testing.T) {
	kept := Report{Arrived: 10000, Served: 9990, Shed: 10, P99: 50 * time.Millisecond}
	for name, tc := range map[string]struct {
		change func(r *Report)
		want   bool
	}{
		"just kept":   {func(*Report) {}, true},
		"late":        {func(r *Report) { r.P99++ }, false},
		"shed":        {func(r *Report) { r.Shed++ }, false},
		"failed":      {func(r *Report) { r.Failed = 1 }, false},
		"broken off":  {func(r *Report) { r.Broken = true }, false},
		"none served": {func(r *Report) { r.Served = 0 }, false},
	} {
		r := kept
		tc.change(&r)
		if got := promise.Kept(r); got != tc.want {
			t.Errorf("%s: kept is %v", name, got)
		}
	}
}
