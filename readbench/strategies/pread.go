package strategies

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/fadvise"
	"github.com/readbench/suite/readbench/strategy"
)

// Pread reads with pread(2) through the page cache into a buffer of the worker's own. All workers share one descriptor.
func Pread() strategy.Strategy { return pread{name: "pread"} }

// PreadSequential is Pread on a descriptor advised POSIX_FADV_SEQUENTIAL: Linux doubles its read-ahead.
func PreadSequential() strategy.Strategy {
	return pread{name: "pread-sequential", advice: fadvise.Sequential}
}

// PreadRandom is Pread on a descriptor advised POSIX_FADV_RANDOM: Linux does not read ahead.
func PreadRandom() strategy.Strategy { return pread{name: "pread-random", advice: fadvise.Random} }

// PreadWindow is PreadRandom that hints with POSIX_FADV_WILLNEED what lies up to READBENCH_WINDOW bytes before the reads
// of a scan, each page once: read-ahead by hand.
func PreadWindow() strategy.Strategy {
	return pread{name: "pread-window", advice: fadvise.Random, window: true}
}

type pread struct {
	name   string
	advice fadvise.Advice
	window bool
}

func (s pread) Name() string { return s.name }

func (s pread) Open(f *strategy.File, setup strategy.Setup) (strategy.Opened, error) {
	fd, err := f.Open(0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	if s.advice != fadvise.Normal {
		if err := fadvise.Advise(fd, s.advice); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", s.name, err), fd.Close())
		}
	}
	return &preadOpened{s, fd, f, setup}, nil
}

type preadOpened struct {
	pread
	fd    *os.File
	file  *strategy.File
	setup strategy.Setup
}

func (o *preadOpened) Reader(worker int) (strategy.Reader, error) {
	page := o.file.PageSize()
	r := &preadReader{fd: int(o.fd.Fd()), page: page, buf: alignedBuffer(o.setup.MaxRange, page)}
	if o.window {
		return &preadWindowReader{preadReader: r, window: newWindow(o.file, o.setup, worker)}, nil
	}
	return r, nil
}

func (o *preadOpened) Close() error { return o.fd.Close() }

type preadReader struct {
	fd   int
	page int
	buf  []byte
	counts
	_ cpu.CacheLinePad
}

func (r *preadReader) Read(rg strategy.Range) ([]byte, error) {
	if rg.N > len(r.buf) {
		r.buf = alignedBuffer(rg.N, r.page)
	}
	p := r.buf[:rg.N]
	if err := r.readFull(r.fd, p, rg.Off, rg.N); err != nil {
		return nil, err
	}
	return p, nil
}

func (r *preadReader) Counts() strategy.Counts { return r.counts.as("pread") }

type preadWindowReader struct {
	*preadReader
	window
	hints uint64
}

func (r *preadWindowReader) Read(rg strategy.Range) ([]byte, error) {
	for from, to := r.advance(rg); from < to; from += hintPiece {
		if err := fadvise.WillNeed(r.fd, from, min(hintPiece, to-from)); err != nil {
			return nil, err
		}
		r.hints++
	}
	return r.preadReader.Read(rg)
}

func (r *preadWindowReader) Counts() strategy.Counts {
	c := r.preadReader.Counts()
	c.Calls["fadvise"] = r.hints
	return c
}

// counts are those of a reader that makes read system calls of one kind.
type counts struct{ ok, calls, short, retried uint64 }

func (c *counts) as(kind string) strategy.Counts {
	return strategy.Counts{Calls: map[string]uint64{kind: c.ok}, ReadSyscalls: c.calls, Short: c.short, Retried: c.retried}
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
