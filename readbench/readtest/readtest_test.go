package readtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/testfile"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// liar is the pread strategy with one thing broken.
type liar struct {
	strategy.Strategy
	opened func(strategy.Opened, *strategy.File) (strategy.Opened, error)
	reader func(strategy.Reader) strategy.Reader
}

func (l liar) Open(f *strategy.File, s strategy.Setup) (strategy.Opened, error) {
	o, err := l.Strategy.Open(f, s)
	if err != nil {
		return nil, err
	}
	if l.opened != nil {
		return l.opened(o, f)
	}
	lying := lyingOpened{o, l.reader}
	if m, ok := o.(strategy.Mapper); ok {
		return lyingMapper{lying, m}, nil
	}
	return lying, nil
}

type lyingOpened struct {
	strategy.Opened
	reader func(strategy.Reader) strategy.Reader
}

type lyingMapper struct {
	lyingOpened
	strategy.Mapper
}

func (o lyingOpened) Reader(worker int) (strategy.Reader, error) {
	r, err := o.Opened.Reader(worker)
	if err != nil || o.reader == nil {
		return r, err
	}
	return o.reader(r), nil
}

// counting is what the liars that read right still count.
type counting struct {
	strategy.Reader
	strategy.Counter
}

func keep(r strategy.Reader) counting { return counting{r, r.(strategy.Counter)} }

type shiftsLastPage struct{ counting }

func (r shiftsLastPage) Read(rg strategy.Range) ([]byte, error) {
	if rg.Off+int64(rg.N) == fileSize && rg.Off > 0 {
		rg.Off--
	}
	return r.counting.Read(rg)
}

type allocating struct{ counting }

func (r allocating) Read(rg strategy.Range) ([]byte, error) {
	p, err := r.counting.Read(rg)
	return append([]byte(nil), p...), err
}

type uncounted struct{ strategy.Reader }

type overcounting struct{ counting }

func (r overcounting) Counts() strategy.Counts {
	c := r.counting.Counts()
	c.ReadSyscalls *= 2
	return c
}

type swallowing struct {
	counting
	last *[]byte
}

func (r swallowing) Read(rg strategy.Range) ([]byte, error) {
	p, err := r.counting.Read(rg)
	if err != nil {
		return *r.last, nil
	}
	*r.last = append([]byte(nil), p...)
	return p, nil
}

type undercounting struct{ counting }

func (r undercounting) Counts() strategy.Counts {
	c := r.counting.Counts()
	c.ReadSyscalls = 0
	return c
}

type short struct{ counting }

func (r short) Read(rg strategy.Range) ([]byte, error) {
	p, err := r.counting.Read(rg)
	return p[:max(0, len(p)-1)], err
}

// forgetsLast does not deliver the last range of a batch.
type forgetsLast struct{ counting }

func (r forgetsLast) ReadBatch(rs []strategy.Range, each func(int, []byte) error) error {
	for i, rg := range rs[:max(0, len(rs)-1)] {
		p, err := r.Read(rg)
		if err := errors.Join(err, each(i, p)); err != nil {
			return err
		}
	}
	return nil
}

type twice struct{ counting }

func (r twice) ReadBatch(rs []strategy.Range, each func(int, []byte) error) error {
	for i := range rs {
		p, err := r.Read(rs[i])
		if err := errors.Join(err, each(i, p), each(i, p)); err != nil {
			return err
		}
	}
	return nil
}

type failingHint struct{ counting }

func (failingHint) Prefetch([]strategy.Range) error { return errors.New("hint: invalid argument") }

type uselessHint struct{ counting }

func (uselessHint) Prefetch([]strategy.Range) error { return nil }

func (uselessHint) Counts() strategy.Counts { return strategy.Counts{} }

// stubborn keeps its pages when it is told to drop them.
type stubborn struct{ strategy.Opened }

func (s stubborn) Populate(off, n int64) error {
	return s.Opened.(strategy.Mapper).Populate(off, n)
}
func (stubborn) Drop(int64, int64) error { return nil }

// unpopulated enters no pages when it is told to, and says what error says.
type unpopulated struct {
	strategy.Opened
	error error
}

func (s unpopulated) Populate(int64, int64) error { return s.error }
func (s unpopulated) Drop(off, n int64) error     { return s.Opened.(strategy.Mapper).Drop(off, n) }

type aligned struct {
	lyingOpened
	to int
}

func (a aligned) Alignment() int { return a.to }

type stuck struct{ strategy.Opened }

func (s stuck) Close() error {
	return errors.Join(s.Opened.Close(), errors.New("close: bad descriptor"))
}

// single has one reader at a time.
type single struct {
	strategy.Opened
	turn chan struct{}
}

func (s single) Reader(worker int) (strategy.Reader, error) {
	select {
	case s.turn <- struct{}{}:
		return s.Opened.Reader(worker)
	default:
		return nil, errors.New("another worker is reading")
	}
}

// An honest strategy passes; so do its wrappers, as long as they break nothing.
func TestHonestPass(t *testing.T) {
	Test(t, liar{Strategy: strategies.Pread()})
}

// A reader need not count: what needs counts is skipped, and says what is lost. All other rules hold.
func TestCounterIsOptional(t *testing.T) {
	s := reads(strategies.Pread(), func(r counting) strategy.Reader { return uncounted{r.Reader} })
	err := ruleOf(t, "counts agree with what was asked for and with the kernel")(newEnv(t, s))
	if !errors.Is(err, errNotApplicable) || !strings.Contains(err.Error(), "no Counter") || !strings.Contains(err.Error(), "KIND/op") {
		t.Errorf("without a Counter: %v", err)
	}
	Test(t, s)
}

// Where the kernel does not tell what it must, nothing is said about the strategy, honest or not.
func TestSilentKernelIsSkipped(t *testing.T) {
	silent := t.TempDir()
	self := filepath.Join(silent, strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(self, 0o755); err != nil {
		t.Fatal(err)
	}
	const io = "rchar: 1\nwchar: 1\nsyscr: 1\nsyscw: 1\nread_bytes: 1\nwrite_bytes: 1\ncancelled_write_bytes: 1\n"
	if err := os.WriteFile(filepath.Join(self, "io"), []byte(io), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ what, proc, rule, want string }{
		{"no counters", t.TempDir(), "what was evicted is read from the device again", "counting what the device delivers"},
		{"no counters", t.TempDir(), "counts agree with what was asked for and with the kernel", "counting this process's system calls"},
		{"a file system that does not count", silent, "what was evicted is read from the device again", fmt.Sprintf("of %d bytes", os.Getpagesize())},
	} {
		for _, s := range []strategy.Strategy{strategies.Pread(), liar{Strategy: strategies.Pread(), opened: openWhole}} {
			e := newEnv(t, s)
			testfile.RequireDisk(t, filepath.Dir(e.file.Path()))
			e.kernel.Proc = tc.proc
			err := ruleOf(t, tc.rule)(e)
			if errors.Is(err, errNotApplicable) { // the liar is no Counter
				continue
			}
			if !errors.Is(err, strategy.ErrUnsupported) || runtime.GOOS == "linux" && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %s: %v, want %q", tc.what, tc.rule, err, tc.want)
			}
		}
	}
}

// A strategy that cannot run here is skipped, not passed.
func TestUnsupportedIsSkipped(t *testing.T) {
	s := liar{Strategy: strategies.Pread(), opened: func(o strategy.Opened, _ *strategy.File) (strategy.Opened, error) {
		return nil, errors.Join(strategy.Unsupported("no ring here"), o.Close())
	}}
	for _, r := range rules {
		if err := r.check(newEnv(t, s)); !errors.Is(err, strategy.ErrUnsupported) {
			t.Errorf("%s: %v", r.name, err)
		}
	}
}
