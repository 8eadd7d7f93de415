package uring

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func openPool(t *testing.T, o Options, n int) *Pool {
	t.Helper()
	p, err := NewPool(o, n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
	return p
}

func get(t *testing.T, p *Pool) *Ring {
	t.Helper()
	r, err := p.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func put(t *testing.T, p *Pool, r *Ring) {
	t.Helper()
	if err := p.Put(r); err != nil {
		t.Error(err)
	}
}

func TestMoreWorkersThanRings(t *testing.T) {
	onEngines(t, func(t *testing.T, o Options) {
		const rings, workers, batches = 3, 16, 20
		fds, _ := ringsOpen(t)
		p := openPool(t, o, rings)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(17, uint64(w)))
				for k := range batches {
					r, err := p.Get(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					c := newChecker(t, o.File, randomReads(rng, rng.IntN(3*o.Depth), o.MaxRange))
					add(r, c.reads)
					if (w+k)%7 == 0 { // a batch that fails, or is given up
						r.Add(testSize, 1)
						if r.Do(ignore) == nil {
							t.Error("no error at the end of the file")
						}
					} else if err := r.Do(c.each); err != nil {
						t.Error(err)
					} else {
						c.done()
					}
					if err := p.Put(r); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if n, _ := ringsOpen(t); n-fds > rings {
			t.Errorf("%d rings are open, want %d at most", n-fds, rings)
		}
		if c := p.Counts(); c.Completions < workers*batches || c.Submissions < c.Completions-c.Retried {
			t.Errorf("counted %+v", c)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if n, _ := ringsOpen(t); n != fds {
			t.Errorf("%d rings are left", n-fds)
		}
	})
}

func TestARingIsWaitedFor(t *testing.T) {
	onEngines(t, func(t *testing.T, o Options) {
		p := openPool(t, o, 1)
		r := get(t, p)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, err := p.Get(ctx)
			failed <- err
		}()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("waiting was cancelled: %v", err)
		}
		if _, err := p.Get(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that is over: %v", err)
		}
		got := make(chan *Ring)
		go func() {
			r, err := p.Get(t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- r
		}()
		put(t, p, r)
		if again := <-got; again != r {
			t.Error("a ring that did not fail was not handed out again")
		}
		put(t, p, r)
	})
}

func TestARingThatFailedIsDestroyed(t *testing.T) {
	for name, use := range map[string]func(r *Ring){
		"error":       func(r *Ring) { r.Add(testSize, 1); r.Do(ignore) },
		"each":        func(r *Ring) { r.Add(0, 1); r.Do(func(int, []byte) error { return errStop }) },
		"started":     func(r *Ring) { r.Add(0, 1); r.Start() },
		"not started": func(r *Ring) { r.Add(0, 1) },
		"panic": func(r *Ring) {
			defer func() { recover() }()
			r.Add(0, 1)
			r.Do(func(int, []byte) error { panic("a user's mistake") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, o Options) {
				p := openPool(t, o, 1)
				r := get(t, p)
				use(r)
				put(t, p, r)
				if !r.closed {
					t.Error("the ring was not closed")
				}
				next := get(t, p)
				if next == r {
					t.Fatal("the ring was handed out again")
				}
				doAndCheck(t, next, []read{{1, 100}})
				put(t, p, next)
			})
		})
	}
}

func TestAPoolThatIsClosed(t *testing.T) {
	onEngines(t, func(t *testing.T, o Options) {
		fds, _ := ringsOpen(t)
		p := openPool(t, o, 2)
		r := get(t, p)
		put(t, p, get(t, p))
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if n, _ := ringsOpen(t); n != fds+1 {
			t.Errorf("%d rings are open, want the one that is out", n-fds)
		}
		doAndCheck(t, r, []read{{1, 100}})
		put(t, p, r)
		if n, _ := ringsOpen(t); n != fds {
			t.Errorf("%d rings are left", n-fds)
		}
		if _, err := p.Get(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("get: %v", err)
		}
		if err := p.Close(); !errors.Is(err, ErrClosed) {
			t.Errorf("closed again: %v", err)
		}
		if c := p.Counts(); c.Completions != 1 {
			t.Errorf("counted %+v, want one completion", c)
		}
	})
}

func TestAPoolThatCannotOpenRings(t *testing.T) {
	engines(t)
	o := Options{File: content(t), Depth: 1, MaxRange: 1}
	refuse := unix.EPERM
	if _, err := newPool(func() (*Ring, error) { return nil, refuse }, 1); !errors.Is(err, refuse) {
		t.Errorf("first ring: %v", err)
	}
	opened := 0
	p, err := newPool(func() (*Ring, error) {
		if opened++; opened == 2 {
			return nil, refuse
		}
		return Open(o)
	}, 2)
	if err != nil {
		t.Fatal(err)
	}
	r := get(t, p)
	if _, err := p.Get(t.Context()); !errors.Is(err, refuse) {
		t.Errorf("second ring: %v", err)
	}
	other := get(t, p) // the turn was given back, and the third opens
	put(t, p, r)
	put(t, p, other)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	o.OneThread = true
	if _, err := NewPool(o, 1); err == nil {
		t.Error("a pool of rings of one thread")
	}
	if _, err := NewPool(Options{}, 0); err == nil {
		t.Error("a pool of no rings")
	}
}

func TestAPoolDoesNotAllocate(t *testing.T) {
	onEngines(t, func(t *testing.T, o Options) {
		p := openPool(t, o, 2)
		ctx := t.Context()
		use := func() {
			r, err := p.Get(ctx)
			if err != nil {
				t.Fatal(err)
			}
			r.Add(0, 1000)
			if err := first(r.Do(ignore), p.Put(r)); err != nil {
				t.Fatal(err)
			}
		}
		use()
		if n := testing.AllocsPerRun(100, use); n != 0 {
			t.Errorf("%v allocations a batch", n)
		}
	})
}
