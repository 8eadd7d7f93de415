package readbench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/readbench/strategy"
)

// A fake is a strategy made of functions: a pread strategy in which a test breaks one thing.
type fake struct {
	open func(*fakeOpened) error
	read func(*fakeOpened, strategy.Range, []byte) ([]byte, error) // default: pread
	*fakeOptions
}

type fakeOptions struct {
	direct   bool // claims to be
	batch    func(o *fakeOpened, rs []strategy.Range, each func(int, []byte) error) error
	prefetch func(o *fakeOpened, rs []strategy.Range) error
	lie      uint64 // read system calls added to those that were made
	reader   error
}

func (fake) Name() string { return "fake" }

func (s fake) Open(f *strategy.File, setup strategy.Setup) (strategy.Opened, error) {
	fd, err := f.Open(0)
	if err != nil {
		return nil, err
	}
	if s.fakeOptions == nil {
		s.fakeOptions = &fakeOptions{}
	}
	o := &fakeOpened{fake: s, fd: fd, size: f.Size(), setup: setup}
	if s.open != nil {
		if err := s.open(o); err != nil {
			return nil, errors.Join(err, fd.Close())
		}
	}
	if s.direct {
		return &fakeDirect{o}, nil
	}
	return o, nil
}

type fakeOpened struct {
	fake
	fd    *os.File
	size  int64
	setup strategy.Setup
	cache []byte
}

type fakeDirect struct{ *fakeOpened }

func (*fakeDirect) Alignment() int { return 512 }

func (o *fakeOpened) Close() error { return o.fd.Close() }

func (o *fakeOpened) Reader(int) (strategy.Reader, error) {
	r := &fakeReader{o: o, buf: make([]byte, o.setup.MaxRange)}
	switch {
	case o.reader != nil:
		return nil, o.reader
	case o.batch != nil:
		return &fakeBatch{r}, nil
	case o.prefetch != nil:
		return &fakePrefetch{r}, nil
	}
	return r, nil
}

type fakeReader struct {
	o     *fakeOpened
	buf   []byte
	calls uint64
}

func (r *fakeReader) Read(rg strategy.Range) ([]byte, error) {
	if r.o.read != nil {
		return r.o.read(r.o, rg, r.buf)
	}
	r.calls++
	_, err := unix.Pread(int(r.o.fd.Fd()), r.buf[:rg.N], rg.Off)
	return r.buf[:rg.N], err
}

func (r *fakeReader) Counts() strategy.Counts {
	return strategy.Counts{Calls: map[string]uint64{"pread": r.calls}, ReadSyscalls: r.calls + r.calls*r.o.lie}
}

type fakeBatch struct{ *fakeReader }

func (r *fakeBatch) ReadBatch(rs []strategy.Range, each func(int, []byte) error) error {
	return r.o.batch(r.o, rs, each)
}

type fakePrefetch struct{ *fakeReader }

func (r *fakePrefetch) Prefetch(rs []strategy.Range) error { return r.o.prefetch(r.o, rs) }

// readWhole puts all of the file into the fake's own memory.
func readWhole(o *fakeOpened) (err error) {
	o.cache = make([]byte, o.size)
	_, err = o.fd.ReadAt(o.cache, 0)
	return err
}

func fromCache(o *fakeOpened, rg strategy.Range, _ []byte) ([]byte, error) {
	return o.cache[rg.Off : rg.Off+int64(rg.N)], nil
}

func batchOf(deliver func(rs []strategy.Range, p func(strategy.Range) []byte, each func(int, []byte) error) error) *fakeOptions {
	return &fakeOptions{batch: func(o *fakeOpened, rs []strategy.Range, each func(int, []byte) error) error {
		return deliver(rs, func(rg strategy.Range) []byte { return o.cache[rg.Off : rg.Off+int64(rg.N)] }, each)
	}}
}

// pilotOps is how many ops a case looks at before it measures.
const pilotOps = 3

// A strategy that does not do what its row says has its row failed, with the reason.
func TestLiars(t *testing.T) {
	boom := errors.New("boom")
	for _, tc := range []struct {
		name     string
		pageCase string
		s        fake
		want     string // in the error; "" for the honest
	}{
		{"the honest fake", "hot", fake{}, ""},
		{"the honest fake", "cold", fake{}, ""},
		{"buffered reads that claim to be direct", "hot", fake{fakeOptions: &fakeOptions{direct: true}}, "did not bypass the page cache"},
		{"buffered reads that claim to be direct", "cold", fake{fakeOptions: &fakeOptions{direct: true}}, "went through the page cache"},
		{"a cache of its own", "cold", fake{open: readWhole, read: fromCache}, "served from somewhere else"},
		{"reads of other places", "hot", fake{read: func(o *fakeOpened, rg strategy.Range, p []byte) ([]byte, error) {
			_, err := o.fd.ReadAt(p[:rg.N], (rg.Off+1<<20)%(o.size-int64(rg.N)))
			return p[:rg.N], err
		}}, "belongs to byte"},
		{"a page in the middle is left out", "hot", fake{read: func(o *fakeOpened, rg strategy.Range, p []byte) ([]byte, error) {
			_, err := o.fd.ReadAt(p[:rg.N], rg.Off)
			clear(p[os.Getpagesize():][:os.Getpagesize()])
			return p[:rg.N], err
		}}, "zeros"},
		{"fewer bytes than asked for", "hot", fake{read: func(o *fakeOpened, rg strategy.Range, p []byte) ([]byte, error) {
			n, err := o.fd.ReadAt(p[:rg.N-1], rg.Off)
			return p[:n], err
		}}, fmt.Sprintf("gave %d", 4*os.Getpagesize()-1)},
		{"an error", "hot", fake{read: func(*fakeOpened, strategy.Range, []byte) ([]byte, error) { return nil, boom }}, "boom"},
		{"more system calls than it says", "hot", fake{read: func(o *fakeOpened, rg strategy.Range, p []byte) ([]byte, error) {
			_, err := o.fd.ReadAt(p[:rg.N], rg.Off)
			return p[:rg.N], err
		}}, "reads by another way than it says"},
		{"fewer system calls than it says", "hot", fake{fakeOptions: &fakeOptions{lie: 1}}, "reads by another way than it says"},
		{"a hint that fails", "cold", fake{fakeOptions: &fakeOptions{prefetch: func(*fakeOpened, []strategy.Range) error {
			return fmt.Errorf("hint: %w", unix.EINVAL)
		}}}, "hint: invalid argument"},
		{"a hint that reads much more than the op", "cold", fake{fakeOptions: &fakeOptions{prefetch: func() func(o *fakeOpened, rs []strategy.Range) error {
			var ops atomic.Int64
			return func(o *fakeOpened, rs []strategy.Range) error {
				if ops.Add(1) <= pilotOps { // behaves while it is looked at
					return nil
				}
				_, err := io.Copy(io.Discard, io.NewSectionReader(o.fd, 0, o.size))
				return err
			}
		}()}}, "were not cold"},
		{"a batch that is not delivered", "hot", fake{open: readWhole, fakeOptions: batchOf(func(rs []strategy.Range, p func(strategy.Range) []byte, each func(int, []byte) error) error {
			for i, rg := range rs[:len(rs)-1] {
				if err := each(i, p(rg)); err != nil {
					return err
				}
			}
			return nil
		})}, "never delivered"},
		{"a batch that delivers twice", "hot", fake{open: readWhole, fakeOptions: batchOf(func(rs []strategy.Range, p func(strategy.Range) []byte, each func(int, []byte) error) error {
			return errors.Join(each(0, p(rs[0])), each(0, p(rs[0])))
		})}, "delivered twice"},
		{"a batch in another order than it says", "hot", fake{open: readWhole, fakeOptions: batchOf(func(rs []strategy.Range, p func(strategy.Range) []byte, each func(int, []byte) error) error {
			return each(0, p(rs[1]))
		})}, "belongs to byte"},
		{"a reader that cannot be made", "hot", fake{fakeOptions: &fakeOptions{reader: boom}}, "boom"},
	} {
		t.Run(tc.name+"/"+tc.pageCase, func(t *testing.T) {
			s := testSuite(t, fmt.Sprintf("READ_SIZE=%d", 4*os.Getpagesize()))
			if tc.s.fakeOptions != nil && tc.s.direct { // the one read that is to prove that it is does reach the device
				if err := evict(t.Context(), s.files, nil); err != nil {
					t.Fatal(err)
				}
			}
			_, err := measureRow(t, s, randomRow(s, tc.s, tc.pageCase, 2), 10)
			if tc.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantError(t, err, tc.want)
		})
	}
}

// Reads that claim to be direct and are served by the page cache when the row is opened reach no device: that skips the row, as
// a file system does that takes O_DIRECT and has no device.
func TestDirectReachesNoDevice(t *testing.T) {
	s := testSuite(t)
	if err := pagecache.Warm(t.Context(), s.files[0].Control, s.files.Size()); err != nil {
		t.Fatal(err)
	}
	_, err := s.open(randomRow(s, fake{fakeOptions: &fakeOptions{direct: true}}, "hot", 1))
	wantError(t, err, "reached no device")
	if !errors.Is(err, strategy.ErrUnsupported) {
		t.Errorf("it is no reason to skip: %v", err)
	}
}
