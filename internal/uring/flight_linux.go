package uring

// Requests in flight: each belongs to a slot, from launch until its completion lands.

import (
	"errors"
	"fmt"
)

// launch pushes req as the request of slot i.
func (r *Ring) launch(i uint32) error {
	s := &r.slots[i]
	s.gen++
	r.req.data = s.data(i)
	if !r.eng.push(&r.req) {
		return fmt.Errorf("io_uring: the submission queue is full with %d in flight: %w", r.flying, errBug)
	}
	s.flying = true
	r.flying++
	return nil
}

// land returns the slot whose request c answers, which is in flight no more.
func (r *Ring) land(c completion) (uint32, error) {
	i := uint32(c.data)
	if uint64(i) >= uint64(len(r.slots)) || !r.slots[i].flying || r.slots[i].data(i) != c.data {
		return 0, fmt.Errorf("io_uring: a completion (user data %#x, result %d) belongs to nothing in flight: %w", c.data, c.res, errBug)
	}
	r.slots[i].flying = false
	r.flying--
	r.counts.Completions++
	return i, nil
}

var errBug = errors.New("a bug in this package, or a kernel that does not keep to io_uring(7)")
