package readbench

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/internal/iobuf"
	"github.com/readbench/suite/internal/notice"
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
	o := &preadDirectOpened{file: fd, align: align, setup: s}
	err = verifyDirect(f.Path(), func() error {
		r, err := o.reader()
		if err != nil {
			return err
		}
		_, err = r.Read(Range{0, int(min(f.Size(), int64(align)))})
		return errors.Join(err, r.Close())
	})
	if err != nil {
		return nil, errors.Join(err, fd.Close())
	}
	return o, nil
}

type preadDirectOpened struct {
	file  *os.File
	align int
	setup Setup
}

func (o *preadDirectOpened) Alignment() int { return o.align }

func (o *preadDirectOpened) Reader(int) (Reader, error) {
	r, err := o.reader()
	if err != nil {
		return nil, err
	}
	if len(r.buf) >= worthHuge {
		if err := tellHugePages(r.hugePages); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	return r, nil
}

func (o *preadDirectOpened) reader() (*preadDirectReader, error) {
	r := &preadDirectReader{fd: int(o.file.Fd()), align: int64(o.align)}
	if err := r.grow(o.setup.MaxRange); err != nil {
		return nil, err
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

func (r *preadDirectReader) Read(rg Range) ([]byte, error) {
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

// worthHuge is how large a buffer is, in bytes, that is worth a huge page of 2 MiB: there may be many of them.
const worthHuge = 16 << 10

var toldHugePages sync.Once

// tellHugePages prints for people, once, if the buffers of direct reads are not in huge pages: that decides much of what these
// cost. look says how many of all bytes of a buffer are.
func tellHugePages(look func() (huge, all int64, err error)) (err error) {
	toldHugePages.Do(func() {
		var huge, all int64
		if huge, all, err = look(); err != nil {
			return
		}
		if huge < all {
			notice.Printf("direct reads: %d of a buffer's %d bytes are in huge pages, which costs much: %s", huge, all, iobuf.Setting())
		}
	})
	return err
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
