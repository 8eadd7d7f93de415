package readbench

import (
	"fmt"
	"os"
	"testing"

	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// What each strategy makes the kernel do, in counts: the relations that give the names of the rows their meaning.
func TestRowsCount(t *testing.T) {
	const (
		read  = 16 << 10
		reads = 16
		ops   = 20
	)
	page := float64(os.Getpagesize())
	touched := 1 + (read-1)/page       // pages that a read touches on average, if it starts anywhere in one
	type span struct{ lo, hi float64 } // per read
	none := span{0, 0}
	own := 0.5                                                           // what the process may need for itself: a page of its program, a stack
	delivered := span{touched * page * 0.9, touched*page*1.1 + own*page} // the pages touched, and now and then one of metadata
	faults := span{touched * 0.7, touched*1.1 + own}                     // a fault is minor if its page arrives before the thread waits for it
	for _, tc := range []struct {
		s                            strategy.Strategy
		pageCase                     string
		dev, majflt, madvise, preads span
	}{
		{strategies.Mmap(), "hot", span{0, own * page}, span{0, own}, none, none},
		{strategies.MmapRandom(), "hot", span{0, own * page}, span{0, own}, none, none},
		{strategies.MmapPrefetch(), "hot", span{0, own * page}, span{0, own}, span{1, 1}, none},
		{strategies.MmapRandomPrefetch(), "hot", span{0, own * page}, span{0, own}, span{1, 1}, none},
		{strategies.Pread(), "hot", span{0, own * page}, span{0, own}, none, span{1, 1}},
		{strategies.ReadAt(), "hot", span{0, own * page}, span{0, own}, none, span{1, 1}},
		{strategies.PreadDirect(), "hot", span{read, read + own*page}, span{0, own}, none, span{1, 1}},

		{strategies.Mmap(), "cold", span{read, testSize}, span{0.1, touched + own}, none, none}, // with whatever it reads ahead
		{strategies.MmapRandom(), "cold", delivered, faults, none, none},
		{strategies.MmapPrefetch(), "cold", delivered, span{0, 1.5}, span{1, 1}, none},
		{strategies.MmapRandomPrefetch(), "cold", delivered, span{0, 1.5}, span{1, 1}, none},
		{strategies.Pread(), "cold", span{touched * page * 0.9, testSize}, span{0, own}, none, span{1, 1}},
		{strategies.ReadAt(), "cold", span{touched * page * 0.9, testSize}, span{0, own}, none, span{1, 1}},
		{strategies.PreadDirect(), "cold", span{read, read + own*page}, span{0, own}, none, span{1, 1}},
	} {
		for _, threads := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/%s/T%d", tc.s.Name(), tc.pageCase, threads), func(t *testing.T) {
				s := testSuite(t, "WARMUP=5ms")
				res, err := measureRow(t, s, randomRow(s, tc.s, tc.pageCase, threads), ops)
				if err != nil {
					t.Fatal(err)
				}
				if res.Ops < ops || res.Ops >= ops+threads { // one for each thread that got none of b.N
					t.Fatalf("%d ops, want %d", res.Ops, ops)
				}
				c := res.Counts.Calls
				for _, got := range []struct {
					what string
					n    uint64
					want span
				}{
					{"device bytes", res.Counters.DeviceBytes, tc.dev},
					{"major faults", res.Counters.MajorFaults, tc.majflt},
					{"madvise calls", c["madvise"], tc.madvise},
					{"pread calls", c["pread"] + c["readat"], tc.preads},
					{"read system calls", res.Counts.ReadSyscalls, tc.preads},
				} {
					if perRead := float64(got.n) / float64(res.Ops*reads); perRead < got.want.lo || perRead > got.want.hi {
						t.Errorf("%.2f %s a read, want %v", perRead, got.what, got.want)
					}
				}
			})
		}
	}
}

// A row that reads nothing makes nothing happen, and its ops do not allocate.
func TestNullRow(t *testing.T) {
	for _, pageCase := range []string{"hot", "cold"} {
		s := testSuite(t)
		row := randomRow(s, strategies.Null(), pageCase, 1)
		row.Effect = EffectNone
		row.Op = func(w *Worker) (func() error, error) {
			draw := w.ReadOp()
			looked := false
			op := func() (err error) {
				if looked {
					return draw()
				}
				looked = true
				if n := testing.AllocsPerRun(100, func() { err = draw() }); n != 0 {
					t.Errorf("%s: an op allocates %v times", pageCase, n)
				}
				return err
			}
			return op, nil
		}
		res, err := measureRow(t, s, row, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if res.Counters.DeviceBytes != 0 || res.Counters.MajorFaults != 0 {
			t.Errorf("%s: %+v", pageCase, res.Counters)
		}
	}
}
