package uring

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// queue is EngineRing: the two queues as memory that is shared with the kernel.
//
// Memory order. Each queue has one writer of its tail and one writer of its head, and an entry belongs to
// whoever the two say. The kernel's half of the protocol (io_uring(7)) is: it reads the submission tail with acquire and
// then the entries; it writes a completion and then stores the completion tail with release; it reads the completion head
// with acquire before it overwrites entries. The other half is here, with sync/atomic, whose operations the Go
// memory model makes sequentially consistent, which is stronger than the acquire and release that are needed:
//
//   - push writes the entry with plain stores, enter then publishes it by an atomic store of the tail. Neither
//     compiler nor processor moves a store behind a later atomic store.
//   - reap loads the completion tail atomically, then reads entries with plain loads, which neither moves before an
//     earlier atomic load; and then stores the head atomically, before which all those loads are done.
//
// What only this side writes (submission tail, completion head) it keeps a copy of, so that it need not be loaded. A
// store of the tail or the head happens once per call, not per entry. That the memory is not Go's
// does not matter to the argument: atomics compile to the same instructions (XCHG and MOV on amd64, STLR and LDAR on
// arm64), and the compiler knows no more about this memory than about any other that it sees through a pointer.
type queue struct {
	sys    system
	keep   bool // the processor while in enter
	fd     int
	params *params
	rings  []byte // head, tail, array and completions
	sqMem  []byte // submission entries
	fixed  bool   // a buffer is registered

	sqHead, sqTail *uint32
	sqMask         uint32
	sqes           []sqe
	tail           uint32 // ours; sqTail follows in enter

	cqHead, cqTail *uint32
	cqMask         uint32
	cqes           []cqe
	head           uint32 // ours; cqHead follows in reap
}

func newQueue(sys system, entries uint32, oneThread, keep bool) (engine, error) {
	fd, p, err := setup(sys, entries, oneThread)
	if err != nil {
		return nil, err
	}
	q := &queue{sys: sys, keep: keep, fd: fd, params: p}
	if err := q.mmap(); err != nil {
		return nil, errors.Join(err, q.close())
	}
	return q, nil
}

// mmap maps the queues and finds their parts.
func (q *queue) mmap() error {
	p := q.params
	ringBytes := max(
		int(p.sqOff.array+p.sqEntries*uint32(unsafe.Sizeof(uint32(0)))),
		int(p.cqOff.cqes+p.cqEntries*uint32(unsafe.Sizeof(cqe{}))))
	sqeBytes := int(p.sqEntries) * int(unsafe.Sizeof(sqe{}))
	var err error
	if q.rings, err = q.sys.mmap(q.fd, offSQRing, ringBytes, unix.MAP_SHARED); err == nil {
		q.sqMem, err = q.sys.mmap(q.fd, offSQEs, sqeBytes, unix.MAP_SHARED)
	}
	if err != nil {
		return refused(q.sys, fmt.Sprintf("mmap of the queues of a ring with %d entries", p.sqEntries), ringBytes+sqeBytes, err)
	}
	at := func(off uint32) *uint32 { return (*uint32)(unsafe.Pointer(&q.rings[off])) }
	q.sqHead, q.sqTail, q.sqMask = at(p.sqOff.head), at(p.sqOff.tail), *at(p.sqOff.ringMask)
	q.cqHead, q.cqTail, q.cqMask = at(p.cqOff.head), at(p.cqOff.tail), *at(p.cqOff.ringMask)
	q.sqes = unsafe.Slice((*sqe)(unsafe.Pointer(&q.sqMem[0])), p.sqEntries)
	q.cqes = unsafe.Slice((*cqe)(unsafe.Pointer(&q.rings[p.cqOff.cqes])), p.cqEntries)
	// The kernel takes entries in the order of an array of indices. In order of position is all that is needed.
	array := unsafe.Slice(at(p.sqOff.array), p.sqEntries)
	for i := range array {
		array[i] = uint32(i)
	}
	q.tail, q.head = atomic.LoadUint32(q.sqTail), atomic.LoadUint32(q.cqHead)
	return nil
}

func (q *queue) pushed() uint32 { return q.tail - atomic.LoadUint32(q.sqHead) }

func (q *queue) push(r *request) bool {
	if q.pushed() == uint32(len(q.sqes)) {
		return false
	}
	var flags uint8
	if r.fixedFile {
		flags = sqeFixedFile
	}
	q.sqes[q.tail&q.sqMask] = sqe{
		opcode: r.op, flags: flags, fd: r.fd, off: r.off, addr: r.addr, len: r.n, opFlags: r.advice, userData: r.data,
	}
	q.tail++
	return true
}

func (q *queue) enter(wait uint32) (uint32, error) {
	atomic.StoreUint32(q.sqTail, q.tail)
	if q.keep {
		return q.sys.enterKeeping(q.fd, q.pushed(), wait, enterGetEvents)
	}
	return q.sys.enter(q.fd, q.pushed(), wait, enterGetEvents)
}

func (q *queue) reap(into []completion) int {
	n := min(int(atomic.LoadUint32(q.cqTail)-q.head), len(into))
	for i := range into[:n] {
		c := &q.cqes[q.head&q.cqMask]
		into[i] = completion{c.userData, c.res}
		q.head++
	}
	atomic.StoreUint32(q.cqHead, q.head)
	return n
}

func (q *queue) registerBuffer(p []byte) error {
	v := unix.Iovec{Base: &p[0]}
	v.SetLen(len(p))
	err := q.sys.register(q.fd, registerBuffers, unsafe.Pointer(&v), 1)
	q.fixed = err == nil
	return err
}

func (q *queue) registerFile(fd int) error {
	v := int32(fd)
	return q.sys.register(q.fd, registerFiles, unsafe.Pointer(&v), 1)
}

func (q *queue) flags() uint32 { return q.params.flags }

// close unregisters the buffer first: closing the descriptor would do that too, but later, and until then the memory
// counts against RLIMIT_MEMLOCK.
func (q *queue) close() error {
	var errs []error
	if q.fixed {
		errs = append(errs, q.sys.register(q.fd, unregisterBuffers, nil, 0))
	}
	for _, m := range [][]byte{q.rings, q.sqMem} {
		if m != nil {
			errs = append(errs, q.sys.munmap(m))
		}
	}
	q.rings, q.sqMem, q.sqes, q.cqes = nil, nil, nil, nil
	if err := errors.Join(append(errs, q.sys.close(q.fd))...); err != nil {
		return fmt.Errorf("closing a ring: %w", err)
	}
	return nil
}
