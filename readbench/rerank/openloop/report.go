package openloop

import "time"

// A Report is what happened in a run. Arrived is Served + Shed + Failed, always.
type Report struct {
	Rate    float64 // that was asked for, in requests per second
	Arrived int
	Served  int
	Shed    int           // came when the queue was full
	Failed  int           // were served with an error, or were still queued when the run was cancelled
	Elapsed time.Duration // from the start until the last one had come, and was done

	InService float64 // requests that were being served, on average

	P50, P99, P999, Max time.Duration // of the latency of those served, from when they were to come until they were served

	LateP50, LateP99, LateMax time.Duration // by how much requests came later than they were to: the load generator's own error

	Broken bool // the promise could not be kept any more, and the rest did not come
}

// Report tells what happened, when all handlers have seen false of Next and Run has returned.
func (l *Load) Report() Report {
	r := Report{Rate: l.o.Rate, Arrived: l.arrived, Shed: l.shed, Elapsed: l.ended, Broken: l.broken}
	for range l.queue {
		r.Failed++
	}
	all := newHistogram()
	for i := range l.handlers {
		h := &l.handlers[i]
		r.Elapsed = max(r.Elapsed, h.last)
		r.InService += h.busy.Seconds()
		r.Served += h.served
		r.Failed += h.failed
		all.Merge(h.latency)
	}
	if r.Elapsed > 0 {
		r.InService /= r.Elapsed.Seconds()
	}
	quantile := func(q float64) time.Duration { return time.Duration(all.ValueAtPercentile(q)) }
	r.P50, r.P99, r.P999, r.Max = quantile(50), quantile(99), quantile(99.9), time.Duration(all.Max())
	r.LateP50, r.LateP99, r.LateMax = time.Duration(l.late.ValueAtPercentile(50)), time.Duration(l.late.ValueAtPercentile(99)), time.Duration(l.late.Max())
	return r
}

// ShedShare is the share of requests that were shed.
func (r Report) ShedShare() float64 {
	if r.Arrived == 0 {
		return 0
	}
	return float64(r.Shed) / float64(r.Arrived)
}

// Achieved is how many requests per second were served.
func (r Report) Achieved() float64 {
	if r.Elapsed == 0 {
		return 0
	}
	return float64(r.Served) / r.Elapsed.Seconds()
}

// Kept reports whether the promise was kept.
func (p Promise) Kept(r Report) bool {
	return !r.Broken && r.Failed == 0 && r.Served > 0 && r.P99 <= p.P99 && r.ShedShare() <= p.Shed
}
