package strategies

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/readbench/strategy"
)

// Mmap copies from a mapping that has no advice: each fault on a page that is not cached reads ahead.
func Mmap() strategy.Strategy { return mmap{name: "mmap", advice: mapping.Normal} }

// MmapRandom copies from a mapping advised MADV_RANDOM: a fault reads one page.
func MmapRandom() strategy.Strategy { return mmap{name: "mmap-random", advice: mapping.Random} }

// MmapSequential copies from a mapping advised MADV_SEQUENTIAL: the kernel reads ahead more eagerly.
func MmapSequential() strategy.Strategy {
	return mmap{name: "mmap-sequential", advice: mapping.Sequential}
}

// MmapPrefetch is Mmap that hints all ranges of an op with MADV_WILLNEED before it reads any.
func MmapPrefetch() strategy.Strategy {
	return mmap{name: "mmap-prefetch", advice: mapping.Normal, prefetch: true}
}

// MmapRandomPrefetch is MmapRandom that hints all ranges of an op with MADV_WILLNEED before it reads any.
func MmapRandomPrefetch() strategy.Strategy {
	return mmap{name: "mmap-random-prefetch", advice: mapping.Random, prefetch: true}
}

// MmapRandomWindow is MmapRandom that hints with MADV_WILLNEED what lies up to READBENCH_WINDOW bytes before the reads
// of a scan, each page once: read-ahead by hand.
func MmapRandomWindow() strategy.Strategy {
	return mmap{name: "mmap-random-window", advice: mapping.Random, window: true}
}

type mmap struct {
	name     string
	advice   mapping.Advice
	prefetch bool
	window   bool
}

func (s mmap) Name() string { return s.name }

// Labels is policy=always for the strategies that hint: nothing decides whether to.
func (s mmap) Labels() []string {
	if s.prefetch {
		return []string{"policy=always"}
	}
	return nil
}

// Open maps the file. All workers share the mapping.
func (s mmap) Open(f *strategy.File, setup strategy.Setup) (strategy.Opened, error) {
	fd, err := f.Open(0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	defer fd.Close()
	m, err := mapping.Open(fd, f.Size(), f.PageSize())
	if err != nil {
		return nil, err
	}
	if s.advice != mapping.Normal {
		if err := m.Advise(s.advice); err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	return &mmapOpened{m, s, f, setup}, nil
}

type mmapOpened struct {
	*mapping.Map // Populate, Drop, Close
	mmap
	file  *strategy.File
	setup strategy.Setup
}

func (o *mmapOpened) Reader(worker int) (strategy.Reader, error) {
	r := &mmapReader{m: o.Map, page: int64(o.file.PageSize()), data: o.Bytes(), buf: alignedBuffer(o.setup.MaxRange+cacheLine, cacheLine)}
	switch {
	case o.prefetch:
		return &mmapPrefetchReader{mmapReader: r}, nil
	case o.window:
		return &mmapWindowReader{r, newWindow(o.file, o.setup, worker)}, nil
	}
	return r, nil
}

// cacheLine is what the ends of a copy are aligned to, in bytes.
const cacheLine = 64

type mmapReader struct {
	m     *mapping.Map
	page  int64
	data  []byte
	buf   []byte
	hints uint64
	_     cpu.CacheLinePad
}

// Read copies to where the buffer is congruent to the source modulo a cache line. Go's copy moves long blocks
// to a destination aligned to 16 bytes by REP MOVS on many processors, which is slow from a source that is not;
// this way both are aligned, or neither.
func (r *mmapReader) Read(rg strategy.Range) ([]byte, error) {
	src := r.data[rg.Off : rg.Off+int64(rg.N)]
	at := int(uintptr(unsafe.Pointer(unsafe.SliceData(src))) % cacheLine)
	if at+rg.N > len(r.buf) {
		r.buf = alignedBuffer(rg.N+cacheLine, cacheLine)
	}
	dst := r.buf[at : at+rg.N]
	copy(dst, src)
	return dst, nil
}

func (r *mmapReader) Counts() strategy.Counts {
	return strategy.Counts{Calls: map[string]uint64{"madvise": r.hints}}
}

type mmapPrefetchReader struct{ *mmapReader }

func (r *mmapPrefetchReader) Prefetch(rs []strategy.Range) error {
	for _, rg := range rs {
		if err := r.hint(rg.Off&^(r.page-1), rg.Off+int64(rg.N)); err != nil {
			return err
		}
	}
	return nil
}

// hint asks the kernel to start reading from an offset at the start of a page to below another, in pieces.
func (r *mmapReader) hint(from, to int64) error {
	for ; from < to; from += hintPiece {
		if err := r.m.WillNeed(from, int(min(hintPiece, to-from))); err != nil {
			return err
		}
		r.hints++
	}
	return nil
}

type mmapWindowReader struct {
	*mmapReader
	window
}

func (r *mmapWindowReader) Read(rg strategy.Range) ([]byte, error) {
	if err := r.hint(r.advance(rg)); err != nil {
		return nil, err
	}
	return r.mmapReader.Read(rg)
}
