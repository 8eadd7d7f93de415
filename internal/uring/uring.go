// Package uring reads batches of ranges of a file through io_uring(7), a pair of queues that a process shares with the
// kernel: many reads go in with one system call, and come back in any order.
//
// A Ring belongs to one goroutine. It takes batches:
//
//	for _, r := range ranges {
//		ring.Add(r.Off, r.N)
//	}
//	err := ring.Do(each) // submits, waits, and calls each(i, bytes) for every read
//
// or, with Options.Batches of 2 or more, keeps the device busy from one batch to the next:
//
//	add(ranges0); ring.Start()
//	add(ranges1); ring.Start()   // under way, while …
//	ring.Finish(each)            // … the reads of ranges0 are handed over
//
// It also gives hints (WillNeedFile, WillNeedMap). A Pool shares a bounded number of rings among many goroutines.
//
// The queues are this package's own (EngineRing) or those of github.com/pawelgaczynski/giouring (EngineGiouring; build
// tag giouring), for comparison: what is measured on both differs in nothing else. Nothing in this package reads
// by another way when io_uring cannot be had: it says so, with an error that wraps ErrUnsupported.
package uring

import (
	"errors"
	"os"

	"github.com/readbench/suite/internal/refusal"
)

// ErrUnsupported is wrapped by errors that say: io_uring, or a part of it that was asked for, cannot be had here. Their
// text names the cause and the remedy.
var ErrUnsupported = errors.New("io_uring unsupported")

// unsupported returns an error that wraps ErrUnsupported, and what the format wraps.
func unsupported(format string, args ...any) error {
	return refusal.Errorf(ErrUnsupported, format, args...)
}

// ErrClosed is returned by a ring or pool that was closed.
var ErrClosed = errors.New("io_uring: closed")

// Engine names an implementation of the queues.
type Engine string

// The engines. The second one is there only in programs built with -tags=giouring -ldflags=-checklinkname=0.
const (
	EngineRing     Engine = "ring"     // this package's own; what the empty Engine stands for
	EngineGiouring Engine = "giouring" // github.com/pawelgaczynski/giouring
)

// Options say what a ring is for.
type Options struct {
	// File is what is read. It stays open until the ring is closed. It may be nil for a ring that only hints at mappings.
	File *os.File
	// Depth is how many requests are in flight at most, 1…32768. A batch may be larger.
	Depth int
	// MaxRange is the length of the longest read in bytes, up to 1 GiB; 0 for a ring that only hints.
	MaxRange int
	// Align is the power of two, in bytes, to multiples of which offset and length of a read are rounded out before it goes
	// to the kernel: what O_DIRECT wants of this file, at most a page. 0 and 1 stand for no rounding: buffered reads.
	Align int
	// Batches is how many batches may be started and not yet finished; 0 stands for 1, which is enough for Do.
	Batches int
	// Batch is how many reads a batch has, as a rule. With Batches of 2 or more there are so many buffers that reads
	// of later batches never wait for one. Larger batches are possible.
	Batch int
	// FixedBuffers registers the buffers with the kernel, which then need not look their pages up for every read.
	// They count against RLIMIT_MEMLOCK.
	FixedBuffers bool
	// FixedFile registers the file, which then need not be looked up for every read. Closing File does not affect the
	// ring any more.
	FixedFile bool
	// HugePages asks for the buffers in huge pages, which takes up to 2 MiB more of memory. It is for direct reads: what the
	// kernel and the device do per page of a buffer, they do once then (BenchmarkDirect). Ring.HugePages tells whether there were some.
	HugePages bool
	// OneThread locks the goroutine that calls Open to its thread until it calls Close, and lets no other use the ring.
	// Where the kernel can (6.1), completions are then processed by that thread when it waits and only when all it waits
	// for is there: one wake-up per batch instead of one per read. A ring in a Pool cannot have it.
	OneThread bool
	// KeepProcessor makes a wait in the kernel keep its Go processor (one of GOMAXPROCS), by which Go's scheduler
	// does not learn of it. It is for a worker that has a processor of its own, as with GOMAXPROCS workers and
	// nothing else to run: other goroutines of that processor, and garbage collection, are held up until the wait is over.
	// What it saves: by an ordinary system call, the monitor thread takes the processor of a wait of more than 20 µs
	// away, looks for somebody to run on it, and it must be had back. With one processor, 16 reads of 16 KiB a wait, that is
	// a fifth to a quarter of the processor time of a read, and 0.28 context switches a read instead of 0.07
	// (BenchmarkDirect). Not with EngineGiouring, whose calls are its own.
	KeepProcessor bool
	// Engine is EngineRing if empty.
	Engine Engine
}

// Counts is what a ring did since it was opened, or all rings of a pool. Opening and closing do not count.
type Counts struct {
	Enters      uint64 // io_uring_enter calls, successful or not
	Submissions uint64 // requests that the kernel took
	Completions uint64 // requests that the kernel completed
	Short       uint64 // reads that delivered less than was asked for, and were continued
	Retried     uint64 // reads and calls repeated after EINTR or EAGAIN, and waits that ended too early
}

// Add adds d to c.
func (c *Counts) Add(d Counts) {
	c.Enters += d.Enters
	c.Submissions += d.Submissions
	c.Completions += d.Completions
	c.Short += d.Short
	c.Retried += d.Retried
}
