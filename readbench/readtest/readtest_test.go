package readtest

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/readbench/suite/readbench"
)

// liar is the pread strategy with one thing broken.
type liar struct {
	readbench.Strategy
	opened func(readbench.Opened, *readbench.File) (readbench.Opened, error)
	reader func(readbench.Reader) readbench.Reader
}

func (l liar) Open(f *readbench.File, s readbench.Setup) (readbench.Opened, error) {
	o, err := l.Strategy.Open(f, s)
	if err != nil {
		return nil, err
	}
	if l.opened != nil {
		return l.opened(o, f)
	}
	return lyingOpened{o, l.reader}, nil
}

type lyingOpened struct {
	readbench.Opened
	reader func(readbench.Reader) readbench.Reader
}

func (o lyingOpened) Reader(worker int) (readbench.Reader, error) {
	r, err := o.Opened.Reader(worker)
	if err != nil || o.reader == nil {
		return r, err
	}
	return o.reader(r), nil
}

// counting is what the liars that read right still count.
type counting struct {
	readbench.Reader
	readbench.Counter
}

func keep(r readbench.Reader) counting { return counting{r, r.(readbench.Counter)} }

type shiftsLastPage struct{ counting }

func (r shiftsLastPage) Read(rg readbench.Range) ([]byte, error) {
	if rg.Off+int64(rg.N) == fileSize && rg.Off > 0 {
		rg.Off--
	}
	return r.counting.Read(rg)
}

type allocating struct{ counting }

func (r allocating) Read(rg readbench.Range) ([]byte, error) {
	p, err := r.counting.Read(rg)
	return append([]byte(nil), p...), err
}

type uncounted struct{ readbench.Reader }

type overcounting struct{ counting }

func (r overcounting) Counts() readbench.Counts {
	c := r.counting.Counts()
	c.ReadSyscalls *= 2
	return c
}

type swallowing struct {
	counting
	last *[]byte
}

func (r swallowing) Read(rg readbench.Range) ([]byte, error) {
	p, err := r.counting.Read(rg)
	if err != nil {
		return *r.last, nil
	}
	*r.last = append([]byte(nil), p...)
	return p, nil
}

type twice struct{ counting }

func (r twice) ReadBatch(rs []readbench.Range, each func(int, []byte) error) error {
	for i := range rs {
		p, err := r.Read(rs[i])
		if err := errors.Join(err, each(i, p), each(i, p)); err != nil {
			return err
		}
	}
	return nil
}

type failingHint struct{ counting }

func (failingHint) Prefetch([]readbench.Range) error { return errors.New("hint: invalid argument") }

type uselessHint struct{ counting }

func (uselessHint) Prefetch([]readbench.Range) error { return nil }

func (uselessHint) Counts() readbench.Counts { return readbench.Counts{} }

// stubborn keeps its pages when it is told to drop them.
type stubborn struct{ readbench.Opened }

func (s stubborn) Populate(off, n int64) error {
	return s.Opened.(readbench.Mapper).Populate(off, n)
}
func (stubborn) Drop(int64, int64) error { return nil }

type notDirect struct{ lyingOpened }

func (notDirect) Alignment() int { return 512 }

type leaky struct{ readbench.Opened }

// Every rule catches the strategy that breaks it.
func TestLiarsAreCaught(t *testing.T) {
	var leaked []*os.File
	for _, tc := range []struct {
		rule string
		liar liar
	}{
		{"any range inside the file can be read", liar{reader: func(r readbench.Reader) readbench.Reader { return shiftsLastPage{keep(r)} }}},
		{"ranges come in any order and more than once", liar{reader: func(r readbench.Reader) readbench.Reader { return twice{keep(r)} }}},
		{"workers read at the same time", liar{opened: func(o readbench.Opened, _ *readbench.File) (readbench.Opened, error) {
			return single{o, make(chan struct{}, 1)}, nil
		}}},
		{"nothing allocates once it is warm", liar{reader: func(r readbench.Reader) readbench.Reader { return allocating{keep(r)} }}},
		{"counts agree with what was asked for and with the kernel", liar{reader: func(r readbench.Reader) readbench.Reader { return uncounted{r} }}},
		{"counts agree with what was asked for and with the kernel", liar{reader: func(r readbench.Reader) readbench.Reader { return overcounting{keep(r)} }}},
		{"counts agree with what was asked for and with the kernel", liar{Strategy: readbench.Mmap(), reader: func(r readbench.Reader) readbench.Reader { return uselessHint{keep(r)} }}},
		{"a hint that fails, or a file that ends early, is an error", liar{reader: func(r readbench.Reader) readbench.Reader { return swallowing{keep(r), new([]byte)} }}},
		{"any range inside the file can be read", liar{reader: func(r readbench.Reader) readbench.Reader { return failingHint{keep(r)} }}},
		{"pages can be populated, dropped and evicted", liar{Strategy: readbench.Mmap(), opened: func(o readbench.Opened, _ *readbench.File) (readbench.Opened, error) {
			return stubborn{o}, nil
		}}},
		{"direct reads leave nothing in the page cache", liar{opened: func(o readbench.Opened, _ *readbench.File) (readbench.Opened, error) {
			return notDirect{lyingOpened{Opened: o}}, nil
		}}},
		{"it can be opened more than once, and closing leaves nothing", liar{opened: func(o readbench.Opened, f *readbench.File) (readbench.Opened, error) {
			fd, err := f.Open(0)
			leaked = append(leaked, fd)
			return leaky{o}, err
		}}},
	} {
		if tc.liar.Strategy == nil {
			tc.liar.Strategy = readbench.Pread()
		}
		t.Run(fmt.Sprintf("%s/%T", tc.rule, tc.liar.Strategy), func(t *testing.T) {
			for _, r := range rules {
				if r.name != tc.rule {
					continue
				}
				switch err := r.check(newEnv(t, tc.liar)); {
				case errors.Is(err, readbench.ErrUnsupported) && runtime.GOOS != "linux":
					t.Skip(err)
				case err == nil:
					t.Error("not caught")
				default:
					t.Log(err)
				}
				return
			}
			t.Error("there is no such rule")
		})
	}
	for _, fd := range leaked {
		if err := fd.Close(); err != nil {
			t.Error(err)
		}
	}
}

// single has one reader at a time.
type single struct {
	readbench.Opened
	turn chan struct{}
}

func (s single) Reader(worker int) (readbench.Reader, error) {
	select {
	case s.turn <- struct{}{}:
		return s.Opened.Reader(worker)
	default:
		return nil, errors.New("another worker is reading")
	}
}

// An honest strategy passes; so do its wrappers, as long as they break nothing.
func TestHonestPass(t *testing.T) {
	Test(t, liar{Strategy: readbench.Pread()})
}

// A strategy that cannot run here is skipped, not passed.
func TestUnsupportedIsSkipped(t *testing.T) {
	s := liar{Strategy: readbench.Pread(), opened: func(o readbench.Opened, _ *readbench.File) (readbench.Opened, error) {
		return nil, errors.Join(readbench.Unsupported("no ring here"), o.Close())
	}}
	for _, r := range rules {
		if err := r.check(newEnv(t, s)); !errors.Is(err, readbench.ErrUnsupported) {
			t.Errorf("%s: %v", r.name, err)
		}
	}
}
