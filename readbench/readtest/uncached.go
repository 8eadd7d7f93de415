package readtest

import (
	"errors"
	"fmt"
	"os"

	"github.com/readbench/suite/readbench/strategy"
)

// uncached looks for bytes that a strategy keeps for itself: a range that was read and evicted must be delivered by the
// device when it is read again, by each way that the reader can be asked, as often as one likes, and whichever reader had it
// before. Each range is read alone, so that read-ahead for others does not make up for one that did not come.
func uncached(e *env) error {
	f, err := e.control()
	if err != nil {
		return err
	}
	defer f.Close()
	if err := e.deviceIsSeen(f); err != nil {
		return err
	}
	// Somebody else might read the file between evicting and reading: once does not count.
	const attempts = 3
	for range attempts {
		if err = e.withReader(func(r strategy.Reader) error { return e.bothReadAgain(f, r) }); !errors.Is(err, errKept) {
			break
		}
	}
	return err
}

// errKept is wrapped if the device did not deliver what was read.
var errKept = errors.New("the others come from memory that the strategy keeps: its hot rows would not read from the page cache")

// bothReadAgain has first, and then a second reader, read the same ranges. The first one stays open.
func (e *env) bothReadAgain(f *os.File, first strategy.Reader) error {
	if err := e.readAgain(f, first); err != nil {
		return err
	}
	return e.worker(1, func(second strategy.Reader) error {
		if err := e.readAgain(f, second); err != nil {
			return fmt.Errorf("after another worker had read the same: %w", err)
		}
		return nil
	})
}

// readAgain reads the same ranges over and over, evicted each time.
func (e *env) readAgain(f *os.File, r strategy.Reader) error {
	const (
		passes  = 2
		repeats = 3 // one after the other: some caches keep only what came last, others only what came twice
	)
	alone, side, together := e.apart(4), e.sideBySide(4), e.apart(batch)
	told := false
	again := func(w way, rgs ...strategy.Range) error {
		// A Forgetter need not be told: it keeps in mind where pages were, not what was on them.
		told = !told
		return e.fromDevice(f, r, w, told, rgs)
	}
	for range passes {
		for _, w := range ways(r) {
			for _, rg := range alone {
				for range repeats {
					if err := again(w, rg); err != nil {
						return err
					}
				}
			}
			for _, rg := range side { // what is read ahead is gone when it was settled
				if err := again(w, rg); err != nil {
					return err
				}
			}
			for range repeats {
				if err := again(w, together...); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// apart are n ranges, each in a part of the file of its own, of several sizes and at aligned and unaligned offsets.
func (e *env) apart(n int) []strategy.Range {
	page := e.file.PageSize()
	rgs := make([]strategy.Range, n)
	part := e.file.Size() / batch
	for i := range rgs {
		rgs[i] = []strategy.Range{{Off: 0, N: page}, {Off: 1, N: 16 << 10}, {Off: 0, N: maxRange}, {Off: int64(page) - 1, N: 16 << 10}}[i%4]
		rgs[i].Off += int64(i) * part
	}
	return rgs
}

// sideBySide are n ranges as a scan has them.
func (e *env) sideBySide(n int) []strategy.Range {
	rgs := make([]strategy.Range, n)
	for i := range rgs {
		rgs[i] = strategy.Range{Off: e.file.Size()/2 + int64(i)*maxRange, N: maxRange}
	}
	return rgs
}

// deviceIsSeen returns an error unless the kernel tells what the device delivers of the file: of plain reads, it must count
// at least their bytes.
func (e *env) deviceIsSeen(f *os.File) error {
	p := make([]byte, maxRange)
	for _, rg := range append(e.apart(batch), e.sideBySide(4)...) {
		if err := e.evict(f); err != nil {
			return err
		}
		delivered, err := e.deviceBytes(func() error {
			_, err := f.ReadAt(p[:rg.N], rg.Off)
			return err
		})
		if err != nil {
			return err
		}
		if delivered < uint64(rg.N) {
			return strategy.Unsupported("whether reads reach the device cannot be seen: of %d bytes of %s that were evicted and read, the kernel counted %d; take a file system on a local disk (TMPDIR)", rg.N, f.Name(), delivered)
		}
	}
	return nil
}

// fromDevice evicts the file as the runner does, reads ranges, and returns an error unless the device delivered them.
func (e *env) fromDevice(f *os.File, r strategy.Reader, w way, told bool, rgs []strategy.Range) error {
	if s, ok := r.(strategy.Settler); ok {
		if err := s.Settle(); err != nil {
			return fmt.Errorf("settling: %w", err)
		}
	}
	if err := e.evict(f); err != nil {
		return err
	}
	if f, ok := r.(strategy.Forgetter); ok && told {
		f.Forget()
	}
	delivered, err := e.deviceBytes(func() error { return w.read(e, rgs) })
	if err != nil {
		return fmt.Errorf("%s of evicted ranges %v: %w", w.name, rgs, err)
	}
	want := uint64(0)
	for _, rg := range rgs {
		want += uint64(rg.N)
	}
	if delivered < want {
		return fmt.Errorf("%s of evicted ranges %v: the device delivered only %d of %d bytes: %w", w.name, rgs, delivered, want, errKept)
	}
	return nil
}

// deviceBytes is how many bytes this process had a device deliver while f ran.
func (e *env) deviceBytes(f func() error) (uint64, error) {
	before, err := e.kernel.Read()
	if err != nil {
		return 0, strategy.Unsupported("counting what the device delivers to this process: %w", err)
	}
	if err := f(); err != nil {
		return 0, err
	}
	after, err := e.kernel.Read()
	return after.DeviceBytes - before.DeviceBytes, err
}

// A way is one of those in which the runner reads ranges.
type way struct {
	name string
	read func(e *env, rgs []strategy.Range) error
}

// ways are all in which r can be asked.
func ways(r strategy.Reader) []way {
	each := func(e *env, rgs []strategy.Range) func(int, []byte) error {
		return func(i int, p []byte) error { return e.file.Check(p, rgs[i]) }
	}
	all := []way{{"Read", func(e *env, rgs []strategy.Range) error {
		for _, rg := range rgs {
			p, err := r.Read(rg)
			if err == nil {
				err = e.file.Check(p, rg)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}}}
	if b, ok := r.(strategy.BatchReader); ok {
		all = append(all, way{"ReadBatch", func(e *env, rgs []strategy.Range) error { return b.ReadBatch(rgs, each(e, rgs)) }})
	}
	if p, ok := r.(strategy.Prefetcher); ok {
		for _, w := range all {
			all = append(all, way{"Prefetch and " + w.name, func(e *env, rgs []strategy.Range) error {
				return errors.Join(p.Prefetch(rgs), w.read(e, rgs))
			}})
		}
	}
	if p, ok := r.(strategy.Pipeliner); ok {
		all = append(all, way{"Start and Finish", func(e *env, rgs []strategy.Range) error {
			if err := p.Start(rgs); err != nil {
				return err
			}
			return p.Finish(each(e, rgs))
		}})
	}
	return all
}
