package strategies

import (
	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/internal/uring"
	"github.com/readbench/suite/readbench/strategy"
)

// UringMmap is MmapRandomPrefetch whose hints, MADV_WILLNEED on all ranges of an op, go to the kernel through io_uring(7):
// together, up to READBENCH_DEPTH at a time. It reads by copying from the mapping.
func UringMmap(e Engine) strategy.Strategy {
	return ringMmap{ring{name: "uring-mmap", engine: e}, mmap{name: "uring-mmap", advice: mapping.Random}}
}

type ringMmap struct {
	ring
	mmap mmap
}

// Labels tell the engine, and that nothing decides whether to hint.
func (s ringMmap) Labels() []string { return append(s.ring.Labels(), "policy=always") }

func (s ringMmap) Open(f *strategy.File, setup strategy.Setup) (strategy.Opened, error) {
	o, err := s.mmap.Open(f, setup)
	if err != nil {
		return nil, err
	}
	return &ringMmapOpened{o.(*mmapOpened), s.ring}, nil
}

type ringMmapOpened struct {
	*mmapOpened // a Mapper
	ring        ring
}

func (o *ringMmapOpened) Reader(worker int) (strategy.Reader, error) {
	reader, err := o.mmapOpened.Reader(worker)
	if err != nil {
		return nil, err
	}
	depth := min(o.setup.Depth, o.setup.Batch)
	r, err := o.ring.open(uring.Options{Depth: depth, Batch: o.setup.Batch}, o.setup)
	if err != nil {
		return nil, err
	}
	return &ringMmapReader{reader.(*mmapReader), r}, nil
}

type ringMmapReader struct {
	*mmapReader
	ring *uring.Ring
}

func (r *ringMmapReader) Prefetch(rs []strategy.Range) error {
	for _, rg := range rs {
		r.ring.Add(rg.Off, rg.N)
	}
	return r.ring.WillNeedMap(r.data)
}

func (r *ringMmapReader) Counts() strategy.Counts { return ringCounts(r.ring.Counts()) }

// Close closes the ring, on the goroutine that opened it.
func (r *ringMmapReader) Close() error { return r.ring.Close() }
