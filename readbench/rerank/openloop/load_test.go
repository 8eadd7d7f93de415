package openloop

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run serves a load with serve, which is told the handler and the request, and checks that every arrival is accounted for.
func run(t *testing.T, o Options, serve func(l *Load, handler int, item int64) error) Report {
	t.Helper()
	l := New(o)
	var wg sync.WaitGroup
	for h := range o.Handlers {
		wg.Go(func() {
			for l.Next(h) {
				l.Done(h, serve(l, h, l.Item(h)))
			}
		})
	}
	wg.Go(l.Run)
	wg.Wait()
	r := l.Report()
	if r.Served+r.Shed+r.Failed != r.Arrived {
		t.Errorf("%d served + %d shed + %d failed are not the %d that arrived", r.Served, r.Shed, r.Failed, r.Arrived)
	}
	return r
}

func nothing(*Load, int, int64) error { return nil }

func TestEveryArrivalIsAccountedFor(t *testing.T) {
	const fast = 1e5 // so that all come at once
	broken := errors.New("broken")
	for _, tc := range []struct {
		name  string
		o     Options
		serve func(l *Load, handler int, item int64) error
		want  func(r Report) bool
	}{
		{"all are served", Options{Rate: 5000, Arrivals: 1000, Handlers: 3, Queue: 1000}, nothing,
			func(r Report) bool { return r.Arrived == 1000 && r.Served == 1000 }},
		{"one of ten fails", Options{Rate: fast, Arrivals: 1000, Handlers: 3, Queue: 1000}, func(_ *Load, _ int, item int64) error {
			if item%10 == 0 {
				return broken
			}
			return nil
		}, func(r Report) bool { return r.Arrived == 1000 && r.Failed == 100 }},
		{"a slow handler and a short queue", Options{Rate: fast, Arrivals: 1000, Handlers: 1, Queue: 2}, func(*Load, int, int64) error {
			time.Sleep(time.Millisecond)
			return nil
		}, func(r Report) bool { return r.Arrived == 1000 && r.Shed > 500 && r.Served >= 3 }},
		{"no queue: who finds no idle handler is shed", Options{Rate: fast, Arrivals: 100, Handlers: 1}, func(*Load, int, int64) error {
			time.Sleep(time.Millisecond)
			return nil
		}, func(r Report) bool { return r.Arrived == 100 && r.Shed > 50 }},
		{"cancelled half-way: what is queued has failed", Options{Rate: fast, Arrivals: 1000, Handlers: 1, Queue: 1000}, func(l *Load, _ int, item int64) error {
			if item == 10 {
				for len(l.queue) < 100 {
					time.Sleep(time.Millisecond)
				}
				l.Cancel()
				l.Cancel()
			}
			return nil
		}, func(r Report) bool { return r.Served == 11 && r.Failed >= 100 }},
		{"a promise that cannot be kept any more ends it", Options{Rate: 2000, Arrivals: 1000, Handlers: 1, Queue: 1000, Promise: Promise{P99: time.Microsecond}}, func(*Load, int, int64) error {
			time.Sleep(time.Millisecond)
			return nil
		}, func(r Report) bool { return r.Broken && r.Arrived < 1000 && r.Served == r.Arrived }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if r := run(t, tc.o, tc.serve); !tc.want(r) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// Cancelled before any handler has come, Run returns, and nothing has arrived.
func TestCancelledBeforeItBegins(t *testing.T) {
	l := New(Options{Rate: 1, Arrivals: 1, Handlers: 1, Queue: 1})
	l.Cancel()
	l.Run()
	if l.Next(0) {
		t.Error("a request came")
	}
	if r := l.Report(); r.Arrived != 0 {
		t.Errorf("%+v", r)
	}
}

// Requests come at times between which there is an exponential distribution, the same for the same seed.
func TestArrivals(t *testing.T) {
	const n, rate = 20000, 1e5
	times := func(seed uint64) []float64 {
		due := make([]float64, n)
		run(t, Options{Rate: rate, Arrivals: n, Handlers: 1, Queue: n, Seed: seed}, func(l *Load, h int, item int64) error {
			due[item] = l.handlers[h].now.due.Seconds()
			return nil
		})
		return due
	}
	due := times(1)
	mean, square, last := 0.0, 0.0, 0.0
	for _, d := range due {
		gap := d - last
		mean += gap / n
		square += gap * gap / n
		last = d
	}
	// Of n gaps the mean is off by 1/√n of it, the variance by √8/√n, one standard deviation.
	if off := mean*rate - 1; math.Abs(off) > 5/math.Sqrt(n) {
		t.Errorf("the mean gap is off by %v", off)
	}
	if off := (square-mean*mean)*rate*rate - 1; math.Abs(off) > 5*math.Sqrt(8./n) {
		t.Errorf("the variance of gaps is off by %v", off)
	}
	again, other := times(1), times(2)
	for i := range due {
		if due[i] != again[i] {
			t.Fatalf("request %d came at %v and at %v", i, due[i], again[i])
		}
	}
	if due[0] == other[0] {
		t.Error("another seed gives the same times")
	}
}

// A handler that stalls shows in the latency of all who came meanwhile. In a closed loop over the same handler it shows once: of
// a thousand requests, the 99th percentile knows nothing of it. So coordinated omission is absent here.
func TestAStallShows(t *testing.T) {
	const (
		n     = 1000
		stall = 200 * time.Millisecond
	)
	serve := func(item int64) {
		if item == n/2 {
			time.Sleep(stall)
		}
	}
	open := run(t, Options{Rate: n, Arrivals: n, Handlers: 1, Queue: n}, func(_ *Load, _ int, item int64) error {
		serve(item)
		return nil
	})
	// some 200 came in these 200 ms; half of them waited 100 ms and more
	if open.P99 < stall/2 || open.P999 < stall*3/4 {
		t.Errorf("open loop: %+v", open)
	}
	closed := newHistogram()
	for item := range int64(10 * n) {
		begin := time.Now()
		serve(item)
		_ = closed.RecordValue(max(1, int64(time.Since(begin))))
	}
	if p := time.Duration(closed.ValueAtPercentile(99.9)); p > stall/2 { // a busy machine would have to stall nine times more
		t.Errorf("closed loop: p99.9 is %v", p)
	}
}

// How late requests come is known of each.
func TestLatenessIsRecorded(t *testing.T) {
	l := New(Options{Rate: 1e4, Arrivals: 500, Handlers: 1, Queue: 500})
	var wg sync.WaitGroup
	wg.Go(func() {
		for l.Next(0) {
			l.Done(0, nil)
		}
	})
	l.Run()
	wg.Wait()
	if n := l.late.TotalCount(); n != 500 {
		t.Errorf("%d recorded", n)
	}
	if r := l.Report(); r.LateMax <= 0 || r.LateP50 > r.LateP99 || r.LateP99 > r.LateMax {
		t.Errorf("%+v", r)
	}
}

// Nothing is allocated per request.
func TestNoAllocations(t *testing.T) {
	l := New(Options{Rate: 1e9, Arrivals: 1000, Handlers: 1, Queue: 1000})
	go l.Run()
	for l.Next(0); len(l.queue) < 999; {
		time.Sleep(time.Millisecond) // until all have come: what Run allocates at its start is not meant
	}
	if n := testing.AllocsPerRun(500, func() { l.Done(0, nil); l.Next(0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for l.Next(0) {
		l.Done(0, nil)
	}
}

// The load generator's own error, while handlers serve for a while: none, or computing that keeps half of two processors busy.
func BenchmarkLateness(b *testing.B) {
	for _, tc := range []struct {
		name  string
		serve time.Duration
	}{{"idle", 0}, {"busy", 2 * time.Millisecond}} {
		b.Run(tc.name, func(b *testing.B) { benchmarkLateness(b, tc.serve) })
	}
}

func benchmarkLateness(b *testing.B, serve time.Duration) {
	const handlers = 32
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(handlers + 1))
	for b.Loop() {
		l := New(Options{Rate: 500, Arrivals: 1000, Handlers: handlers, Queue: 32})
		var wg sync.WaitGroup
		for h := range handlers {
			wg.Go(func() {
				for l.Next(h) {
					for begin := time.Now(); time.Since(begin) < serve; {
					}
					l.Done(h, nil)
				}
			})
		}
		l.Run()
		wg.Wait()
		r := l.Report()
		b.ReportMetric(float64(r.LateP50), "late-p50-ns")
		b.ReportMetric(float64(r.LateP99), "late-p99-ns")
		b.ReportMetric(float64(r.LateMax), "late-max-ns")
	}
}
