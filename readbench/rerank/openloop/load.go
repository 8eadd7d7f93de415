// Package openloop has requests come when they come, whether or not those before them are served: as they do at a server. In a
// closed loop a server that stalls is asked nothing meanwhile, and the stall counts once; here it counts for everyone who came
// while it lasted (what Gil Tene calls coordinated omission is absent), because latency counts from when a request was to come.
package openloop

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/cpu"
)

// Options say what comes, and when.
type Options struct {
	Rate     float64 // requests per second, on average; above 0
	Arrivals int     // how many; at least 1
	Handlers int     // that serve them, one request at a time each; at least 1
	Queue    int     // requests that may wait while all handlers serve; one more is shed
	Seed     uint64  // of the times between requests, which are distributed exponentially (a Poisson process)
	Promise  Promise // what is to be kept; as soon as it cannot be any more, no further request comes. The zero value promises nothing
}

// A Promise is a service level.
type Promise struct {
	P99  time.Duration // the 99th percentile of the latency at the most
	Shed float64       // the share of requests that are turned away at the most
}

// none reports whether nothing is promised.
func (p Promise) none() bool { return p == Promise{} }

// A Load is one run. The caller's handlers, each a goroutine of its own, serve it:
//
//	for l.Next(handler) {
//		err := serve(l.Item(handler))
//		l.Done(handler, err)
//	}
//
// while one more goroutine is in Run, which has the requests come as soon as each handler has called Next. When all handlers
// have seen false of Next and Run has returned, Report tells what happened.
type Load struct {
	o        Options
	queue    chan request
	handlers []handler
	waiting  atomic.Int32  // handlers that have not yet called Next
	ready    chan struct{} // closed when all have
	stop     chan struct{} // closed by Cancel
	cancel   sync.Once

	start   time.Time
	ended   time.Duration // since start, when the last request had come
	arrived int
	shed    int
	broken  bool // the promise was, and the rest did not come
	late    *hdrhistogram.Histogram
}

// request is one that has come.
type request struct {
	number int64
	due    time.Duration // since the start
}

// handler is what one handler has done. Only late is read by others while it works.
type handler struct {
	_       cpu.CacheLinePad
	now     request // that it serves
	began   bool
	from    time.Duration // since the start, when it began to serve that
	busy    time.Duration // it has served
	last    time.Duration // since the start, when it was last done
	served  int
	failed  int
	latency *hdrhistogram.Histogram
	late    atomic.Int64 // requests served later than was promised
	_       cpu.CacheLinePad
}

func newHistogram() *hdrhistogram.Histogram {
	const digits = 3
	return hdrhistogram.New(1, int64(time.Hour), digits)
}

// New prepares a run.
func New(o Options) *Load {
	l := &Load{o: o, queue: make(chan request, o.Queue), handlers: make([]handler, o.Handlers), ready: make(chan struct{}), stop: make(chan struct{}), late: newHistogram()}
	for i := range l.handlers {
		l.handlers[i].latency = newHistogram()
	}
	l.waiting.Store(int32(o.Handlers))
	return l
}

// Next waits for a request for a handler, by its number from 0, and reports whether there is one; if not, none will come.
func (l *Load) Next(number int) bool {
	h := &l.handlers[number]
	if !h.began {
		h.began = true
		if l.waiting.Add(-1) == 0 {
			close(l.ready)
		}
	}
	select {
	case <-l.stop: // what is queued is not served any more
		return false
	default:
	}
	r, ok := <-l.queue
	h.now = r
	if ok {
		h.from = time.Since(l.start)
	}
	return ok
}

// Item is the number, from 0, of the request that the handler has got from Next.
func (l *Load) Item(number int) int64 { return l.handlers[number].now.number }

// Done says that the handler has served its request, or failed to.
func (l *Load) Done(number int, err error) {
	h := &l.handlers[number]
	h.last = time.Since(l.start)
	h.busy += h.last - h.from
	if err != nil {
		h.failed++
		return
	}
	took := h.last - h.now.due
	h.served++
	_ = h.latency.RecordValue(min(max(1, int64(took)), h.latency.HighestTrackableValue())) // which is never out of range
	if !l.o.Promise.none() && took > l.o.Promise.P99 {
		h.late.Add(1)
	}
}

// Cancel ends the run before its time: no request comes any more, and those in the queue fail. It may be called by anyone, and
// more than once.
func (l *Load) Cancel() { l.cancel.Do(func() { close(l.stop) }) }

// Run has the requests come, and returns when all have. It never waits for a handler: a request that finds the queue full is
// shed. How late it was itself, it records.
func (l *Load) Run() {
	defer close(l.queue)
	select {
	case <-l.ready:
	case <-l.stop:
		return
	}
	p, done := newPacer()
	defer done()
	gaps := rand.New(rand.NewPCG(l.o.Seed, uint64(l.o.Arrivals)))
	perRequest := float64(time.Second) / l.o.Rate
	l.start = time.Now()
	due := 0.0
	for n := range l.o.Arrivals {
		due += gaps.ExpFloat64() * perRequest
		late, ok := l.wait(p, l.start.Add(time.Duration(due)))
		if !ok {
			return
		}
		_ = l.late.RecordValue(min(max(1, int64(late)), l.late.HighestTrackableValue()))
		l.arrived++
		select {
		case l.queue <- request{int64(n), time.Duration(due)}:
		default:
			l.shed++
		}
		l.ended = time.Since(l.start)
		if l.broken = l.hopeless(); l.broken {
			return
		}
	}
}

// wait waits until t, and returns how much later it is; ok is false if the run was cancelled meanwhile.
func (l *Load) wait(p *pacer, t time.Time) (late time.Duration, ok bool) {
	const look = 50 * time.Millisecond
	for {
		select {
		case <-l.stop:
			return 0, false
		default:
		}
		if time.Until(t) <= look {
			return p.until(t), true
		}
		p.until(time.Now().Add(look / 2))
	}
}

// hopeless reports whether the promise is broken whatever comes.
func (l *Load) hopeless() bool {
	if l.o.Promise.none() {
		return false
	}
	late := int64(0)
	for i := range l.handlers {
		late += l.handlers[i].late.Load()
	}
	all := float64(l.o.Arrivals)
	return float64(l.shed) > l.o.Promise.Shed*all || float64(late) > 0.01*all+1
}
