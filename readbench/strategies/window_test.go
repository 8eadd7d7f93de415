package strategies

import (
	"math/rand/v2"
	"testing"

	"github.com/readbench/suite/readbench/strategy"
)

// What a window hints as a scan goes on, at both ends of the file and in between.
func TestWindowAdvance(t *testing.T) {
	const page = 4096
	type hint struct{ from, to int64 }
	type read struct {
		off int64
		n   int
	}
	for _, tc := range []struct {
		name      string
		size, end int64
		reads     []read
		want      []hint
	}{
		{"the first read hints itself and the window", 2 * page, 100 * page,
			[]read{{0, page}}, []hint{{0, 3 * page}}},
		{"then as much as was read", 2 * page, 100 * page,
			[]read{{0, page}, {page, page}, {2 * page, 2 * page}}, []hint{{0, 3 * page}, {3 * page, 4 * page}, {4 * page, 6 * page}}},
		{"whole pages, each once, when reads are smaller", page, 100 * page,
			[]read{{0, 1000}, {1000, 1000}, {2000, 3000}}, []hint{{0, 2 * page}, {}, {2 * page, 3 * page}}},
		{"nothing behind the end", 4 * page, 6 * page,
			[]read{{0, page}, {page, page}, {2 * page, page}, {3 * page, 3 * page}}, []hint{{0, 5 * page}, {5 * page, 6 * page}, {}, {}}},
		{"the end is in a page", 4 * page, 2*page + 100,
			[]read{{0, page}, {page, page}, {2 * page, 100}}, []hint{{0, 2*page + 100}, {}, {}}},
		{"a window larger than the file", 1000 * page, 3 * page,
			[]read{{0, page}, {page, page}}, []hint{{0, 3 * page}, {}}},
		{"a scan that starts over hints again", page, 4 * page,
			[]read{{2 * page, 2 * page}, {0, 2 * page}}, []hint{{2 * page, 4 * page}, {0, 3 * page}}},
		{"a read elsewhere starts there, at the start of its page", page, 100 * page,
			[]read{{0, page}, {50*page + 5, 10}}, []hint{{0, 2 * page}, {50 * page, 52 * page}}},
		{"a read behind the end is not hinted", page, 4 * page,
			[]read{{8 * page, page}}, []hint{{}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := window{size: tc.size, page: page, end: tc.end}
			w.Forget()
			for i, r := range tc.reads {
				from, to := w.advance(strategy.Range{Off: r.off, N: r.n})
				if got := (hint{from, to}); got != tc.want[i] && (from != to || tc.want[i] != hint{}) {
					t.Errorf("read %d, %v: hints %v, want %v", i, r, got, tc.want[i])
				}
			}
		})
	}
}

// After Forget the next read hints itself and the window, though it goes on where the last one ended.
func TestWindowForgets(t *testing.T) {
	w := window{size: 8192, page: 4096, end: 1 << 20}
	w.Forget()
	w.advance(strategy.Range{Off: 0, N: 4096})
	w.Forget()
	if from, to := w.advance(strategy.Range{Off: 4096, N: 4096}); from != 4096 || to != 4*4096 {
		t.Errorf("hints from %d to %d", from, to)
	}
}

// Whatever the sizes of file, window and reads: a scan hints every page that it reads exactly once, before it reads it,
// and nothing outside its stripe.
func TestWindowHintsEachPageOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		page := int64(4096) << rng.IntN(3)
		size := 1 + rng.Int64N(64*page)
		readSize := 1 + rng.IntN(int(8*page))
		f := strategy.NewFile("", int64(readSize)+rng.Int64N(256*page), nil)
		threads := 1 + rng.IntN(int(min(3, f.Size()/int64(readSize))))
		setup := strategy.Setup{Window: size, Threads: threads, Order: strategy.OrderSequential, MaxRange: readSize}
		for worker := range threads {
			from, to := setup.Stripe(f, worker)
			w := newWindow(f, setup, worker)
			w.page = page                                 // whatever it is here
			hinted := make([]int, (f.Size()+page-1)/page) // times that each page was
			for off := from; off < to; off += int64(readSize) {
				lo, hi := w.advance(strategy.Range{Off: off, N: readSize})
				if lo < hi && (lo < from/page*page || hi > to) {
					t.Fatalf("hint from %d to %d, the stripe is from %d to %d", lo, hi, from, to)
				}
				for p := lo / page; lo < hi && p*page < hi; p++ {
					hinted[p]++
				}
				for p := off / page; p*page < off+int64(readSize); p++ {
					if hinted[p] != 1 {
						t.Fatalf("page %d was hinted %d times when it was read (%d-byte pages, %d-byte reads, window %d, file %d, %d threads)",
							p, hinted[p], page, readSize, size, f.Size(), threads)
					}
				}
			}
		}
	}
}
