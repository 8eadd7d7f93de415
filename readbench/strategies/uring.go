package strategies

import (
	"errors"
	"fmt"
	"os"

	"github.com/readbench/suite/internal/directio"
	"github.com/readbench/suite/internal/uring"
	"github.com/readbench/suite/readbench/strategy"
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
func Uring(e Engine) strategy.Strategy { return ring{name: "uring", engine: e} }

// UringDirect is Uring past the page cache (O_DIRECT). A range that is not aligned is read with what is around it.
func UringDirect(e Engine) strategy.Strategy {
	return ring{name: "uring-direct", engine: e, direct: true}
}

// UringDirectFixed is UringDirect with file and buffers registered with the kernel, which then need not look them up
// for every read. The buffers count against RLIMIT_MEMLOCK.
func UringDirectFixed(e Engine) strategy.Strategy {
	return ring{name: "uring-direct-fixed", engine: e, direct: true, fixed: true}
}

// UringDirectPipelined is UringDirect with the reads of the next op under way while those of this one are waited for: the
// depth does not drain between ops. (See Pipeliner.)
func UringDirectPipelined(e Engine) strategy.Strategy {
	return ring{name: "uring-direct-pipelined", engine: e, direct: true, form: pipelinedOps}
}

// UringDirectAhead is UringDirect for scans: it keeps up to READBENCH_DEPTH reads in flight before the cursor, as far as
// the worker's stripe goes. What it has read ahead when a call ends is dropped, and counted by the device.
func UringDirectAhead(e Engine) strategy.Strategy {
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

func (s ring) Open(f *strategy.File, setup strategy.Setup) (strategy.Opened, error) {
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
	if o.fd, o.align, err = directio.Open(f); err != nil {
		return nil, err
	}
	return &ringDirectOpened{o}, nil
}

type ringOpened struct {
	ring
	file  *strategy.File
	fd    *os.File // shared by all rings
	align int      // bytes; 1 for buffered reads
	setup strategy.Setup
}

// ringDirectOpened is Direct.
type ringDirectOpened struct{ *ringOpened }

func (o *ringDirectOpened) Alignment() int { return o.align }

func (o *ringOpened) Close() error { return o.fd.Close() }

// refused makes a refusal of io_uring one that skips the row.
func (s ring) refused(err error) error {
	if errors.Is(err, uring.ErrUnsupported) {
		return strategy.Unsupported("%s: %w", s.name, err)
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

// open opens the ring of one worker, on its goroutine, which is then locked to its thread: the kernel can work for that
// one alone. If each worker has a processor of its own, its waits keep that, as a page fault would.
func (s ring) open(o uring.Options, setup strategy.Setup) (*uring.Ring, error) {
	o.Engine = uring.Engine(s.engine)
	o.OneThread = true
	o.HugePages = s.direct
	o.KeepProcessor = setup.OwnProcessors && s.engine == EngineRing // giouring makes its own calls
	r, err := uring.Open(o)
	if err != nil {
		return nil, s.refused(err)
	}
	return r, nil
}

func (o *ringOpened) Reader(worker int) (strategy.Reader, error) {
	opts := uring.Options{File: o.fd, MaxRange: o.setup.MaxRange, Align: o.align, FixedBuffers: o.fixed, FixedFile: o.fixed}
	opts.Depth, opts.Batch = o.setup.Depth, o.setup.Batch
	switch o.form {
	case oneOp:
		opts.Depth = min(opts.Depth, o.setup.Batch) // more cannot be in flight, and has no buffers
	case pipelinedOps:
		opts.Depth = min(opts.Depth, strategy.Pipelined*o.setup.Batch)
		opts.Batches, opts.Batch = strategy.Pipelined, min(opts.Depth, o.setup.Batch) // as many buffers again as there are in flight
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
