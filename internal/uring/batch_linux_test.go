package uring

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestBatchesAgreeWithPread(t *testing.T) {
	onAll(t, func(t *testing.T, o Options) {
		r := openTest(t, o)
		rng := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{0, 1, o.Depth, 10 * o.Depth, o.Depth - 1, o.Depth + 1, 3} {
			before := r.Counts()
			doAndCheck(t, r, randomReads(rng, n, o.MaxRange))
			c := r.Counts()
			if s, d := c.Submissions-before.Submissions, c.Completions-before.Completions; s != d || s < uint64(n) {
				t.Errorf("%d reads: %d submissions, %d completions", n, s, d)
			}
		}
	})
}

func TestABatchThatFitsIsOneEnter(t *testing.T) {
	onAll(t, func(t *testing.T, o Options) {
		r := openTest(t, o)
		reads := randomReads(rand.New(rand.NewPCG(3, 4)), o.Depth, o.MaxRange)
		const batches = 50
		for range batches {
			doAndCheck(t, r, reads)
		}
		// A signal (the garbage collector's, the scheduler's) may end a wait early: that is counted, too.
		if c := r.Counts(); c.Enters != batches+c.Retried || c.Submissions != uint64(batches*o.Depth) {
			t.Errorf("%d batches of %d reads: %+v, want one enter a batch, and one for each retry", batches, o.Depth, c)
		}
		before := r.Counts().Enters
		doAndCheck(t, r, nil)
		if n := r.Counts().Enters - before; n != 0 {
			t.Errorf("an empty batch took %d enters", n)
		}
	})
}

func TestBatchesThatDoNotFitGoWithoutDraining(t *testing.T) {
	onEngines(t, func(t *testing.T, o Options) {
		r := openTest(t, o)
		f := inject(r, &faults{atMost: 1})
		n := 10 * o.Depth
		doAndCheck(t, r, randomReads(rand.New(rand.NewPCG(5, 6)), n, o.MaxRange))
		if f.most != o.Depth {
			t.Errorf("%d in flight at most, want the depth, %d", f.most, o.Depth)
		}
		// With one completion at a time, each is followed by one more read as long as there are any.
		for i, flying := range f.depths[:n-o.Depth] {
			if flying != o.Depth {
				t.Fatalf("enter %d: %d in flight while reads are left, want %d: %v", i, flying, o.Depth, f.depths)
			}
		}
	})
}

func TestReadsAtAndBeyondTheEnd(t *testing.T) {
	onAll(t, func(t *testing.T, o Options) {
		r := openTest(t, o)
		doAndCheck(t, r, []read{{testSize - 1, 1}, {testSize - 5000, 5000}, {testSize - 1000, 1}, {testSize &^ 4095, testSize & 4095}})
		for _, rd := range []read{{testSize, 1}, {testSize - 1, 2}, {testSize - 10, 5000}, {testSize + 1<<20, 4096}} {
			r := openTest(t, o)
			add(r, []read{{0, 100}, rd})
			err := r.Do(ignore)
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%d bytes at %d: %v, want an unexpected end of file", rd.n, rd.off, err)
			}
			if r.Err() == nil || r.flying != 0 {
				t.Errorf("the ring has error %v, and %d in flight", r.Err(), r.flying)
			}
		}
	})
}

func TestWhatARingCannotReadFailsIt(t *testing.T) {
	onEngines(t, func(t *testing.T, o Options) {
		for _, rd := range []read{{-1, 1}, {0, 0}, {0, -1}, {0, o.MaxRange + 1}} {
			r := openTest(t, o)
			add(r, []read{rd})
			if err := r.Do(ignore); err == nil || r.Counts().Enters != 0 {
				t.Errorf("%d bytes at %d: %v after %d enters", rd.n, rd.off, err, r.Counts().Enters)
			}
		}
	})
}

func TestFaultsAreRepairedAndCounted(t *testing.T) {
	const batches = 2
	type count struct{ short, retried bool }
	for _, c := range []struct {
		name string
		make func(rng *rand.Rand) *faults
		want count
	}{
		{"out of order", func(rng *rand.Rand) *faults { return &faults{shuffle: rng} }, count{}},
		{"short reads", func(rng *rand.Rand) *faults {
			return &faults{shorten: func(q *request) uint32 { return shorter(q, rng) }}
		}, count{short: true}},
		{"reads interrupted", func(rng *rand.Rand) *faults {
			return &faults{result: func(*request) (int32, bool) { return negative(unix.EINTR), rng.IntN(3) == 0 }}
		}, count{retried: true}},
		{"reads to be tried again", func(rng *rand.Rand) *faults {
			return &faults{result: func(*request) (int32, bool) { return negative(unix.EAGAIN), rng.IntN(3) == 0 }}
		}, count{retried: true}},
		{"calls interrupted", func(*rand.Rand) *faults { return &faults{err: every(2, unix.EINTR)} }, count{retried: true}},
		{"calls short of memory", func(*rand.Rand) *faults { return &faults{err: every(2, unix.EAGAIN)} }, count{retried: true}},
		{"calls short of room", func(*rand.Rand) *faults { return &faults{err: every(3, unix.EBUSY)} }, count{retried: true}},
		{"all at once", func(rng *rand.Rand) *faults {
			return &faults{
				shuffle: rng, atMost: 3, err: every(3, unix.EINTR),
				shorten: func(q *request) uint32 { return shorter(q, rng) },
				result:  func(*request) (int32, bool) { return negative(unix.EAGAIN), rng.IntN(4) == 0 },
			}
		}, count{true, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			onAll(t, func(t *testing.T, o Options) {
				r := openTest(t, o)
				rng := rand.New(rand.NewPCG(7, 8))
				inject(r, c.make(rng))
				for range batches {
					doAndCheck(t, r, randomReads(rng, 3*o.Depth, o.MaxRange))
				}
				got := r.Counts()
				if c.want.short && got.Short == 0 || c.want.retried && got.Retried == 0 {
					t.Errorf("counted %+v", got)
				}
				if !c.want.short && got.Short != 0 {
					t.Errorf("counted %d short reads, none was", got.Short)
				}
				if again := got.Submissions - uint64(batches*3*o.Depth); again > got.Short+got.Retried {
					t.Errorf("%d submissions beyond the reads, counted %+v", again, got)
				}
			})
		})
	}
}

// shorter cuts every other request, so that something is read still: a direct read at a multiple of what it wants, and once
// in a while elsewhere in the last block.
func shorter(q *request, rng *rand.Rand) uint32 {
	if q.n%4096 == 0 && q.off%4096 == 0 { // as direct reads are; buffered ones do not mind
		if q.n == 4096 || rng.IntN(2) == 0 {
			return q.n
		}
		return 4096 * (1 + rng.Uint32N(q.n/4096-1))
	}
	if q.n == 1 || rng.IntN(2) == 0 {
		return q.n
	}
	return 1 + rng.Uint32N(q.n-1)
}

// every makes every n-th call fail.
func every(n int, errno unix.Errno) func(int) error {
	return func(call int) error {
		if call%n == 0 {
			return errno
		}
		return nil
	}
}

// A direct read that ends within a block, as at the end of a file, goes on from the block's start.
func TestAShortDirectReadGoesOnAtAMultiple(t *testing.T) {
	o := Options{File: content(t), Align: 4096, Depth: 1, MaxRange: 8192} // buffered, so any length can be asked for
	r := openTest(t, o)
	var offs []uint64
	inject(r, &faults{shorten: func(q *request) uint32 {
		offs = append(offs, q.off)
		if len(offs) == 1 {
			return 5000
		}
		return q.n
	}})
	doAndCheck(t, r, []read{{0, 8192}})
	if want := []uint64{0, 4096}; !slices.Equal(offs, want) || r.Counts().Short != 1 {
		t.Errorf("read at %v, %d short, want at %v and 1", offs, r.Counts().Short, want)
	}
}

func TestErrorsFailTheRing(t *testing.T) {
	errEach := errors.New("each")
	for _, c := range []struct {
		name  string
		fault faults
		each  error
		want  error
		text  string
	}{
		{"a read that fails", faults{result: func(q *request) (int32, bool) { return negative(unix.EIO), q.off > 8192 }}, nil, unix.EIO, "read of 4096 bytes at "},
		{"each fails", faults{}, errEach, errEach, ""},
		{"a completion of nothing", faults{forge: []completion{{12345, 1}}}, nil, errBug, "belongs to nothing"},
		{"a completion of another generation", faults{forge: []completion{{7 << 32, 4096}}}, nil, errBug, "belongs to nothing"},
		{"a read of more than was asked for", faults{result: func(q *request) (int32, bool) { return int32(q.n) + 1, true }}, nil, errBug, "returned 4097"},
	} {
		t.Run(c.name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, o Options) {
				r := openTest(t, o)
				fault := c.fault
				f := inject(r, &fault)
				for i := range 4 * o.Depth {
					r.Add(int64(i)*4096, 4096)
				}
				calls := 0
				err := r.Do(func(int, []byte) error { calls++; return c.each })
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
					t.Fatalf("%v, want %v with %q", err, c.want, c.text)
				}
				if c.each != nil && calls != 1 {
					t.Errorf("each was called %d times, and failed the first time", calls)
				}
				if len(c.fault.forge) > 0 && calls != 0 {
					t.Errorf("%d reads were handed over after a completion of nothing", calls)
				}
				if f.flying != 0 || r.flying != 0 || r.lost {
					t.Errorf("%d requests in flight (%d by count) after an error", f.flying, r.flying)
				}
				add(r, []read{{0, 1}})
				if again := r.Do(ignore); !errors.Is(again, c.want) {
					t.Errorf("used again: %v", again)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestADescriptorClosedInMidBatch(t *testing.T) {
	onEngines(t, func(t *testing.T, o Options) {
		for _, fixed := range []bool{false, true} {
			o.File, o.FixedFile = content(t), fixed
			r := openTest(t, o)
			reads := randomReads(rand.New(rand.NewPCG(9, 10)), 6*o.Depth, o.MaxRange)
			c := newChecker(t, o.File, reads)
			add(r, reads)
			first := true
			err := r.Do(func(i int, p []byte) error {
				if first {
					first = false
					if err := o.File.Close(); err != nil {
						return err
					}
				}
				return c.each(i, p)
			})
			if fixed { // the ring has its own reference
				if err != nil {
					t.Fatal(err)
				}
				c.done()
				continue
			}
			if !errors.Is(err, unix.EBADF) || r.flying != 0 {
				t.Errorf("%v with %d in flight, want EBADF and none", err, r.flying)
			}
		}
	})
}
