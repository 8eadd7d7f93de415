package readbench

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// Pread reads with pread(2) through the page cache into a buffer of the worker's own. All workers share one descriptor.
func Pread() Strategy { return pread{} }

type pread struct{}

func (pread) Name() string { return "pread" }

func (pread) Open(f *File, s Setup) (Opened, error) {
	fd, err := f.Open(0)
	if err != nil {
		return nil, fmt.Errorf("pread: %w", err)
	}
	return &preadOpened{fd, f.PageSize(), s}, nil
}

type preadOpened struct {
	file  *os.File
	page  int
	setup Setup
}

func (o *preadOpened) Reader(int) (Reader, error) {
	return &preadReader{fd: int(o.file.Fd()), page: o.page, buf: alignedBuffer(o.setup.MaxRange, o.page)}, nil
}

func (o *preadOpened) Close() error { return o.file.Close() }

type preadReader struct {
	fd   int
	page int
	buf  []byte
	counts
	_ cpu.CacheLinePad
}

func (r *preadReader) Read(rg Range) ([]byte, error) {
	if rg.N > len(r.buf) {
		r.buf = alignedBuffer(rg.N, r.page)
	}
	p := r.buf[:rg.N]
	if err := r.readFull(r.fd, p, rg.Off, rg.N); err != nil {
		return nil, err
	}
	return p, nil
}

func (r *preadReader) Counts() Counts { return r.counts.as("pread") }

// counts are those of a reader that makes read system calls of one kind.
type counts struct{ ok, calls, short, retried uint64 }

func (c *counts) as(kind string) Counts {
	return Counts{Calls: map[string]uint64{kind: c.ok}, ReadSyscalls: c.calls, Short: c.short, Retried: c.retried}
}

// readFull reads into p until at least want bytes are there. Short reads are continued and interrupted ones
// repeated, and both counted.
func (c *counts) readFull(fd int, p []byte, off int64, want int) error {
	for got := 0; ; {
		n, err := unix.Pread(fd, p[got:], off+int64(got))
		c.calls++
		switch {
		case err == nil && n > 0:
			c.ok++
			if got += n; got >= want {
				return nil
			}
			c.short++
		case err == nil:
			return fmt.Errorf("pread of %d bytes at %d: end of file after %d: %w", len(p), off, got, io.ErrUnexpectedEOF)
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			c.retried++
		default:
			return fmt.Errorf("pread of %d bytes at %d: %w", len(p)-got, off+int64(got), err)
		}
	}
}
