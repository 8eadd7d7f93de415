package prefetch

import (
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/readbench/strategy"
)

// fake is a kernel whose calls cost what it says, and fail as it says. Its file is all zeros.
type fake struct {
	clock    atomic.Int64             // ns; it goes on only by what calls cost
	cost     map[string]time.Duration // of a call, or of a range of process_madvise
	fails    map[string]error
	resident func(page int64) bool
	hinted   []strategy.Range // in order, by whatever call
	calls    map[string]int
	partial  int // bytes that process_madvise advises at the most in one call, 0 for all
	data     []byte
	open     int // descriptors
	file     any // its identity
}

func newFake(pages int) *fake {
	return &fake{
		data: make([]byte, pages*page), cost: map[string]time.Duration{
			"cachestat": 300, "mincore": 1000, "fadvise": 400, "process_madvise": 450, "madvise": 650, "direct": 80 * time.Microsecond,
		},
		fails: map[string]error{}, calls: map[string]int{}, resident: func(int64) bool { return true },
	}
}

func (f *fake) call(name string, ranges int) error {
	f.calls[name]++
	f.clock.Add(int64(f.cost[name]) * int64(ranges))
	return f.fails[name]
}

func (f *fake) offset(p *byte) int64 {
	return int64(uintptr(unsafe.Pointer(p)) - uintptr(unsafe.Pointer(unsafe.SliceData(f.data))))
}

func (f *fake) kernel() *kernel {
	return &kernel{
		page: page,
		cachestat: func(_ int, off, n int64) (pages int64, err error) {
			for p := off / page; p*page < off+n; p++ {
				if f.resident(p) {
					pages++
				}
			}
			return pages, f.call("cachestat", 1)
		},
		mincore: func(p, vec []byte) error {
			for i := range (len(p) + page - 1) / page {
				vec[i] = 0xfe // the other bits mean nothing
				if f.resident(f.offset(&p[0])/page + int64(i)) {
					vec[i] |= 1
				}
			}
			return f.call("mincore", 1)
		},
		fadvise: func(_ int, off, n int64) error {
			f.hinted = append(f.hinted, strategy.Range{Off: off, N: int(n)})
			return f.call("fadvise", 1)
		},
		madvise: func(p []byte) error {
			f.hinted = append(f.hinted, strategy.Range{Off: f.offset(&p[0]), N: len(p)})
			return f.call("madvise", 1)
		},
		processMadvise: func(_ int, iov []unix.Iovec) (n int, err error) {
			for _, v := range iov {
				length := int(v.Len)
				if f.partial > 0 {
					length = min(length, f.partial-n)
				}
				if length > 0 {
					f.hinted = append(f.hinted, strategy.Range{Off: f.offset(v.Base), N: length})
				}
				n += length
			}
			return n, f.call("process_madvise", len(iov))
		},
		pidfdOpen: func() (int, error) {
			if err := f.call("pidfd_open", 0); err != nil {
				return -1, err
			}
			f.open++
			return 99, nil
		},
		closeFD:  func(int) error { f.open--; return f.call("close", 0) },
		identity: func(int) any { return f.file },
		visible:  func(int) error { return f.fails["visible"] },
		read:     func(int, []byte, int64) error { return f.call("read", 0) },
		direct: func(int) (func(int64) error, func() error, error) {
			if err := f.fails["open direct"]; err != nil {
				return nil, nil, err
			}
			f.open++
			return func(int64) error { return f.call("direct", 1) }, func() error { f.open--; return nil }, nil
		},
		now: func() time.Time { return time.Unix(0, f.clock.Load()) },
	}
}

func (f *fake) config(p Policy) Config {
	return Config{Policy: p, Data: f.data, FD: 3, Name: "data.bin", PageSize: page, Workers: 1, Faults: 5}
}

func (f *fake) advisor(t *testing.T, c Config) *Advisor {
	t.Helper()
	a, err := newAdvisor(c, f.kernel())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil || f.open != 0 {
			t.Errorf("closing: %v; %d descriptors are left open", err, f.open)
		}
	})
	f.hinted, f.calls = nil, map[string]int{}
	return a
}
