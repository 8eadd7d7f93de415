package uring

// How a ring comes to be: buffers, queues, and what is registered.

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// Open makes a ring with its buffers. An error that wraps ErrUnsupported says why io_uring cannot be had here.
func Open(o Options) (*Ring, error) { return open(linux{}, o) }

func open(sys system, o Options) (_ *Ring, err error) {
	if o.Batches == 0 {
		o.Batches = 1
	}
	if o.Align == 0 {
		o.Align = 1
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	r := &Ring{sys: sys, opts: o, fd: -1, readOp: opRead, align: int64(o.Align)}
	if o.OneThread {
		runtime.LockOSThread()
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.release())
		}
	}()
	if r.eng, err = newEngine(sys, o); err != nil {
		return nil, err
	}
	if err := r.makeSlots(); err != nil {
		return nil, err
	}
	if err := r.registerAll(); err != nil {
		return nil, err
	}
	r.batches = make([]batch, o.Batches+1)
	for i := range r.batches {
		r.batches[i].reads = make([]read, 0, max(o.Batch, o.Depth))
		r.batches[i].done = make([]uint32, 0, len(r.slots))
	}
	// Two completions for each request that is in flight: its own, and that of its cancellation.
	r.cqes = make([]completion, 2*o.Depth)
	r.refill = max(1, o.Depth/refillShare)
	return r, nil
}

// check says what is wrong with options.
func (o Options) check() error {
	switch {
	case o.Depth < 1 || o.Depth > maxEntries:
		return fmt.Errorf("io_uring: depth %d: the kernel takes 1 to %d", o.Depth, maxEntries)
	case o.MaxRange < 0 || o.MaxRange > maxFixedBuffer:
		return fmt.Errorf("io_uring: reads of up to %d bytes: from 0 to %d are possible", o.MaxRange, maxFixedBuffer)
	case o.Align < 1 || o.Align&(o.Align-1) != 0 || o.Align > os.Getpagesize():
		return fmt.Errorf("io_uring: alignment %d is not a power of two up to the page size, %d", o.Align, os.Getpagesize())
	case o.Batches < 1 || o.Batch < 0:
		return fmt.Errorf("io_uring: %d batches of %d reads: neither may be negative", o.Batches, o.Batch)
	case o.File == nil && (o.MaxRange > 0 || o.FixedFile):
		return errors.New("io_uring: a ring that reads needs a file")
	}
	return nil
}

// makeSlots makes one slot for each read in flight, and with several batches one for each read of later ones, which may
// be complete before its turn.
func (r *Ring) makeSlots() error {
	o, page := &r.opts, os.Getpagesize()
	r.slots = make([]slot, o.Depth+(o.Batches-1)*o.Batch)
	r.free = make([]uint32, 0, len(r.slots))
	for i := len(r.slots) - 1; i >= 0; i-- {
		r.free = append(r.free, uint32(i))
	}
	if o.MaxRange == 0 {
		return nil
	}
	longest := o.MaxRange
	if o.Align > 1 {
		longest += 2 * o.Align
	}
	r.stride = (longest + page - 1) &^ (page - 1)
	n := len(r.slots) * r.stride
	if o.FixedBuffers && n > maxFixedBuffer {
		return fmt.Errorf("io_uring: registering %d buffers of %d bytes: the kernel takes %d bytes at once; ask for a smaller depth or shorter reads", len(r.slots), r.stride, maxFixedBuffer)
	}
	var err error
	if r.mem, err = r.sys.buffer(n, o.HugePages); err != nil {
		return refused(r.sys, fmt.Sprintf("%d buffers of %d bytes", len(r.slots), r.stride), n, err)
	}
	r.buf = r.mem.Bytes()
	return nil
}

// registerAll registers what the options say.
func (r *Ring) registerAll() error {
	o := &r.opts
	if o.File != nil {
		r.fd = int32(o.File.Fd())
	}
	if o.FixedBuffers && r.buf != nil {
		what := fmt.Sprintf("registering buffers of %d bytes", len(r.buf))
		if err := r.eng.registerBuffer(r.buf); err != nil {
			return refused(r.sys, what, len(r.buf), err)
		}
		r.readOp = opReadFixed
	}
	if o.FixedFile {
		if err := r.eng.registerFile(int(r.fd)); err != nil {
			return refused(r.sys, fmt.Sprintf("registering %s", o.File.Name()), 0, err)
		}
		r.fd = 0
	}
	return nil
}
