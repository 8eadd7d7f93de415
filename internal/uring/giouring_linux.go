//go:build giouring

package uring

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/pawelgaczynski/giouring"
)

const giouringBuiltIn = true

// giouringEngine is EngineGiouring. The module takes syscall.munmap by linkname, which the linker has refused since Go 1.23:
// hence the build tag, and -ldflags=-checklinkname=0.
type giouringEngine struct {
	ring  *giouring.Ring
	cqes  []*giouring.CompletionQueueEvent
	setup uint32
	fixed bool
}

func newGiouring(sys system, entries uint32, oneThread bool) (engine, error) {
	// The module does not tell features: a ring that is closed at once does, and finds the flags.
	fd, p, err := setup(sys, entries, oneThread)
	if err != nil {
		return nil, err
	}
	if err := sys.close(fd); err != nil {
		return nil, fmt.Errorf("closing a ring: %w", err)
	}
	g := &giouringEngine{ring: giouring.NewRing(), setup: p.flags, cqes: make([]*giouring.CompletionQueueEvent, p.cqEntries)}
	if err := g.ring.QueueInit(entries, p.flags); err != nil {
		return nil, refused(sys, fmt.Sprintf("giouring: QueueInit with %d entries", entries), queueBytes(entries), err)
	}
	return g, nil
}

func (g *giouringEngine) pushed() uint32 { return g.ring.SQReady() }

func (g *giouringEngine) push(r *request) bool {
	e := g.ring.GetSQE()
	if e == nil {
		return false
	}
	fd := int(r.fd)
	switch r.op {
	case opRead:
		e.PrepareRead(fd, uintptr(r.addr), r.n, r.off)
	case opReadFixed:
		e.PrepareReadFixed(fd, uintptr(r.addr), r.n, r.off, 0)
	case opFadvise:
		e.PrepareFadvise(fd, r.off, int(r.n), r.advice)
	case opMadvise:
		e.PrepareMadvise(uintptr(r.addr), uint(r.n), int(r.advice))
	case opAsyncCancel:
		e.PrepareCancel64(r.addr, 0)
	default:
		e.PrepareNop()
	}
	e.OpcodeFlags = r.advice // the Prepare methods of reads leave there what the entry's last user put in
	e.UserData = r.data
	if r.fixedFile {
		e.Flags |= giouring.SqeFixedFile
	}
	return true
}

func (g *giouringEngine) enter(wait uint32) (uint32, error) {
	n, err := g.ring.SubmitAndWait(wait)
	return uint32(n), err
}

func (g *giouringEngine) reap(into []completion) int {
	n := min(int(g.ring.CQReady()), len(into), len(g.cqes))
	if n == 0 {
		return 0 // asking for none would make the module enter the kernel
	}
	n = int(g.ring.PeekBatchCQE(g.cqes[:n]))
	for i, c := range g.cqes[:n] {
		into[i] = completion{c.UserData, c.Res}
	}
	g.ring.CQAdvance(uint32(n))
	return n
}

func (g *giouringEngine) registerBuffer(p []byte) error {
	v := syscall.Iovec{Base: &p[0]}
	v.SetLen(len(p))
	_, err := g.ring.RegisterBuffers([]syscall.Iovec{v})
	g.fixed = err == nil
	return err
}

func (g *giouringEngine) registerFile(fd int) error {
	// Not its RegisterFiles, which returns no error when the kernel refuses, and hands over 64-bit numbers.
	v := int32(fd)
	_, errno := g.ring.Register(g.ring.RingFd(), registerFiles, unsafe.Pointer(&v), 1)
	if errno != 0 {
		return errno
	}
	return nil
}

func (g *giouringEngine) flags() uint32 { return g.setup }

func (g *giouringEngine) close() error {
	var err error
	if g.fixed {
		_, err = g.ring.UnregisterBuffers()
	}
	g.ring.QueueExit()
	if err != nil {
		return fmt.Errorf("closing a ring: %w", err)
	}
	return nil
}
