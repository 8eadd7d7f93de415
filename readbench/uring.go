package readbench

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/cpu"
	"syscall"

	"github.com/readbench/suite/internal/uring"
)

// Engine is an implementation of the two queues of io_uring(7). The rows of both differ in nothing else.
type Engine string

// The engines. The second one is there only in programs built with -tags=giouring -ldflags=-checklinkname=0.
const (
	EngineRing     = Engine(uring.EngineRing)     // readbench's own
	EngineGiouring = Engine(uring.EngineGiouring) // github.com/pawelgaczynski/giouring
)

// Engines are those that are in this program, EngineRing first.
func Engines() (es []Engine) {
	for _, e := range uring.Engines() {
		es = append(es, Engine(e))
	}
	return es
}

// Uring reads the ranges of an op through the page cache with io_uring(7): they are submitted together, up to
// READBENCH_DEPTH at a time, and waited for together. What is cached is there when it was submitted. Each worker has a ring
// of its own. Where io_uring cannot be had the row is skipped; it never reads by another way.
func Uring(e Engine) Strategy { return ring{name: "uring", engine: e} }

// UringDirect is Uring past the page cache (O_DIRECT). A range that is not aligned is read with what is around it.
func UringDirect(e Engine) Strategy { return ring{name: "uring-direct", engine: e, direct: true} }

// UringDirectFixed is UringDirect with file and buffers registered with the kernel, which then need not look them up
// for every read. The buffers count against RLIMIT_MEMLOCK.
func UringDirectFixed(e Engine) Strategy {
	return ring{name: "uring-direct-fixed", engine: e, direct: true, fixed: true}
}

// UringDirectPipelined is UringDirect with the reads of the next op under way while those of this one are waited for: the
// depth does not drain between ops. (See Pipeliner.)
func UringDirectPipelined(e Engine) Strategy {
	return ring{name: "uring-direct-pipelined", engine: e, direct: true, form: pipelinedOps}
}

// UringDirectAhead is UringDirect for scans: it keeps up to READBENCH_DEPTH reads in flight before the cursor, as far as
// the worker's stripe goes. What it has read ahead when a call ends is dropped, and counted by the device.
func UringDirectAhead(e Engine) Strategy {
	return ring{name: "uring-direct-ahead", engine: e, direct: true, form: readAhead}
}

// ring is a strategy that reads through io_uring.
type ring struct {
	name   string
	engine Engine
	direct bool
	fixed  bool
	form   ringForm
}

// ringForm is what is in flight together.
type ringForm int

const (
	oneOp        ringForm = iota // the reads of an op
	pipelinedOps                 // those of this op and the next
	readAhead                    // those before the cursor of a scan
)

func (s ring) Name() string { return s.name }

// Labels tell the engine.
func (s ring) Labels() []string { return []string{"engine=" + string(s.engine)} }

// Open believes O_DIRECT as little as PreadDirect does: one read through a ring must reach a device.
func (s ring) Open(f *File, setup Setup) (Opened, error) {
	o := &ringOpened{ring: s, file: f, setup: setup, align: 1}
	if !s.direct {
		fd, err := f.Open(0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		o.fd = fd
		return o, nil
	}
	var err error
	if o.fd, o.align, err = openDirect(f); err != nil {
		return nil, err
	}
	if err := verifyDirect(f.Path(), o.readOne); err != nil {
		return nil, errors.Join(err, o.fd.Close())
	}
	return &ringDirectOpened{o}, nil
}

type ringOpened struct {
	ring
	file  *File
	fd    *os.File // shared by all rings
	align int      // bytes; 1 for buffered reads
	setup Setup
}

// ringDirectOpened is Direct.
type ringDirectOpened struct{ *ringOpened }

func (o *ringDirectOpened) Alignment() int { return o.align }

func (o *ringOpened) Close() error { return o.fd.Close() }

// readOne reads the first aligned bytes of the file through a ring of its own.
func (o *ringOpened) readOne() (err error) {
	n := int(min(o.file.Size(), int64(o.align)))
	r, err := uring.Open(uring.Options{
		File: o.fd, Depth: 1, MaxRange: n, Align: o.align, FixedBuffers: o.fixed, FixedFile: o.fixed, Engine: uring.Engine(o.engine),
	})
	if err != nil {
		return o.refused(err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	r.Add(0, n)
	return r.Do(func(int, []byte) error { return nil })
}

// refused makes a refusal of io_uring one that skips the row.
func (s ring) refused(err error) error {
	if errors.Is(err, uring.ErrUnsupported) {
		return Unsupported("%s: %w", s.name, err)
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

// open opens the ring of one worker, on its goroutine, which is then locked to its thread: the kernel can work for that
// one alone. If each worker has a processor of its own, its waits keep that, as a page fault would.
func (s ring) open(o uring.Options, setup Setup) (*uring.Ring, error) {
	o.Engine = uring.Engine(s.engine)
	o.OneThread = true
	o.HugePages = s.direct
	o.KeepProcessor = setup.Config.Procs == ProcsThreads && s.engine == EngineRing // giouring makes its own calls
	r, err := uring.Open(o)
	if errors.Is(err, syscall.ENOMEM) { // it takes memory for as many reads of that size
		return nil, setup.Config.Blame(s.refused(err), "DEPTH", "READ_SIZE")
	}
	if err != nil {
		return nil, s.refused(err)
	}
	return r, nil
}

func (o *ringOpened) Reader(worker int) (Reader, error) {
	opts := uring.Options{File: o.fd, MaxRange: o.setup.MaxRange, Align: o.align, FixedBuffers: o.fixed, FixedFile: o.fixed}
	opts.Depth, opts.Batch = o.setup.Depth, o.setup.Batch
	switch o.form {
	case oneOp:
		opts.Depth = min(opts.Depth, o.setup.Batch) // more cannot be in flight, and has no buffers
	case pipelinedOps:
		opts.Depth = min(opts.Depth, pipelined*o.setup.Batch)
		opts.Batches, opts.Batch = pipelined, min(opts.Depth, o.setup.Batch) // as many buffers again as there are in flight
	case readAhead:
		opts.Batches, opts.Batch = opts.Depth, 1
	}
	r, err := o.open(opts, o.setup)
	if err != nil {
		return nil, err
	}
	if o.direct {
		if err := tellHugePages(r.HugePages); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", o.name, err), r.Close())
		}
	}
	reader := newRingReader(r, o.setup.MaxRange)
	switch o.form {
	case pipelinedOps:
		return &ringPipeliner{reader}, nil
	case readAhead:
		return newRingAhead(reader, o.file, o.setup, worker), nil
	}
	return reader, nil
}

// A ringReader reads batches with one ring.
type ringReader struct {
	ring *uring.Ring
	buf  []byte // what Read hands out
	keep func(i int, p []byte) error
	_    cpu.CacheLinePad
}

func newRingReader(r *uring.Ring, maxRange int) *ringReader {
	x := &ringReader{ring: r, buf: make([]byte, maxRange)}
	x.keep = func(_ int, p []byte) error {
		copy(x.buf, p)
		return nil
	}
	return x
}

// Read copies: the ring's buffer is its own again when it returns. A batch is not copied.
func (r *ringReader) Read(rg Range) ([]byte, error) {
	r.ring.Add(rg.Off, rg.N)
	if err := r.ring.Do(r.keep); err != nil {
		return nil, err
	}
	return r.buf[:rg.N], nil
}

func (r *ringReader) ReadBatch(rs []Range, each func(i int, p []byte) error) error {
	for _, rg := range rs {
		r.ring.Add(rg.Off, rg.N)
	}
	return r.ring.Do(each)
}

func (r *ringReader) Counts() Counts { return ringCounts(r.ring.Counts()) }

// Close closes the ring, on the goroutine that opened it.
func (r *ringReader) Close() error { return r.ring.Close() }

// ringCounts are the counts of a reader with a ring: it makes no read system call. Calls of io_uring_enter count even if they
// were interrupted.
func ringCounts(c uring.Counts) Counts {
	return Counts{
		Calls: map[string]uint64{"enter": c.Enters, "submitted": c.Submissions, "completed": c.Completions, "pread": 0},
		Short: c.Short, Retried: c.Retried,
	}
}

// A ringPipeliner is a Pipeliner.
type ringPipeliner struct{ *ringReader }

func (r *ringPipeliner) Start(rs []Range) error {
	for _, rg := range rs {
		r.ring.Add(rg.Off, rg.N)
	}
	return r.ring.Start()
}

func (r *ringPipeliner) Finish(each func(i int, p []byte) error) error { return r.ring.Finish(each) }
