package strategies

import (
	"fmt"
	"os"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/readbench/strategy"
)

// ReadAt reads with os.File.ReadAt through the page cache: what Go programs do that do nothing special, and the
// counterpart of Java's FileChannel. All workers share one os.File, and so its reference count.
func ReadAt() strategy.Strategy { return readAt{} }

type readAt struct{}

func (readAt) Name() string { return "readat" }

func (readAt) Open(f *strategy.File, s strategy.Setup) (strategy.Opened, error) {
	fd, err := f.Open(0)
	if err != nil {
		return nil, fmt.Errorf("readat: %w", err)
	}
	return &readAtOpened{fd, f.PageSize(), s}, nil
}

type readAtOpened struct {
	file  *os.File
	page  int
	setup strategy.Setup
}

func (o *readAtOpened) Reader(int) (strategy.Reader, error) {
	return &readAtReader{file: o.file, page: o.page, buf: alignedBuffer(o.setup.MaxRange, o.page)}, nil
}

func (o *readAtOpened) Close() error { return o.file.Close() }

type readAtReader struct {
	file  *os.File
	page  int
	buf   []byte
	calls uint64
	_     cpu.CacheLinePad
}

// Read relies on os.File.ReadAt to continue short reads and to repeat interrupted ones, which it does unseen:
// they are not counted.
func (r *readAtReader) Read(rg strategy.Range) ([]byte, error) {
	if rg.N > len(r.buf) {
		r.buf = alignedBuffer(rg.N, r.page)
	}
	p := r.buf[:rg.N]
	if n, err := r.file.ReadAt(p, rg.Off); err != nil {
		return nil, fmt.Errorf("readat of %d bytes at %d: %d read: %w", rg.N, rg.Off, n, err)
	}
	r.calls++
	return p, nil
}

func (r *readAtReader) Counts() strategy.Counts {
	return strategy.Counts{Calls: map[string]uint64{"readat": r.calls}, ReadSyscalls: r.calls}
}
