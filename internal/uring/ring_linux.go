package uring

import (
	"fmt"
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

// address is where in memory byte at of slot i is.
func (r *Ring) address(i uint32, at int) uint64 {
	return uint64(uintptr(unsafe.Pointer(&r.buf[int(i)*r.stride+at])))
}

// data is the user data of the request of slot number i: the slot and the request's generation.
func (s *slot) data(i uint32) uint64 { return uint64(s.gen)<<32 | uint64(i) }

// A batch is a number of reads that are handed over together.
type batch struct {
	reads  []read
	pushed int      // of these, the first so many
	left   int      // reads that are not complete
	done   []uint32 // slots of reads that are complete and were not handed over
}

type read struct {
	off int64
	n   int
}

// batch is the batch of number k.
func (r *Ring) batch(k uint) *batch { return &r.batches[k%uint(len(r.batches))] }
