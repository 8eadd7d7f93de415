package cases

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/readbench/suite/internal/draw"
	"github.com/readbench/suite/internal/fadvise"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
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
	*Site
	epochs draw.Epochs // of a row of faults: each place is touched once, before the mapping's pages are dropped again
}

func (hotCase) Enter(_ context.Context, site *Site) (State, error) {
	if mem, size := site.Machine.Memory, site.Files.Size(); mem > 0 && size > mem && site.Shape.Effect != shape.None {
		amount := config.FileAmount[:2]
		if site.Shape.Units > 0 {
			amount = config.UnitAmount[1:]
		}
		return nil, site.Config.Blame(strategy.Unsupported("hot: %v: %d bytes, there are %d of memory; set %sSIZE, or take less data", site.Files, size, mem, config.EnvPrefix), amount...)
	}
	if site.Peers != nil && site.Shape.Predrawn {
		return nil, errNotShared(site, "rows of hints, probes and faults are measured alone")
	}
	return &hotState{Site: site}, nil
}

// faultAround is how many bytes the kernel maps at a fault on a page that is resident, unless it was told otherwise
// (fault_around_bytes in debugfs): so far apart are the touches of a row that wants each to be a fault.
const faultAround = 64 << 10

func (*hotState) FaultStride(int) int { return faultAround }

func (s *hotState) Drawer(id int, rng *rand.PCG, _ draw.Gate) draw.Drawer {
	switch {
	case s.Shape.Predrawn:
		return draw.Listed{}
	case s.Shape.Order == strategy.OrderSequential:
		from, to := s.stripe(id)
		return draw.NewEndless(s.Shape, from, to)
	}
	return &draw.Uniform{Geometry: s.Geometry, RNG: rng}
}

// Prepare makes the file resident in one and the same way, whatever was done with it before: folios that the kernel
// makes for plain reading; of one page each for a row of faults. A fault on a larger folio maps all of it (since Linux
// 6.18), however much that is, and such a row wants each to map as much. A descriptor advised of random access has the
// kernel read into small folios.
func (s *hotState) Prepare(ctx context.Context) error {
	s.epochs = draw.NewEpochs(s.Geometry.Slots, s.Config.Seed)
	way := byReading
	if s.Shape.Effect == shape.Fault {
		way = bySmall
	}
	if s.Machine.warmth == way || s.Shape.Effect == shape.None {
		return s.Restore(ctx, CallStart)
	}
	if s.inMemory() {
		return s.asWritten(ctx)
	}
	if err := (pages{s.Site}).evict(ctx); err != nil {
		return err
	}
	for i := range s.Files {
		if err := s.warmAfresh(ctx, i, way); err != nil {
			return err
		}
	}
	s.Machine.warmth = way
	return s.Restore(ctx, CallStart)
}

// inMemory reports whether all files lie on tmpfs or ramfs: their pages are the files, and cannot be evicted.
func (s *hotState) inMemory() bool {
	return !slices.ContainsFunc(s.Files, func(f *files.File) bool { return !pagecache.InMemory(f.Control) })
}

// asWritten is Prepare for files in memory: they are resident without being read, unless their pages were swapped out, in the
// folios in which they were written.
func (s *hotState) asWritten(ctx context.Context) error {
	if s.Shape.Effect == shape.Fault {
		return strategy.Unsupported("hot: faults are counted on folios of one page, and those of %v are as large as they were written, since it lies on tmpfs; use a file system on a disk", s.Files)
	}
	s.Machine.Explain("hot", "%v lies on tmpfs: its pages are the file, in the folios in which it was written; no row of it says what a page cache over a disk would do", s.Files)
	return s.Restore(ctx, CallStart)
}

// warmAfresh is warm on a descriptor of its own, whose read-ahead nobody has touched.
func (s *hotState) warmAfresh(ctx context.Context, file int, way warmth) error {
	fd, err := s.Files[file].Open(0)
	if err != nil {
		return err
	}
	defer fd.Close()
	if way == bySmall {
		if err := fadvise.Advise(fd, fadvise.Random); err != nil {
			return err
		}
	}
	return s.warm(ctx, file, fd)
}

func (s *hotState) Restore(ctx context.Context, _ Moment) error {
	for i, f := range s.Files {
		if err := s.warm(ctx, i, f.Control); err != nil {
			return err
		}
	}
	switch {
	case !s.Shape.Predrawn:
		return nil
	case s.Shape.Effect == shape.Fault:
		s.List.DrawOnce(s.Shape, &s.Geometry, &s.epochs, s.Geometry.Slots)
		return nil
	}
	return s.List.DrawCyclic(s.Shape, &s.Geometry, s.Config.Seed)
}

// warm makes what is missing of a file resident, by reading from fd, and enters it into the page tables or removes it
// from there.
func (s *hotState) warm(ctx context.Context, file int, fd *os.File) error {
	f := s.Files[file]
	if s.Shape.Effect == shape.None {
		return nil
	}
	defer notice.Slow("warming %s", f.Path())()
	if err := pagecache.Warm(ctx, fd, f.Size()); err != nil {
		return refused("hot", err)
	}
	m, ok := s.Opened[file].(strategy.Mapper)
	switch {
	case !ok:
		return nil
	case s.Shape.Effect == shape.Fault:
		return m.Drop(0, f.Size())
	}
	return s.Ops.OnWorker(func() error { return m.Populate(0, f.Size()) }) // where a memory fault is an error
}

// Renew has nothing to do: a peer evicts only to warm the file afresh, before this one is prepared.
func (s *hotState) Renew() error { return nil }

func (s *hotState) Judge(res *result.Result) error {
	if res.Direct {
		return judgeDirect(res)
	}
	if res.Shape.Effect == shape.Fault {
		return s.judgeFaults(res)
	}
	if pages := res.Touched() / float64(res.Page); res.Mapped && float64(res.Counters.MinorFaults) > hotShare*pages+hotOwnFaults+float64(hotFaultsPerThread*res.Shape.Threads) {
		return fmt.Errorf("%d page faults in a hot row that touched %.0f pages: they were not in the page tables", res.Counters.MinorFaults, pages)
	}
	if after := res.After; after.Resident < after.Pages && s.inMemory() {
		return fmt.Errorf("of a file on tmpfs, only %v after a hot row: the others were swapped out while it ran; is there memory for a file of %d bytes?", after, s.Files.Size())
	}
	if float64(res.Counters.DeviceBytes) > hotShare*float64(res.Bytes())+hotOwnBytes {
		return fmt.Errorf("the device delivered %d bytes in a hot row of %d: pages left the page cache while it ran: %s",
			res.Counters.DeviceBytes, res.Bytes(), s.Files.Blame(fmt.Sprintf("there is not enough free memory for a file of %d bytes", s.Files.Size())))
	}
	if missed := res.Counts.Missed; float64(missed) > (1-listedShare)*float64(res.Counts.Probed) {
		return fmt.Errorf("%d of %d probes of a hot row found pages missing: %s", missed, res.Counts.Probed, s.Files.Blame("there is not enough free memory"))
	}
	return res.JudgeProbes()
}

func (s *hotState) judgeFaults(res *result.Result) error {
	touches, faults := float64(res.Ranges()), float64(res.Counters.MinorFaults)
	if faults < listedShare*touches {
		return fmt.Errorf("%.0f minor faults in %.0f touches of pages that were not in the page tables: one fault maps more than %d bytes here, or fewer pages were dropped", faults, touches, faultAround)
	}
	if float64(res.Counters.DeviceBytes) > hotShare*touches*faultAround+hotOwnBytes {
		return fmt.Errorf("the device delivered %d bytes in a hot row: pages left the page cache while it ran: %s", res.Counters.DeviceBytes, s.Files.Blame("there is not enough free memory"))
	}
	return nil
}
