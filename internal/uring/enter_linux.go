package uring

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// enter enters the kernel with all that was pushed and waits for so many completions. entered is false if the call
// has to be repeated; it was counted then.
func (r *Ring) enter(wait int) (entered bool, err error) {
	n, err := r.eng.enter(uint32(wait))
	r.counts.Enters++
	r.counts.Submissions += uint64(n)
	switch {
	case err == nil:
		return true, nil
	case again(err):
		r.counts.Retried++
		return false, nil
	case errors.Is(err, unix.EEXIST) && r.opts.OneThread:
		err = fmt.Errorf("%w: this ring is for the goroutine that opened it (Options.OneThread)", err)
	}
	return false, fmt.Errorf("io_uring_enter with %d requests, for %d completions: %w", r.eng.pushed(), wait, err)
}

// again reports whether a call that returned err is to be repeated: it was interrupted, or the kernel was short of memory
// or of room for completions for the moment.
func again(err error) bool {
	return errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EBUSY)
}

// fail makes err the ring's, ends what is in flight, and returns err.
func (r *Ring) fail(err error) error {
	if r.err == nil {
		r.err = err
		r.err = errors.Join(err, r.drain())
	}
	return r.err
}

// cancelData is the user data of cancellations. No slot has its number.
const cancelData uint64 = 1<<64 - 1

// drain cancels what is in flight and waits until the kernel has done with it: it may write to a buffer until then. Most
// reads cannot be cancelled and just take their time.
func (r *Ring) drain() error {
	cancels, failures := 0, 0
	next := 0 // slot to cancel
	for r.flying > 0 || cancels > 0 {
		for ; next < len(r.slots); next++ {
			s := &r.slots[next]
			if !s.flying {
				continue
			}
			r.req = request{op: opAsyncCancel, fd: -1, addr: s.data(uint32(next)), data: cancelData}
			if !r.eng.push(&r.req) {
				break // the queue is full: the rest in the next round
			}
			cancels++
		}
		// Not before all are cancelled: what is not may never come. If the kernel does not take all, it returns at once.
		wait := 0
		if next == len(r.slots) {
			wait = r.flying + cancels
		}
		_, err := r.enter(wait)
		n := r.eng.reap(r.cqes)
		for _, c := range r.cqes[:n] {
			if c.data == cancelData {
				cancels--
				r.counts.Completions++
			} else if _, err := r.land(c); err != nil {
				continue // what it answers is unknown, so what is in flight stays that
			}
		}
		const patience = 1000
		if n > 0 {
			failures = 0
		} else if failures++; err == nil && failures < patience {
			time.Sleep(time.Duration(failures) * time.Microsecond)
			continue
		}
		if err == nil && failures >= patience {
			err = fmt.Errorf("no completion in %d calls", failures)
		}
		if err != nil {
			r.lost = true
			return fmt.Errorf("io_uring: waiting for %d requests in flight: %w", r.flying, err)
		}
	}
	return nil
}
