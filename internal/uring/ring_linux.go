package uring

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/internal/iobuf"
)

// A Ring reads batches through io_uring. It is used by one goroutine at a time, and with Options.OneThread by the one that
// opened it only. No method but Open and Close allocates, once a batch of the size was there, unless it fails.
//
// An error of Do, Start, Finish or a hint fails the ring: nothing is in flight any more then, and everything but Close
// and the methods that tell something returns that error again.
type Ring struct {
	_    cpu.CacheLinePad
	eng  engine
	sys  system
	opts Options

	// What requests have in common.
	fd     int32
	readOp uint8
	align  int64

	mem    *iobuf.Buffer // nil for a ring that only hints
	buf    []byte        // its bytes: of all slots, one after the other
	stride int           // bytes of one
	slots  []slot
	free   []uint32     // slots in no use, a stack
	req    request      // what is pushed; here, for it would be allocated elsewhere
	cqes   []completion // what was reaped last

	flying int // requests that were pushed and have not been completed
	refill int // completions to wait for while there is more to push

	// Batches first … next−1 are started and not finished; batch number k is batches[k % len]. Batch next is being
	// added to. Reads are pushed in order; pushing is the batch whose turn it is.
	batches              []batch
	first, next, pushing uint

	counts Counts
	err    error // why the ring failed
	busy   bool  // in a call that hands over or hints; it stays so if each panics
	lost   bool  // the kernel may still write to buf
	closed bool
	_      cpu.CacheLinePad
}

// A slot is a buffer, and the read that is under way into it.
type slot struct {
	batch  *batch
	index  int    // of the read in its batch
	gen    uint32 // of the request, so that a completion of an earlier one is not taken for this one's
	flying bool
	start  int64 // offset in the file of the buffer's first byte
	skip   int   // bytes of the buffer before those that were asked for
	want   int   // bytes that are needed, from the first of the buffer
	span   int   // bytes to ask the kernel for: want, rounded out
	from   int   // where in the buffer the present request writes to
	got    int   // bytes that are there
}

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

// String tells the engine, the flags of io_uring_setup that are in use, and what else tells this ring from others.
func (r *Ring) String() string {
	engine := r.opts.Engine
	if engine == "" {
		engine = EngineRing
	}
	flags := "closed"
	if !r.closed {
		flags = flagNames(r.eng.flags())
	}
	return fmt.Sprintf("engine=%s flags=%s depth=%d batches=%d align=%d one-thread=%t keep-processor=%t fixed-buffers=%t fixed-file=%t huge-pages=%t buffer-bytes=%d",
		engine, flags, r.opts.Depth, r.opts.Batches, r.opts.Align, r.opts.OneThread, r.opts.KeepProcessor, r.opts.FixedBuffers, r.opts.FixedFile, r.opts.HugePages, len(r.slots)*r.stride)
}

// Counts is what the ring did so far.
func (r *Ring) Counts() Counts { return r.counts }

// Err is why the ring failed, nil if it did not.
func (r *Ring) Err() error { return r.err }

// HugePages asks the kernel how many bytes of the buffers are in huge pages now, and tells how many they have. It costs
// a look through the mappings of this process. No read may be added or awaited by others meanwhile, as for any method.
func (r *Ring) HugePages() (huge, all int64, err error) {
	if r.mem == nil || r.closed {
		return 0, 0, nil
	}
	huge, err = r.mem.Huge()
	return huge, int64(len(r.buf)), err
}

// idle reports whether the ring can be handed to somebody else.
func (r *Ring) idle() bool {
	return r.err == nil && !r.closed && !r.busy && r.flying == 0 && r.first == r.next && len(r.batches[r.next%uint(len(r.batches))].reads) == 0
}

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

// address is where in memory byte at of slot i is.
func (r *Ring) address(i uint32, at int) uint64 {
	return uint64(uintptr(unsafe.Pointer(&r.buf[int(i)*r.stride+at])))
}

// data is the user data of the request of slot number i: the slot and the request's generation.
func (s *slot) data(i uint32) uint64 { return uint64(s.gen)<<32 | uint64(i) }
