package readbench

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/cpu"
)

// PreadDirect reads with pread(2) past the page cache (O_DIRECT; F_NOCACHE on darwin). A range that is not aligned
// is read with what is around it. All workers share one descriptor.
func PreadDirect() Strategy { return preadDirect{} }

type preadDirect struct{}

func (preadDirect) Name() string { return "pread-direct" }

// Open does not believe the flag: it asks for the alignment, looks whether the flag was kept, and whether one
// read reaches a device.
func (preadDirect) Open(f *File, s Setup) (_ Opened, err error) {
	fd, align, err := openDirect(f)
	if err != nil {
		return nil, err
	}
	o := &preadDirectOpened{file: fd, align: align, page: f.PageSize(), setup: s}
	err = verifyDirect(f.Path(), func() error {
		_, err := o.reader().Read(Range{0, int(min(f.Size(), int64(align)))})
		return err
	})
	if err != nil {
		return nil, errors.Join(err, fd.Close())
	}
	return o, nil
}

type preadDirectOpened struct {
	file        *os.File
	align, page int
	setup       Setup
}

func (o *preadDirectOpened) Alignment() int { return o.align }

func (o *preadDirectOpened) Reader(int) (Reader, error) { return o.reader(), nil }

func (o *preadDirectOpened) reader() *preadDirectReader {
	r := &preadDirectReader{fd: int(o.file.Fd()), align: int64(o.align), page: o.page}
	r.grow(o.setup.MaxRange)
	return r
}

func (o *preadDirectOpened) Close() error { return o.file.Close() }

type preadDirectReader struct {
	fd    int
	align int64
	page  int
	buf   []byte
	counts
	_ cpu.CacheLinePad
}

// grow makes the buffer large enough for any range of n bytes with what is around it.
func (r *preadDirectReader) grow(n int) {
	r.buf = alignedBuffer(n+2*int(r.align), max(r.page, int(r.align)))
}

func (r *preadDirectReader) Read(rg Range) ([]byte, error) {
	start := rg.Off &^ (r.align - 1)
	end := (rg.Off + int64(rg.N) + r.align - 1) &^ (r.align - 1)
	if end-start > int64(len(r.buf)) {
		r.grow(rg.N)
	}
	skip := int(rg.Off - start)
	// At the end of a file whose size is not aligned, fewer bytes come than the aligned range has: those asked
	// for are enough.
	if err := r.readFull(r.fd, r.buf[:end-start], start, skip+rg.N); err != nil {
		return nil, err
	}
	return r.buf[skip : skip+rg.N], nil
}

func (r *preadDirectReader) Counts() Counts { return r.counts.as("pread") }

// checkDirectSize refuses a read size that O_DIRECT cannot read alone.
func checkDirectSize(n Size, f *File, align int) error {
	if unit := Size(align); n%unit != 0 {
		return fmt.Errorf("%sREAD_SIZE=%q: it is no multiple of %d, the alignment of direct reads of %s; %s would be, or leave the direct benchmarks out with -bench",
			EnvPrefix, n, align, f.Path(), (n+unit-1)/unit*unit)
	}
	return nil
}
