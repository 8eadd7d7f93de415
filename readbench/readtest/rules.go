package readtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/readbench/suite/internal/evidence"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/readbench/strategy"
)

// rules is the contract. Each rule's name says what must hold.
var rules = []struct {
	name  string
	check func(*env) error
}{
	{"any range inside the file can be read", anyRange},
	{"ranges come in any order and more than once", anyOrder},
	{"workers read at the same time", concurrent},
	{"nothing allocates once it is warm", allocates},
	{"counts agree with what was asked for and with the kernel", countsTrue},
	{"a hint that fails, or a file that ends early, is an error", truncated},
	{"pages can be populated, dropped and evicted", evictable},
	{"direct reads leave nothing in the page cache", direct},
	{"what was evicted is read from the device again", uncached},
	{"it can be opened more than once, and closing leaves nothing", leavesNothing},
}

// ranges are the borders that readers get wrong: first and last byte, page borders, the end of the file.
func (e *env) ranges() (rgs []strategy.Range) {
	size, page := e.file.Size(), int64(e.file.PageSize())
	offs := []int64{0, 1, 511, 512, page - 1, page, page + 1, 3*page - 8, size / 2}
	for _, n := range []int{1, 7, 8, 512, int(page) - 1, int(page), int(page) + 1, 16 << 10, maxRange} {
		for _, off := range append(offs, size-int64(n), size-int64(n)-1) {
			if off >= 0 && off+int64(n) <= size {
				rgs = append(rgs, strategy.Range{Off: off, N: n})
			}
		}
	}
	return rgs
}

func anyRange(e *env) error {
	return e.withReader(func(r strategy.Reader) error {
		for _, rg := range e.ranges() {
			if err := e.read(r, rg); err != nil {
				return err
			}
		}
		return nil
	})
}

// random draws a batch of ranges of up to maxRange bytes.
func (e *env) random(rng *rand.Rand, n int) []strategy.Range {
	rgs := make([]strategy.Range, n)
	for i := range rgs {
		rgs[i].N = 1 + rng.IntN(maxRange)
		rgs[i].Off = rng.Int64N(e.file.Size() - int64(rgs[i].N) + 1)
	}
	return rgs
}

func anyOrder(e *env) error {
	return e.withReader(func(r strategy.Reader) error {
		rng := rand.New(rand.NewPCG(1, 2))
		for n := range batch + 1 { // an empty batch is a batch
			rgs := e.random(rng, n)
			if n > 1 {
				rgs[n-1] = rgs[0]
			}
			if err := e.read(r, rgs...); err != nil {
				return err
			}
		}
		return nil
	})
}

func concurrent(e *env) error {
	return e.with(func() error {
		errs := make([]error, threads)
		var wg sync.WaitGroup
		for id := range threads {
			wg.Go(func() {
				errs[id] = e.worker(id, func(r strategy.Reader) error {
					rng := rand.New(rand.NewPCG(1, uint64(id)))
					for range 20 {
						if err := e.read(r, e.random(rng, batch)...); err != nil {
							return err
						}
					}
					return nil
				})
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	})
}

func allocates(e *env) error {
	return e.withReader(func(r strategy.Reader) (err error) {
		rgs := e.random(rand.New(rand.NewPCG(1, 2)), batch)
		each := func(int, []byte) error { return nil }
		n := testing.AllocsPerRun(20, func() {
			if p, ok := r.(strategy.Prefetcher); ok && err == nil {
				err = p.Prefetch(rgs)
			}
			if b, ok := r.(strategy.BatchReader); ok && err == nil {
				err = b.ReadBatch(rgs, each)
			}
			for _, rg := range rgs {
				if err == nil {
					_, err = r.Read(rg)
				}
			}
		})
		if err == nil && n != 0 {
			err = fmt.Errorf("an op allocates %v times", n)
		}
		return err
	})
}

func countsTrue(e *env) error {
	return e.withReader(func(r strategy.Reader) error {
		counter, ok := r.(strategy.Counter)
		if !ok {
			return fmt.Errorf("%w: the reader is no Counter, which it need not be: its rows have no KIND/op, and nothing shows that it reads and hints by the calls that it says", errNotApplicable)
		}
		own, err := e.kernel.OwnReads()
		if err != nil {
			return strategy.Unsupported("counting this process's system calls: %w", err)
		}
		before, err := e.kernel.Read()
		if err != nil {
			return err
		}
		counted := counter.Counts()
		const ops = 10
		rng := rand.New(rand.NewPCG(1, 2))
		for range ops {
			if err := e.read(r, e.random(rng, batch)...); err != nil {
				return err
			}
		}
		after, err := e.kernel.Read()
		if err != nil {
			return err
		}
		now := counter.Counts()
		if said, kernel := now.ReadSyscalls-counted.ReadSyscalls, after.ReadSyscalls-before.ReadSyscalls-own; kernel < said || kernel > said+evidence.StrangeSyscalls {
			return fmt.Errorf("it counted %d read system calls, the kernel %d", said, kernel)
		}
		if _, ok := r.(strategy.Prefetcher); !ok {
			return nil
		}
		for kind, n := range now.Calls {
			if n > counted.Calls[kind] {
				return nil
			}
		}
		return fmt.Errorf("it prefetched %d ranges and counts no call for that", ops*batch)
	})
}

func truncated(e *env) error {
	return e.withReader(func(r strategy.Reader) error {
		rg := strategy.Range{Off: e.file.Size() - maxRange, N: maxRange}
		if err := e.read(r, rg); err != nil {
			return err
		}
		if err := os.Truncate(e.file.Path(), e.file.Size()/2); err != nil {
			return err
		}
		if err := guard(func() error { return e.read(r, rg) }); err == nil {
			return errors.New("reading what was cut off the file gave no error")
		}
		return nil
	})
}

func evictable(e *env) error {
	f, err := e.control()
	if err != nil {
		return err
	}
	defer f.Close()
	return e.withReader(func(r strategy.Reader) error {
		if m, ok := e.opened.(strategy.Mapper); ok {
			if err := pagecache.Warm(context.Background(), f, e.file.Size()); err != nil {
				return unsupported(err)
			}
			if err := m.Populate(0, e.file.Size()); err != nil {
				return fmt.Errorf("populating: %w", err)
			}
			if n, err := e.inPageTables(); err != nil {
				e.t.Logf("whether Populate does what it says cannot be seen here: %v", err)
			} else if n < e.file.Size() {
				return fmt.Errorf("of %d bytes that were populated, %d are in the page tables", e.file.Size(), n)
			}
		}
		for range 2 { // and again after reading from the evicted file
			if err := e.read(r, e.ranges()...); err != nil {
				return err
			}
			if err := e.evict(f); err != nil {
				return err
			}
		}
		return e.read(r, e.ranges()...)
	})
}

func direct(e *env) error {
	if err := e.with(e.isDirect); err != nil {
		return err
	}
	f, err := e.control()
	if err != nil {
		return err
	}
	defer f.Close()
	return e.withReader(func(r strategy.Reader) error {
		if err := e.evict(f); err != nil {
			return err
		}
		if err := e.read(r, e.ranges()...); err != nil {
			return err
		}
		resident, err := pagecache.Resident(f, 0, e.file.Size())
		if err != nil {
			return unsupported(err)
		}
		if resident.Resident != 0 {
			return fmt.Errorf("after direct reads of an evicted file, %v", resident)
		}
		return nil
	})
}

func (e *env) isDirect() error {
	d, ok := e.opened.(strategy.Direct)
	if !ok {
		return fmt.Errorf("%w: the reads do not claim to be direct", errNotApplicable)
	}
	if a := d.Alignment(); a < 1 || a&(a-1) != 0 {
		return fmt.Errorf("the alignment %d is no power of two", a)
	}
	return nil
}

func leavesNothing(e *env) error {
	before, err := e.openHandles()
	if err != nil {
		return err
	}
	for range 3 {
		if err := e.withReader(func(r strategy.Reader) error { return e.read(r, e.ranges()...) }); err != nil {
			return err
		}
	}
	after, err := e.openHandles()
	if err == nil && after != before {
		err = fmt.Errorf("%d descriptors and mappings of the file before, %d after", before, after)
	}
	return err
}
