package uring

// How a ring ends.

import (
	"errors"
	"fmt"
	"runtime"
)

// Close ends what is in flight, gives descriptors and memory back to the system, and with Options.OneThread unlocks the
// goroutine from its thread. With OneThread it is called by the goroutine that called Open.
func (r *Ring) Close() error {
	if r.closed {
		return ErrClosed
	}
	r.err = errors.Join(r.err, ErrClosed)
	return errors.Join(r.drain(), r.release())
}

// release gives back what there is. If the kernel may still write to buffers, they are never unmapped: other
// memory would be at their addresses.
func (r *Ring) release() error {
	r.closed = true
	var errs []error
	if r.eng != nil {
		errs = append(errs, r.eng.close())
	}
	switch {
	case r.lost:
		errs = append(errs, fmt.Errorf("io_uring: %d bytes of buffers stay mapped for good: %d reads into them could not be waited for", len(r.buf), r.flying))
	case r.mem != nil:
		errs = append(errs, r.mem.Close())
	}
	r.buf = nil
	if r.opts.OneThread {
		runtime.UnlockOSThread()
	}
	return errors.Join(errs...)
}
