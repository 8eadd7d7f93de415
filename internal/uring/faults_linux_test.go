package uring

import (
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

// faults is an engine in front of another one that makes happen what the kernel does not do on demand. Requests and
// completions are real, except that a request with an injected result does nothing (opNop).
type faults struct {
	engine
	shorten func(q *request) uint32        // the length to ask the kernel for instead
	result  func(q *request) (int32, bool) // what a request is to return instead of being carried out
	err     func(call int) error           // of the call-th enter, which then is not made
	atMost  int                            // completions that reap returns, if not 0
	shuffle *rand.Rand                     // permutes completions
	forge   []completion                   // to be reaped in addition

	results map[uint64]int32
	calls   int
	flying  int   // requests pushed and not reaped
	most    int   // the largest that was
	depths  []int // flying at each enter
}

func inject(r *Ring, f *faults) *faults {
	f.engine, r.eng = r.eng, f
	f.results = map[uint64]int32{}
	return f
}

func (f *faults) push(q *request) bool {
	c := *q
	read := q.op == opRead || q.op == opReadFixed
	if read && f.shorten != nil {
		c.n = f.shorten(q)
	}
	if q.op != opAsyncCancel && f.result != nil {
		if res, ok := f.result(q); ok {
			c = request{op: opNop, fd: -1, data: q.data}
			f.results[q.data] = res
		}
	}
	if !f.engine.push(&c) {
		return false
	}
	f.flying++
	f.most = max(f.most, f.flying)
	return true
}

func (f *faults) enter(wait uint32) (uint32, error) {
	f.calls++
	f.depths = append(f.depths, f.flying)
	if f.err != nil {
		if err := f.err(f.calls); err != nil {
			return 0, err
		}
	}
	return f.engine.enter(wait)
}

func (f *faults) reap(into []completion) int {
	if len(f.forge) > 0 {
		n := copy(into, f.forge)
		f.forge = f.forge[n:]
		return n
	}
	if f.atMost > 0 {
		into = into[:min(len(into), f.atMost)]
	}
	n := f.engine.reap(into)
	for i := range into[:n] {
		if res, ok := f.results[into[i].data]; ok {
			into[i].res = res
			delete(f.results, into[i].data)
		}
	}
	f.flying -= n
	if f.shuffle != nil {
		f.shuffle.Shuffle(n, func(i, j int) { into[i], into[j] = into[j], into[i] })
	}
	return n
}

// negative is the result of a request that failed with e.
func negative(e unix.Errno) int32 { return -int32(e) }
