package readbench

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/pagecache"
)

// hotCase: every page of the file is in the page cache and, if the strategy maps the file, in the page tables.
// Slots are drawn with replacement. A row of faults is the exception: no page is in the page tables.
type hotCase struct{}

const (
	// The largest share of the bytes read that the device may have delivered, and of the pages that may have faulted.
	hotShare = 0.01
	// What a process may need of the device, and of faults, for itself: a page of its own program, a stack.
	hotOwnBytes        = 128 << 10
	hotOwnFaults       = 256
	hotFaultsPerThread = 16 // of Go's, for each of its own
)

type hotState struct {
	run    *running
	epochs // of a row of faults: each place is touched once, before the mapping's pages are dropped again
}

func (hotCase) enter(_ context.Context, r *running) (caseState, error) {
	if mem, size := r.suite.host.Memory, r.files.size(); mem > 0 && size > mem && r.row.Effect != EffectNone {
		return nil, r.suite.config.Blame(Unsupported("hot: %v: %d bytes, there are %d of memory; set %sSIZE, or take less data", r.files, size, mem, EnvPrefix), "FILE", "SIZE", "LUCENE_INDEX", "DOCS", "VECTORS")
	}
	return &hotState{run: r}, nil
}

func (s *hotState) drawer(w *Worker) drawer {
	switch {
	case s.run.row.Predrawn:
		return notDrawn{}
	case s.run.row.Order == OrderSequential:
		return &endless{newScan(s.run, w.ID)}
	}
	return &uniform{s.run.geometry, &w.rng}
}

// warmth is how a file came into the page cache: it decides how large its folios are, and so what calls on it cost.
type warmth int

const (
	asFound   warmth = iota // by somebody else, or in part
	byReading               // read through, on a descriptor without advice
	bySmall                 // read through in folios of one page
)

// prepare makes the file resident in one and the same way, whatever was done with it before: folios that the kernel
// makes for plain reading; of one page each for a row of faults. A fault on a larger folio maps all of it (since Linux
// 6.18), however much that is, and such a row wants each to map as much. A descriptor advised of random access has the
// kernel read into small folios.
func (s *hotState) prepare(ctx context.Context) error {
	s.epochs = epochs{slots: s.run.slots, seed: s.run.suite.config.Seed}
	way, suite := byReading, s.run.suite
	if s.run.row.Effect == EffectFault {
		way = bySmall
	}
	if suite.warmth == way || s.run.row.Effect == EffectNone {
		return s.restore(ctx, callStart)
	}
	if s.inMemory() {
		return s.asWritten(ctx)
	}
	if err := (coldPages{s.run}).evict(ctx); err != nil {
		return err
	}
	for i := range s.run.files {
		if err := s.warmAfresh(ctx, i, way); err != nil {
			return err
		}
	}
	suite.warmth = way
	return s.restore(ctx, callStart)
}

// inMemory reports whether all files lie on tmpfs or ramfs: their pages are the files, and cannot be evicted.
func (s *hotState) inMemory() bool {
	return !slices.ContainsFunc(s.run.files, func(f *File) bool { return !pagecache.InMemory(f.control) })
}

// asWritten is prepare for files in memory: they are resident without being read, unless their pages were swapped out, in the
// folios in which they were written.
func (s *hotState) asWritten(ctx context.Context) error {
	if s.run.row.Effect == EffectFault {
		return Unsupported("hot: faults are counted on folios of one page, and those of %v are as large as they were written, since it lies on tmpfs; use a file system on a disk", s.run.files)
	}
	s.run.suite.explain("hot", "%v lies on tmpfs: its pages are the file, in the folios in which it was written; no row of it says what a page cache over a disk would do", s.run.files)
	return s.restore(ctx, callStart)
}

// warmAfresh is warm on a descriptor of its own, whose read-ahead nobody has touched.
func (s *hotState) warmAfresh(ctx context.Context, file int, way warmth) error {
	fd, err := s.run.files[file].Open(0)
	if err != nil {
		return err
	}
	defer fd.Close()
	if way == bySmall {
		if err := advise(fd, adviseRandom); err != nil {
			return err
		}
	}
	return s.warm(ctx, file, fd)
}

func (s *hotState) restore(ctx context.Context, when moment) error {
	for i, f := range s.run.files {
		if err := s.warm(ctx, i, f.control); err != nil {
			return err
		}
	}
	switch {
	case !s.run.row.Predrawn:
		return nil
	case s.run.row.Effect == EffectFault:
		return s.run.drawList(&s.epochs, s.run.slots)
	}
	return s.run.drawList(nil, listLength)
}

// warm makes what is missing of a file resident, by reading from fd, and enters it into the page tables or removes it
// from there.
func (s *hotState) warm(ctx context.Context, file int, fd *os.File) error {
	f := s.run.files[file]
	if s.run.row.Effect == EffectNone {
		return nil
	}
	defer notice.Slow("warming %s", f.path)()
	if err := pagecache.Warm(ctx, fd, f.size); err != nil {
		return refused("hot", err)
	}
	m, ok := s.run.opened[file].(Mapper)
	switch {
	case !ok:
		return nil
	case s.run.row.Effect == EffectFault:
		return m.Drop(0, f.size)
	}
	return s.run.workers[0].do(func() error { return m.Populate(0, f.size) }) // where a memory fault is an error
}

func (s *hotState) judge(res *result) error {
	if res.direct {
		return judgeDirect(res)
	}
	if res.row.Effect == EffectFault {
		return s.judgeFaults(res)
	}
	if pages := res.touched() / float64(res.page); res.mapped && float64(res.counters.MinorFaults) > hotShare*pages+hotOwnFaults+float64(hotFaultsPerThread*res.row.Threads) {
		return fmt.Errorf("%d page faults in a hot row that touched %.0f pages: they were not in the page tables", res.counters.MinorFaults, pages)
	}
	if after := res.after; after.Resident < after.Pages && s.inMemory() {
		return fmt.Errorf("of a file on tmpfs, only %v after a hot row: the others were swapped out while it ran; is there memory for a file of %d bytes?", after, s.run.files.size())
	}
	if float64(res.counters.DeviceBytes) > hotShare*float64(res.bytes())+hotOwnBytes {
		return fmt.Errorf("the device delivered %d bytes in a hot row of %d: pages left the page cache while it ran: %s",
			res.counters.DeviceBytes, res.bytes(), s.run.files.blame(fmt.Sprintf("there is not enough free memory for a file of %d bytes", s.run.files.size())))
	}
	if missed := res.counts.Missed; float64(missed) > (1-listedShare)*float64(res.counts.Probed) {
		return fmt.Errorf("%d of %d probes of a hot row found pages missing: %s", missed, res.counts.Probed, s.run.files.blame("there is not enough free memory"))
	}
	return res.judgeProbes()
}

func (s *hotState) judgeFaults(res *result) error {
	touches, faults := float64(res.ranges()), float64(res.counters.MinorFaults)
	if faults < listedShare*touches {
		return fmt.Errorf("%.0f minor faults in %.0f touches of pages that were not in the page tables: one fault maps more than %d bytes here, or fewer pages were dropped", faults, touches, faultAround)
	}
	if float64(res.counters.DeviceBytes) > hotShare*touches*faultAround+hotOwnBytes {
		return fmt.Errorf("the device delivered %d bytes in a hot row: pages left the page cache while it ran: %s", res.counters.DeviceBytes, s.run.files.blame("there is not enough free memory"))
	}
	return nil
}

// uniform draws with replacement. The high word of a random number times n is uniform over 0…n−1 (Lemire, "Fast
// random integer generation in an interval", ACM TOMACS 2019; its bias of n/2^64 is left), and the low word is
// uniform for each of them.
type uniform struct {
	geometry
	rng *rand.PCG
}

func (u *uniform) draw(rs []Range) (int, error) {
	for i := range rs {
		slot, rest := bits.Mul64(u.rng.Uint64(), uint64(u.slots))
		rs[i].Off = u.offset(int64(slot), rest)
	}
	return len(rs), nil
}
