package uring

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFinishHandsOverTheReadsOfItsBatch(t *testing.T) {
	onAll(t, func(t *testing.T, o Options) {
		for _, batches := range []int{1, 2, 3} {
			o.Batches, o.Batch = batches, o.Depth
			r := openTest(t, o)
			rng := rand.New(rand.NewPCG(11, 12))
			inject(r, &faults{shuffle: rng, atMost: 3})
			sizes := []int{o.Depth, 0, 3 * o.Depth, 1, o.Depth, o.Depth / 2, 10 * o.Depth, 1, 1, 0, o.Depth} // some larger than Batch
			var started []*checker
			for k := range sizes {
				for len(started) < min(k+batches, len(sizes)) {
					c := newChecker(t, o.File, randomReads(rng, sizes[len(started)], o.MaxRange))
					started = append(started, c)
					add(r, c.reads)
					if err := r.Start(); err != nil {
						t.Fatal(err)
					}
				}
				if err := r.Finish(started[k].each); err != nil {
					t.Fatal(err)
				}
				started[k].done()
			}
		}
	})
}

func TestReadsOfTheNextBatchAreInFlight(t *testing.T) {
	onEngines(t, func(t *testing.T, o Options) {
		o.Batches, o.Batch = 2, o.Depth
		r := openTest(t, o)
		f := inject(r, &faults{})
		start := func() {
			t.Helper()
			add(r, randomReads(rand.New(rand.NewPCG(13, 14)), o.Depth, o.MaxRange))
			if err := r.Start(); err != nil {
				t.Fatal(err)
			}
		}
		start()
		if f.flying != o.Depth || r.Counts().Enters != 1 {
			t.Fatalf("after the first start %d are in flight by %d enters, want %d by 1", f.flying, r.Counts().Enters, o.Depth)
		}
		start()
		for range 20 {
			at := -1
			if err := r.Finish(func(int, []byte) error { at = f.flying; return nil }); err != nil {
				t.Fatal(err)
			}
			// What was complete early of the next batch is not in flight any more; everything else is.
			if early := len(r.batch(r.first).done); at+early != o.Depth {
				t.Fatalf("while a batch is handed over %d reads of the next are in flight and %d complete, want %d", at, early, o.Depth)
			}
			start()
		}
		if f.most > o.Depth {
			t.Errorf("%d in flight at most, want no more than the depth, %d", f.most, o.Depth)
		}
	})
}

func TestBatchesInTheWrongOrder(t *testing.T) {
	for name, misuse := range map[string]func(r *Ring) error{
		"finish without start": func(r *Ring) error { return r.Finish(ignore) },
		"one start too many": func(r *Ring) error {
			return first(r.Start(), r.Start(), r.Start())
		},
		"do within each": func(r *Ring) error {
			r.Add(0, 1)
			return r.Do(func(int, []byte) error { r.Add(0, 1); return r.Do(ignore) })
		},
		"do in between":   func(r *Ring) error { return first(r.Start(), r.Do(ignore)) },
		"hint in between": func(r *Ring) error { return first(r.Start(), r.WillNeedFile()) },
	} {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, o Options) {
				o.Batches = 2
				r := openTest(t, o)
				if err := misuse(r); err == nil || r.Err() == nil {
					t.Errorf("error %v, ring's %v", err, r.Err())
				}
			})
		})
	}
}

// first is the first of errors that is not nil.
func first(errs ...error) error {
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

func TestBatchesDoNotAllocate(t *testing.T) {
	onAll(t, func(t *testing.T, o Options) {
		o.Batches, o.Batch = 2, o.Depth
		r := openTest(t, o)
		reads := randomReads(rand.New(rand.NewPCG(15, 16)), 2*o.Depth, o.MaxRange)
		fail := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		do := func() {
			add(r, reads)
			fail(r.Do(ignore))
		}
		do()
		do()
		do() // each of the batches has had its size
		if n := testing.AllocsPerRun(20, do); n != 0 {
			t.Errorf("Do: %v allocations a batch", n)
		}
		add(r, reads)
		fail(r.Start())
		if n := testing.AllocsPerRun(20, func() {
			add(r, reads)
			fail(r.Start())
			fail(r.Finish(ignore))
		}); n != 0 {
			t.Errorf("Start and Finish: %v allocations a batch", n)
		}
		fail(r.Finish(ignore))
		if n := testing.AllocsPerRun(20, func() {
			add(r, reads)
			fail(r.WillNeedFile())
		}); n != 0 {
			t.Errorf("WillNeedFile: %v allocations a batch", n)
		}
	})
}
