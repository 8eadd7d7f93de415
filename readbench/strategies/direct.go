package strategies

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/internal/directio"
	"github.com/readbench/suite/internal/iobuf"
	"github.com/readbench/suite/readbench/strategy"
)

// PreadDirect reads with pread(2) past the page cache (O_DIRECT; F_NOCACHE on darwin). A range that is not aligned
// is read with what is around it. All workers share one descriptor.
func PreadDirect() strategy.Strategy { return preadDirect{} }

type preadDirect struct{}

func (preadDirect) Name() string { return "pread-direct" }

func (preadDirect) Open(f *strategy.File, s strategy.Setup) (strategy.Opened, error) {
	fd, align, err := directio.Open(f)
	if err != nil {
		return nil, err
	}
	return &preadDirectOpened{file: fd, align: align, setup: s}, nil
}

type preadDirectOpened struct {
	file  *os.File
	align int
	setup strategy.Setup
}

func (o *preadDirectOpened) Alignment() int { return o.align }

func (o *preadDirectOpened) Reader(int) (strategy.Reader, error) {
	r := &preadDirectReader{fd: int(o.file.Fd()), align: int64(o.align)}
	if err := r.grow(o.setup.MaxRange); err != nil {
		return nil, err
	}
	if len(r.buf) >= worthHuge {
		if err := tellHugePages(r.hugePages); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	return r, nil
}

func (o *preadDirectOpened) Close() error { return o.file.Close() }

type preadDirectReader struct {
	fd    int
	align int64
	mem   *iobuf.Buffer
	buf   []byte // mem's
	counts
	_ cpu.CacheLinePad
}

// grow makes the buffer large enough for any range of n bytes with what is around it.
func (r *preadDirectReader) grow(n int) error {
	n += 2 * int(r.align)
	mem, err := iobuf.New(n, n >= worthHuge)
	if err != nil {
		return fmt.Errorf("pread-direct: a buffer for %d bytes: %w", n, err)
	}
	old := r.mem
	r.mem, r.buf = mem, mem.Bytes()
	if old != nil {
		return old.Close()
	}
	return nil
}

func (r *preadDirectReader) Read(rg strategy.Range) ([]byte, error) {
	start := rg.Off &^ (r.align - 1)
	end := (rg.Off + int64(rg.N) + r.align - 1) &^ (r.align - 1)
	if end-start > int64(len(r.buf)) {
		if err := r.grow(rg.N); err != nil {
			return nil, err
		}
	}
	skip := int(rg.Off - start)
	// At the end of a file whose size is not aligned, fewer bytes come than the aligned range has: those asked
	// for are enough.
	if err := r.readFull(r.fd, r.buf[:end-start], start, skip+rg.N); err != nil {
		return nil, err
	}
	return r.buf[skip : skip+rg.N], nil
}

func (r *preadDirectReader) hugePages() (huge, all int64, err error) {
	huge, err = r.mem.Huge()
	return huge, int64(len(r.buf)), err
}

// Close gives the buffer back.
func (r *preadDirectReader) Close() error {
	r.buf = nil
	return r.mem.Close()
}

func (r *preadDirectReader) Counts() strategy.Counts { return r.counts.as("pread") }
